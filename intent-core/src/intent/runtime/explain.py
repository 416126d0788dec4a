"""What was constructed from a kernel and why, as text: the answer of ``artifact.explain()``.

One block per question: what the launch looks like, where every access goes and why it is in bounds, what must
hold of the arguments, what the author promised, where storage lives, and how long each stage took.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from intent.construct.plan import Plan
from intent.kir.kernel import Kernel
from intent.physical import (
    Atomic,
    Buffer,
    BufferAlloc,
    Contract,
    Fragment,
    Load,
    Loop,
    Op,
    Program,
    Proof,
    Reduce,
    Scan,
    Segment,
    SegmentAxis,
    Store,
)
from intent.physical.expression import Expressions
from intent.physical.text import print_program
from intent.physical.walk import walk
from intent.provider import Provider
from intent.types import Extent
from intent.types.extent import Atom

__all__ = ["explain"]


def explain(
    kernel: Kernel,
    program: Program,
    plan: Plan,
    *,
    provider: Provider,
    env: Mapping[Atom, int] | None,
    seconds: Mapping[str, float],
) -> str:
    """The whole text. With ``env`` (the extents of the latest launch) lengths are also given as numbers."""
    blocks = [
        [f"kernel {kernel.name}, one launch, provider '{provider.name}' {provider.version}"],
        ["interface", *_interface(program)],
        ["plan", *str(plan).splitlines()],
        [f"program space: {_valued(program.length, env)} programs", *_segments(program, env)],
        *(_body(segment, Expressions(program)) for segment in program.segments),
        ["storage", *_storage(program)],
        ["checked at every call", *_conditions(program)],
        ["promised by the author", *(f"{a.kind}: {a.detail}" for a in kernel.assumptions)],
        ["time", *(f"{name}: {1e3 * value:.1f} ms" for name, value in seconds.items())],
    ]
    return "\n\n".join(_block(head, lines) for head, *lines in blocks if lines or head == blocks[0][0]) + "\n"


def _block(head: str, lines: Iterable[str]) -> str:
    return "\n".join([head, *(f"  {line}" for line in lines)])


def _valued(extent: Extent, env: Mapping[Atom, int] | None) -> str:
    """``ceildiv(M, 4) = 25``; without a launch the expression alone."""
    if env is None or extent.const is not None:
        return str(extent)
    return f"{extent} = {extent.evaluate(env)}"


def _interface(program: Program) -> list[str]:
    text = print_program(program).splitlines()
    return [line.strip() for line in text if line.startswith(("  view ", "  scalar "))]


def _segments(program: Program, env: Mapping[Atom, int] | None) -> Iterator[str]:
    for segment in program.segments:
        axes = ", ".join(_axis(axis, env) for axis in segment.axes)
        yield f"group {segment.group}: {axes or 'one instance'}"
        yield f"  length {_valued(segment.length, env)}, offset {_valued(segment.offset, env)}"


def _axis(axis: SegmentAxis, env: Mapping[Atom, int] | None) -> str:
    blocks = f" in blocks of {axis.block}" if axis.block > 1 else ""
    return f"{axis.label} of {_valued(axis.extent, env)}{blocks}"


def _body(segment: Segment, expressions: Expressions) -> list[str]:
    lines = [line for op in walk(segment.body) for line in _operation(op, expressions)]
    names = [f"{name} = {text}" for name, text in expressions.definitions.items()]
    return [f"group {segment.group}, in each program", *names, *dict.fromkeys(lines)]


def _operation(op: Op, expressions: Expressions) -> Iterator[str]:
    match op:
        case Load():
            yield from _access("read", op, op.source.name, expressions)
        case Store():
            yield from _access("write", op, op.target.name, expressions)
        case Atomic():
            yield from _access(f"atomic {op.kind} ({op.order})", op, op.target.name, expressions)
        case Loop():
            bounds = ", ".join(expressions.text(v) for v in (op.begin, op.end, op.step))
            index, *carries = map(_name, op.body.args)
            yield f"loop {index} over ({bounds})" + (f" carrying {', '.join(carries)}" if carries else "")
        case Reduce():
            dims = ", ".join(map(str, op.dims))
            operands = ", ".join(map(_name, op.operands))
            yield f"reduce {operands} by {op.kind or 'a combine of the kernel'} over {dims}{_result(op)}"
        case Scan():
            operands = ", ".join(map(_name, op.operands))
            yield f"scan {operands} by {op.kind or 'a combine of the kernel'} along {op.dim}{_result(op)}"
        case Contract():
            dims = ", ".join(map(str, op.dims))
            factors = f"{_name(op.lhs)} and {_name(op.rhs)}"
            yield f"contract {factors} over {dims} in {op.result.dtype}{_result(op)}"


def _result(op: Op) -> str:
    """`` to total`` where the author named the results."""
    names = [value.name for value in op.results if value.name]
    return f" to {', '.join(names)}" if names else ""


def _name(value: Fragment) -> str:
    return value.name or f"%{value.id}"


def _access(verb: str, op: Load | Store | Atomic, name: str, expressions: Expressions) -> Iterator[str]:
    coordinates = ", ".join(map(expressions.text, op.coordinates))
    mask = "" if op.valid is None else f" where {expressions.text(op.valid)}"
    yield f"{verb} {name}[{coordinates}]{mask}{_proofs(op.proofs)}"


def _proofs(proofs: tuple[Proof, ...]) -> str:
    """Why the coordinates are in bounds, said once when all have one reason."""
    if len(set(proofs)) == 1:
        which = "it" if len(proofs) == 1 else "every axis"
        return f"; in bounds: {which} {proofs[0].why}"
    reasons = ", ".join(f"axis {axis} {proof.why}" for axis, proof in enumerate(proofs))
    return f"; in bounds: {reasons}" if reasons else ""


def _storage(program: Program) -> Iterator[str]:
    listed = {buffer.id for buffer in program.workspace}
    for segment in program.segments:
        for op in walk(segment.body):
            if isinstance(op, BufferAlloc) and op.buffer.id not in listed:
                yield f"{_buffer(op.buffer)} in {op.buffer.storage}, per {op.buffer.scope}"
    for buffer in program.workspace:
        yield f"{_buffer(buffer)} in the hidden workspace, per {buffer.scope}"


def _buffer(buffer: Buffer) -> str:
    return f"{buffer.name}: {buffer.dtype}[{', '.join(map(str, buffer.shape))}]"


def _conditions(program: Program) -> Iterator[str]:
    for guard in program.guards:
        yield f"{guard} (this variant's guard; another variant runs otherwise)"
    for condition in program.conditions:
        sign = {"equal": "==", "equal_or_one": "== or 1", "at_least": ">="}[condition.kind]
        yield f"{condition.lhs} {sign} {condition.rhs} ({condition.reason})"
