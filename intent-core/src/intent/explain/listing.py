"""What each program of a segment does: one line per operation that computes, moves or orders data."""

from __future__ import annotations

from collections.abc import Iterator

from intent.explain.activity import Activity, Passes
from intent.explain.decoded import decoded
from intent.explain.places import Places
from intent.explain.quantity import Environment, plain, quantity
from intent.explain.report import (
    Access,
    Coordinate,
    Definition,
    Lane,
    Operation,
    OperationKind,
    Segment,
    SegmentAxis,
)
from intent.explain.values import Values
from intent.physical import (
    Atomic,
    BufferAlloc,
    Contract,
    Fence,
    Fragment,
    Histogram,
    If,
    Load,
    Loop,
    Op,
    Pointwise,
    Program,
    Proof,
    Reduce,
    Region,
    Resource,
    Scan,
    Store,
    View,
    While,
)
from intent.physical import Segment as Made
from intent.physical.expression import Expressions
from intent.physical.walk import regions_of
from intent.types import Extent

__all__ = ["segment"]

_LONGEST = 120


def segment(program: Program, made: Made, grouped: int, places: Places, env: Environment | None) -> Segment:
    """The report of one segment."""
    listing = _Listing(program, made, places, env)
    listing.region(made.body, 0, Passes())
    return Segment(
        group=made.group,
        axes=tuple(
            SegmentAxis(
                label=a.label,
                extent=quantity(a.extent, env),
                block=a.block,
                programs=quantity(a.programs, env),
            )
            for a in made.axes
        ),
        length=quantity(made.length, env),
        offset=quantity(made.offset, env),
        grouped=grouped,
        definitions=tuple(
            Definition(name=name, text=plain(text)) for name, text in listing.expressions.definitions.items()
        ),
        operations=tuple(listing.operations),
        accesses=tuple(listing.accesses),
    )


class _Listing:
    def __init__(self, program: Program, made: Made, places: Places, env: Environment | None) -> None:
        self.activity = Activity(made, env)
        self.expressions = Expressions(program, decoded(made, self.activity))
        self.values = Values(made, self.activity.defined, self.expressions.text)
        self.places = places
        self.env = env
        self.operations: list[Operation] = []
        self.accesses: list[Access] = []

    def region(self, region: Region, depth: int, passes: Passes) -> None:
        """List the operations of a region."""
        for op in region.ops:
            for kind, text in self._lines(op, passes):
                place = self.places.place(op.span)
                value = plain(self.values.text(op.value)) if isinstance(op, Store) else None
                self.operations.append(
                    Operation(id=op.id, kind=kind, depth=depth, text=plain(text), value=value, place=place)
                )
            match op:
                case If():
                    self.region(op.then, depth + 1, passes)
                    if op.orelse.ops:
                        self.operations.append(
                            Operation(
                                id=op.id,
                                kind="else",
                                depth=depth,
                                text="else",
                                value=None,
                                place=self.places.place(op.span),
                            )
                        )
                        self.region(op.orelse, depth + 1, passes)
                case Loop():
                    self.region(op.body, depth + 1, passes.inside(op))
                    self._updates(op, depth + 1)
                case While():
                    for inside in regions_of(op):
                        self.region(inside, depth + 1, passes.inside(op))
                    self._updates(op, depth + 1)

    def _updates(self, loop: Loop | While, depth: int) -> None:
        place = self.places.place(loop.span)
        self.operations += [
            Operation(id=loop.id, kind="carry", depth=depth, text=plain(text), value=None, place=place)
            for text in self.values.updates(loop)
        ]

    # -- one line ------------------------------------------------------------------------------------------------

    def _lines(self, op: Op, passes: Passes) -> Iterator[tuple[OperationKind, str]]:
        match op:
            case Load():
                yield "read", f"read {self._access(op, op.source, passes)}"
            case Store():
                yield "write", f"write {self._access(op, op.target, passes)}"
            case Atomic():
                yield "atomic", f"atomic {op.kind} ({op.order}) {self._access(op, op.target, passes)}"
            case Loop():
                bounds = ", ".join(self.expressions.text(v) for v in (op.begin, op.end, op.step))
                index, *carries = _name(op.body.args[0]), *map(self.values.text, op.body.args[1:])
                carrying = f" carrying {', '.join(carries)}" if carries else ""
                yield "loop", f"loop {index} over ({bounds}){carrying}"
            case While():
                carries = [self.values.text(v) for v in op.body.args]
                yield "while", "while" + (f" carrying {', '.join(carries)}" if carries else "")
            case If():
                yield "if", f"if {self.expressions.text(op.condition)}"
            case Reduce() | Scan() | Contract() | Histogram():
                yield self._structured(op)
            case BufferAlloc():
                yield "buffer", f"buffer {op.buffer.name} in {op.buffer.storage}"
            case Fence():
                yield "fence", f"fence {op.target.name}"
            case Pointwise():
                line = self.values.line(op)
                if line is not None:
                    yield "compute", line

    def _structured(self, op: Reduce | Scan | Contract | Histogram) -> tuple[OperationKind, str]:
        match op:
            case Reduce():
                dims = ", ".join(map(str, op.dims))
                operands = ", ".join(map(self.values.text, op.operands))
                by = op.kind or "a combine of the kernel"
                return "reduce", f"reduce {operands} by {by} over {dims}{_result(op)}"
            case Scan():
                operands = ", ".join(map(self.values.text, op.operands))
                by = op.kind or "a combine of the kernel"
                return "scan", f"scan {operands} by {by} along {op.dim}{_result(op)}"
            case Contract():
                dims = ", ".join(map(str, op.dims))
                factors = f"{self.values.text(op.lhs)} and {self.values.text(op.rhs)}"
                return "contract", f"contract {factors} over {dims} in {op.result.dtype}{_result(op)}"
            case Histogram():
                dims = ", ".join(map(str, op.dims))
                where = "" if op.valid is None else f" where {plain(self.expressions.text(op.valid))}"
                counted = f"{self.values.text(op.values)} over {dims}{where}"
                return "histogram", f"count {counted} into {op.bins} of {op.result.dtype}{_result(op)}"

    # -- accesses ------------------------------------------------------------------------------------------------

    def _access(self, op: Load | Store | Atomic, resource: Resource, passes: Passes) -> str:
        """Note the access; the text after its verb."""
        coordinates = [self.expressions.text(c) for c in op.coordinates]
        guard = None if op.valid is None else plain(self.expressions.text(op.valid))
        dims = op.result.dims if isinstance(op, Load) else op.dims
        elements = self.activity.count(dims, passes)
        size = resource.dtype.bytes
        self.accesses.append(
            Access(
                id=op.id,
                verb="read" if isinstance(op, Load) else "write" if isinstance(op, Store) else "atomic",
                detail=_detail(op),
                resource=resource.name,
                storage="view" if isinstance(resource, View) else resource.storage,
                dtype=resource.dtype.name,
                coordinates=tuple(
                    self._coordinate(text, e, proof)
                    for text, e, proof in zip(coordinates, resource.shape, op.proofs, strict=True)
                ),
                guard=guard,
                lanes=tuple(Lane(name=d.name, size=d.size) for d in dims),
                passes=self.activity.passes(passes),
                elements=elements.quantity,
                bytes=elements.times(size).quantity,
                place=self.places.place(op.span),
            )
        )
        where = "" if guard is None else f" where {guard}"
        return f"{resource.name}[{', '.join(coordinates)}]{where}"

    def _coordinate(self, text: str, extent: Extent, proof: Proof) -> Coordinate:
        return Coordinate(
            expression=plain(text),
            extent=quantity(extent, self.env),
            proof=proof.kind,
            why=plain(proof.why),
        )


def _detail(op: Load | Store | Atomic) -> str:
    """What there is to say of an access beyond where it goes."""
    match op:
        case Atomic():
            return f"{op.kind}, {op.order}, shared by the {op.sharing}"
        case Store() if op.unique is not None:
            return plain(op.unique.once)
        case _:
            return ""


def _result(op: Op) -> str:
    """`` to total`` where the author named the results."""
    names = [value.name for value in op.results if value.name]
    return f" to {', '.join(names)}" if names else ""


def _name(value: Fragment) -> str:
    return value.name or f"%{value.id}"
