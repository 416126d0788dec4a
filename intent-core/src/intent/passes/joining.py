"""A loop of products and the loops around it that do nothing else become one loop.

Requires: a verified program. Ensures: the same operations on the same members in the same order.

    loop %r begin=%0 end=%3 {                          loop %t begin=%0 end=%3n {        n passes of the inner loop
      %p = pointwise ... operands=(%r, ..)        ->     %r = floordiv(%t, %n)
      loop %c begin=%0 end=%C step=%64 {                 %p = pointwise ... operands=(%r, ..)
        ... contract ...                                 %c = mul(mod(%t, %n), %64)
      }                                                  ... contract ...
    }                                                  }

Compilers overlap the reads of one pass of an innermost loop with the products of earlier ones, and drain that pipeline
where the loop ends: a loop of four passes spends most of its time filling it. Operations between the loops are
repeated in every pass, so they have to be arithmetic; what does not move with the outer loop goes in front of both.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.copying import EFFECTS, Copier
from intent.passes.rewriting import rewrite_loops
from intent.physical.walk import walk
from intent.types.extent import Symbol

_ARITHMETIC = (ph.Constant, ph.LaunchValue, ph.Lane, ph.Pointwise, ph.Cast, ph.Broadcast, ph.Rename)
_CONTROL = (ph.Loop, ph.While, ph.If)


def joining(program: ph.Program) -> ph.Program:
    """Join every loop of products with the loops around it, as far out as that goes."""
    return rewrite_loops(program, _joined)


@dataclass(frozen=True, kw_only=True)
class _Nest:
    """A loop, the one in it, the arithmetic beside that, and for each carry of the inner one its place outside."""

    outer: ph.Loop
    inner: ph.Loop
    beside: tuple[ph.Op, ...]
    places: tuple[int, ...]


def _joined(b: Builder, loop: ph.Loop) -> bool:
    nest = _nest(loop)
    if nest is None:
        return False
    b.span, b.origin = loop.span, loop.origin
    moving = {a.id for a in loop.body.args}
    still = [op for op in nest.beside if not any(b.known.reaches(f, moving) for f in op.results)]
    made = {f.id for op in nest.beside if op not in still for f in op.results}
    if {nest.inner.begin.id, nest.inner.end.id, nest.inner.step.id} & (moving | made):
        return False
    for op in still:
        b.keep(op)
    _write(b, nest, tuple(op for op in nest.beside if op not in still))
    return True


def _nest(loop: ph.Loop) -> _Nest | None:
    """The loop as the outer one of a nest that can be joined, or None."""
    loops = [op for op in loop.body.ops if isinstance(op, ph.Loop)]
    beside = tuple(op for op in loop.body.ops if not isinstance(op, ph.Loop))
    if len(loops) != 1 or not all(isinstance(op, _ARITHMETIC) for op in beside):
        return None
    (inner,) = loops
    plain = not (loop.summary or inner.summary or loop.narrowed or inner.narrowed)
    multiplies = any(isinstance(op, ph.Contract) for op in inner.body.ops)
    alone = not any(isinstance(op, (*EFFECTS, *_CONTROL)) for op in walk(inner.body))
    carries = loop.body.args[1:]
    if not (plain and multiplies and alone) or sorted(inner.inits, key=_number) != sorted(
        carries, key=_number
    ):
        return None
    places = tuple(carries.index(f) for f in inner.inits)
    if tuple(loop.body.yields[k] for k in places) != inner.results:
        return None
    return _Nest(outer=loop, inner=inner, beside=beside, places=places)


def _number(f: ph.Fragment) -> int:
    return f.id


def _write(b: Builder, nest: _Nest, moving: tuple[ph.Op, ...]) -> None:
    """The joined loop; ``moving``: arithmetic that depends on the outer loop."""
    outer, inner = nest.outer, nest.inner
    passes = _passes(b, inner)
    total = b.pointwise("mul", _passes(b, outer), passes)
    counter = b.renewed(inner.body.args[0])
    carries = tuple(b.renewed(a) for a in inner.body.args[1:])
    with b.region() as ops:
        names = dict(zip((a.id for a in inner.body.args[1:]), carries, strict=True))
        names[outer.body.args[0].id] = _place(b, outer, b.pointwise("floordiv", counter, passes))
        names[inner.body.args[0].id] = _place(b, inner, b.pointwise("mod", counter, passes))
        copier = Copier(b, names)
        copier.ops((*moving, *inner.body.ops))
        yields = tuple(
            b.broadcast(copier.get(y), a.dims) for y, a in zip(inner.body.yields, carries, strict=True)
        )
    b.append(
        replace(
            inner,
            id=b.fresh(),
            results=tuple(outer.results[k] for k in nest.places),
            begin=b.index(0),
            end=total,
            step=b.index(1),
            inits=tuple(outer.inits[k] for k in nest.places),
            body=ph.Region(args=(counter, *carries), ops=tuple(ops), yields=yields),
        )
    )


def _passes(b: Builder, loop: ph.Loop) -> ph.Fragment:
    """How often the loop's body runs."""
    length = loop.end if b.known.value(loop.begin) == 0 else b.pointwise("sub", loop.end, loop.begin)
    if not _counts(b, length):
        length = b.pointwise("maximum", length, b.index(0))
    step = b.known.value(loop.step)
    if step == 1:
        return length
    rounded = b.pointwise("add", length, b.pointwise("sub", loop.step, b.index(1)))
    return b.pointwise("floordiv", rounded, loop.step)


def _counts(b: Builder, f: ph.Fragment) -> bool:
    """Whether the value shows as not negative: extents of arrays, and what comes of them."""
    op = b.known.definition.get(f.id)
    if isinstance(op, ph.LaunchValue):
        sizes = all(isinstance(atom, Symbol) for atom in op.extent.atoms())
        return sizes and all(factor >= 0 for _, factor in op.extent.terms)
    if isinstance(op, ph.Pointwise) and op.fn in ("add", "mul", "floordiv", "maximum"):
        return all(_counts(b, operand) for operand in op.operands)
    value = b.known.value(f)
    return isinstance(value, int) and value >= 0


def _place(b: Builder, loop: ph.Loop, number: ph.Fragment) -> ph.Fragment:
    """The loop's index in a pass."""
    index = number if b.known.value(loop.step) == 1 else b.pointwise("mul", number, loop.step)
    return index if b.known.value(loop.begin) == 0 else b.pointwise("add", loop.begin, index)
