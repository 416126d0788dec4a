"""Upper and lower bounds of index values, and the integer width that they allow.

Index values are 64-bit in the language. A bound is an extent known at the launch; where every bound of a program
fits, the launch may run the text with 32-bit index arithmetic (spec: logical-program 1, one numerical definition).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from intent.physical import (
    Argument,
    Broadcast,
    Cast,
    Constant,
    Fragment,
    If,
    Lane,
    LaunchValue,
    Loop,
    Op,
    Pointwise,
    Reduce,
    Region,
    Rename,
    While,
)  # fmt: skip
from intent.provider.emission.width import Width
from intent.types import DType, Extent
from intent.types.extent import Call, Symbol, const, maximum, minimum, scalar

INT32_MIN, INT32_MAX = -(1 << 31), (1 << 31) - 1


@dataclass(frozen=True)
class Interval:
    """Inclusive bounds, launch-visible extents."""

    low: Extent
    high: Extent

    @property
    def width(self) -> Width:
        """The narrowest emitted type that holds every value, given what the launch can prove."""
        low, high = self.low.const, self.high.const
        if (low is not None and low < INT32_MIN) or (high is not None and high > INT32_MAX):
            return Width.LONG
        return Width.SMALL if low is not None and high is not None else Width.INDEX

    @property
    def non_negative(self) -> bool:
        return never_negative(self.low)


def never_negative(extent: Extent) -> bool:
    """Whether the extent is >= 0 for every binding (conservative)."""
    return all(k >= 0 and all(_atom_never_negative(a) for a in monomial) for monomial, k in extent.terms)


def _atom_never_negative(atom: object) -> bool:
    if isinstance(atom, Symbol):
        return True
    if not isinstance(atom, Call):
        return False
    return (any if atom.op == "max" else all)(never_negative(a) for a in atom.args)


class Bounds:
    """Bounds of every index fragment of a program, filled in program order.

    ``signs_at_launch``: whether a launch with an operand of a division that may be negative uses 64 bits, so that
    32-bit text need not floor.
    """

    def __init__(self, *, signs_at_launch: bool = True) -> None:
        self._may_ask_signs = signs_at_launch
        self._known: dict[int, Interval] = {}
        self._natural: dict[int, Width] = {}
        self._signs: set[Extent] = set()
        self._required: set[Interval] = set()
        self._by_fact: set[int] = set()
        self._leaning: set[int] = set()

    def interval(self, fragment: Fragment) -> Interval | None:
        return self._known.get(fragment.id)

    def width(self, fragment: Fragment) -> Width:
        """Integer type to emit for the fragment; ``LONG`` where nothing is known."""
        return self._natural.get(fragment.id, Width.LONG)

    def launch_facts(self) -> tuple[Interval, ...]:
        """The intervals that the launch must find within int32 to choose 32-bit index arithmetic."""
        chosen = {self._known[i] for i, w in self._natural.items() if w is Width.INDEX and i in self._known}
        chosen |= {i for i in self._required if i.width is not Width.SMALL}
        return tuple(sorted(chosen, key=lambda i: (str(i.low), str(i.high))))

    def require(self, *extents: Extent) -> None:
        """Extents that the text computes in INDEX besides the values of fragments."""
        self._required.update(_point(e) for e in extents if e.launch_visible)

    def launch_signs(self) -> tuple[Extent, ...]:
        """The extents that must not be negative for 32-bit index arithmetic: it divides without flooring."""
        return tuple(sorted(self._signs, key=str))

    def floors_by_fact(self, op: Pointwise) -> bool:
        """Whether the division needs no flooring wherever the launch chooses 32-bit index arithmetic."""
        return op.result.id in self._by_fact

    def unsigned(self, fragments: Iterable[Fragment]) -> bool:
        """Whether none of the values is ever negative, whatever the launch finds."""
        intervals = [None if self.leans(f) else self.interval(f) for f in fragments]
        return all(i is not None and i.non_negative for i in intervals)

    def leans(self, fragment: Fragment) -> bool:
        """Whether the interval holds only where the launch chooses 32-bit index arithmetic."""
        return fragment.id in self._leaning

    def bind(self, fragment: Fragment, interval: Interval | None, operands: Sequence[Fragment] = ()) -> None:
        """Record a value's bounds; its width is at least that of the operands it is computed from."""
        if fragment.dtype.kind != "index":
            return
        own = Width.LONG if interval is None else interval.width
        if fragment.id in self._by_fact or any(self.leans(o) for o in operands):
            self._leaning.add(fragment.id)
        if interval is not None and own is not Width.LONG:
            self._known[fragment.id] = interval
        wide = max([own, *(self.width(o) for o in operands if o.dtype.kind == "index")])
        self._natural[fragment.id] = wide

    def force(self, fragment: Fragment, width: Width) -> None:
        """Fix the emitted type of a value that the text does not compute."""
        self._natural[fragment.id] = width

    def region(self, region: Region) -> None:
        """Walk the operations of a region in order."""
        for op in region.ops:
            self._op(op)

    def _op(self, op: Op) -> None:
        if isinstance(op, Loop):
            self._loop(op)
        elif isinstance(op, If):
            self.region(op.then)
            self.region(op.orelse)
            for r, a, b in zip(op.results, op.then.yields, op.orelse.yields, strict=True):
                self.bind(r, _hull(self.interval(a), self.interval(b)), (a, b))
        elif isinstance(op, While):
            self.region(op.condition)
            self.region(op.body)
        elif isinstance(op, Reduce) and op.kind in ("max", "min", "argmax", "argmin"):
            for r, o in zip(op.results, op.operands, strict=True):
                self.bind(r, self.interval(o), (o,))
        elif len(op.results) == 1 and op.result.dtype.kind == "index":
            interval, operands = self._simple(op)
            self.bind(op.result, interval, operands)

    def _loop(self, op: Loop) -> None:
        iv = op.body.args[0]
        begin, end = self.interval(op.begin), self.interval(op.end)
        found = Interval(begin.low, end.high - 1) if begin is not None and end is not None else None
        self.bind(iv, found, (op.begin, op.end, op.step))
        step = self.interval(op.step)
        if end is not None and step is not None:
            self.require(end.high + step.high)  # the counter passes the end before the loop stops
        self.region(op.body)

    def _simple(self, op: Op) -> tuple[Interval | None, tuple[Fragment, ...]]:
        if isinstance(op, Constant):
            return _point(const(int(op.value))), ()
        if isinstance(op, LaunchValue):
            return (_point(op.extent) if op.extent.launch_visible else None), ()
        if isinstance(op, Argument):
            return _point(scalar(op.parameter)), ()
        if isinstance(op, Lane):
            return Interval(const(0), const(op.dim.size - 1)), ()
        if isinstance(op, Broadcast | Rename):
            return self.interval(op.value), (op.value,)
        if isinstance(op, Cast):
            return self._cast(op.value), (op.value,)
        if isinstance(op, Pointwise):
            operands = op.operands[1:] if op.fn == "select" else op.operands
            intervals = [self.interval(o) for o in operands]
            if self._may_ask_signs and op.fn in ("floordiv", "mod"):
                leans = any(self.leans(o) for o in operands)
                proven = all(i is not None and i.non_negative for i in intervals)
                if self._signs_at_launch(intervals) or (leans and proven):
                    self._by_fact.add(op.result.id)
                    intervals = [Interval(maximum(i.low, 0), i.high) for i in intervals if i is not None]
            return pointwise(op.fn, intervals), operands
        return None, ()

    def _signs_at_launch(self, intervals: Sequence[Interval | None]) -> bool:
        """Record that the operands' signs are left to the launch, if they are unproven but launch-visible."""
        unproven = [i.low for i in intervals if i is not None and not i.non_negative]
        if None in intervals or not unproven or any(never_negative(-low) for low in unproven):
            return False
        self._signs.update(unproven)
        return True

    def _cast(self, value: Fragment) -> Interval | None:
        if value.dtype.kind == "index":
            return self.interval(value)
        return of_dtype(value.dtype)


def of_dtype(dtype: DType) -> Interval | None:
    """Bounds that a dtype alone gives."""
    if dtype.kind == "bool":
        return Interval(const(0), const(1))
    if dtype.is_integer and dtype.bits < 64:
        return Interval(const(dtype.minimum), const(dtype.maximum))
    return None


def _point(extent: Extent) -> Interval:
    return Interval(extent, extent)


def _hull(a: Interval | None, b: Interval | None) -> Interval | None:
    if a is None or b is None:
        return None
    return a if a == b else Interval(minimum(a.low, b.low), maximum(a.high, b.high))


def pointwise(fn: str, operands: Sequence[Interval | None]) -> Interval | None:
    """Bounds of an integer pointwise function, None where unknown."""
    if any(o is None for o in operands):
        known = [o for o in operands if o is not None]
        return _one_sided(fn, operands) if known else None
    a, *rest = [o for o in operands if o is not None]
    if fn == "neg":
        return Interval(-a.high, -a.low)
    if not rest:
        return None
    b = rest[0]
    if fn == "add":
        return Interval(a.low + b.low, a.high + b.high)
    if fn == "sub":
        return Interval(a.low - b.high, a.high - b.low)
    if fn == "mul":
        return _product(a, b)
    if fn == "select":
        return _hull(a, b)
    if fn == "minimum":
        return Interval(minimum(a.low, b.low), minimum(a.high, b.high))
    if fn == "maximum":
        return Interval(maximum(a.low, b.low), maximum(a.high, b.high))
    return _quotient(a, b) if fn == "floordiv" else _remainder(b) if fn == "mod" else None


def _quotient(a: Interval, b: Interval) -> Interval:
    """A zero divisor is invalid input, so a divisor that is never negative is at least 1."""
    if a.non_negative and b.non_negative:
        least = b.low if b.low.const or (b.low is b.high and b.low.const is None) else const(1)
        return Interval(const(0), a.high // least)
    if b.non_negative:
        return Interval(minimum(a.low, 0), maximum(a.high, 0))
    return Interval(minimum(a.low, -a.high, 0), maximum(a.high, -a.low, 0))


def _remainder(b: Interval) -> Interval:
    """It has the divisor's sign and is nearer to zero."""
    if b.non_negative:
        return Interval(const(0), b.high - 1)
    return Interval(minimum(b.low + 1, 0), maximum(b.high - 1, 0))


def _one_sided(fn: str, operands: Sequence[Interval | None]) -> Interval | None:
    """Bounds that hold whatever the unknown operand is."""
    divisor = operands[1] if fn == "mod" else None
    return None if divisor is None else _remainder(divisor)


def _product(a: Interval, b: Interval) -> Interval | None:
    if a.non_negative and b.non_negative:
        return Interval(a.low * b.low, a.high * b.high)
    for x, y in ((a, b), (b, a)):
        k = y.low.const
        if k is not None and y.low is y.high:
            return Interval(x.low * k, x.high * k) if k >= 0 else Interval(x.high * k, x.low * k)
    corners = [x * y for x in (a.low, a.high) for y in (b.low, b.high)]
    return Interval(minimum(*corners), maximum(*corners))
