"""The combine of a reduce or scan: builtin or the author's, applied to fragments or as a region of scalars."""

from __future__ import annotations

from dataclasses import dataclass

from intent import kir
from intent import physical as ph
from intent.construct.context import Context
from intent.construct.frame import Frame, constant_binding
from intent.construct.point import Point
from intent.kir.walk import walk
from intent.types import DType
from intent.types.dtypes import INDEX


def has_loops(op: kir.Reduce | kir.Scan) -> bool:
    """Whether the combine runs loops of the author's: they are of one lane, so its axes are walked member by member."""
    return op.combine is not None and any(isinstance(o, kir.While | kir.For) for o in walk(op.combine))


BUILTIN = {"sum": "add", "prod": "mul", "max": "maximum", "min": "minimum", "any": "or", "all": "and"}


def identity_of(kind: str, dtype: DType) -> bool | int | float:
    """The identity of a builtin reduction."""
    if kind in ("sum", "prod"):
        value = 0 if kind == "sum" else 1
        return float(value) if dtype.is_float else value
    if kind in ("any", "all"):
        return kind == "all"
    highest = kind in ("min", "argmin")
    if dtype.name == "f8e4m3fn":
        return 448.0 if highest else -448.0
    if dtype.is_float:
        return float("inf") if highest else float("-inf")
    if dtype.kind == "bool":
        return highest
    return dtype.maximum if highest else dtype.minimum


@dataclass(frozen=True)
class Combiner:
    """How components are combined. ``positions``: an argmax or argmin, whose second component is the position."""

    c: Context
    op: kir.Reduce | kir.Scan

    @property
    def positions(self) -> bool:
        return self.op.kind in ("argmax", "argmin")

    def identities(self, at: tuple[Point, ...], frame: Frame) -> list[ph.Fragment]:
        """The identity per component, at the result's free coordinates."""
        c, op = self.c, self.op
        if op.kind is None:
            return [
                (c.scalar(v, frame) if v.rank == 0 else c.evaluate(v, at, frame)).fragment
                for v in op.identity
            ]
        dtype = op.operands[0].dtype
        found = [c.emitter.constant(identity_of(op.kind, dtype), dtype)]
        if self.positions:
            found.append(c.emitter.index(INDEX.maximum))
        return found

    def apply(
        self, left: tuple[ph.Fragment, ...], right: tuple[ph.Fragment, ...], frame: Frame
    ) -> tuple[ph.Fragment, ...]:
        """combine(left, right), lane by lane, in this order."""
        c, op = self.c, self.op
        if op.kind in ("argmax", "argmin"):
            return self._better(op.kind, left, right)
        if op.kind is not None:
            return (c.emitter.pointwise(BUILTIN[op.kind], left[0], right[0]),)
        assert op.combine is not None
        captures = tuple(c.scalar(v, frame) for v in op.captures)
        points = (*map(Point, left), *map(Point, right), *captures)
        return tuple(p.fragment for p in inline(c, op.combine, points, frame))

    def region(self, frame: Frame) -> tuple[tuple[ph.Fragment, ...], ph.Region]:
        """The captures and the combine as a region of scalars: (acc..., element..., captures...) -> components."""
        c, op = self.c, self.op
        assert op.combine is not None
        captures = tuple(c.scalar(v, frame).fragment for v in op.captures)
        known = c.regions.get(op.id)
        if known is None:
            components = [v.dtype for v in op.operands]
            with c.emitter.nested(isolated=True) as scope:
                dtypes = (*components, *components, *(f.dtype for f in captures))
                args = tuple(c.emitter.fragment(t, (), scope) for t in dtypes)
                yields = inline(c, op.combine, tuple(map(Point, args)), frame)
            known = ph.Region(args=args, ops=tuple(scope.ops), yields=tuple(p.fragment for p in yields))
            c.regions[op.id] = known
        return captures, known

    def _better(
        self, kind: str, left: tuple[ph.Fragment, ...], right: tuple[ph.Fragment, ...]
    ) -> tuple[ph.Fragment, ...]:
        """The better of two (value, position) pairs: NaN wins, then the extreme value, then the lower position."""
        (a, i), (b, j) = left, right
        e = self.c.emitter
        better = e.compare("gt" if kind == "argmax" else "lt", a, b)
        equal = e.compare("eq", a, b)
        if a.dtype.is_float:
            a_nan, b_nan = e.compare("ne", a, a), e.compare("ne", b, b)
            better = e.pointwise("or", better, e.pointwise("and", a_nan, e.pointwise("not", b_nan)))
            equal = e.pointwise("or", equal, e.pointwise("and", a_nan, b_nan))
        take = e.pointwise("or", better, e.pointwise("and", equal, e.compare("lt", i, j)))
        return e.pointwise("select", take, a, b), e.pointwise("select", take, i, j)


def combiner(c: Context, op: kir.Reduce | kir.Scan) -> Combiner:
    """The combiner of an operation."""
    return Combiner(c, op)


def inline(c: Context, region: kir.Region, args: tuple[Point, ...], frame: Frame) -> tuple[Point, ...]:
    """A region of scalars with its arguments replaced by fragments."""
    inner = frame.enter(region, c.emitter.current, map(constant_binding, args))
    return tuple(c.scalar(v, inner) for v in region.yields)
