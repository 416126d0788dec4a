"""Histograms in bit planes: every lane counts for itself, in registers, 32 bins side by side.

A lane's counts are binary numbers whose digits are words, with a bit for each of 32 bins. A value is such a word with
one bit set. Two words and a digit make the digit and a word that is carried by five operations for 32 bins; of 16 words
in a tree of such adders only the last carry meets the higher digits. Lanes meet once in ``MOST`` passes, which is when
what they counted is added to the counters.

Requires: a loop that does nothing but count, and reads what it counts. Ensures: the same sums in the counters.

    loop %begin %end %step { %v = load ...         loop of MOST passes {
      atomic !c at %v kind=add 1 }          ->       %planes = loop of TOGETHER passes { loads; adders }
                                                     %planes = loop of what is left { load; half adders }
                                                     loop over the bits of a word { atomic !c kind=add sums of lanes } }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.copying import Copier
from intent.physical.walk import operands_of
from intent.types.dtypes import I32, INDEX, U32

__all__ = ["counted_in_planes", "planes"]

BITS: Final = 32
"""Bins of a word."""
HALF: Final = BITS // 2
PLANES: Final = 11
"""Digits of what a lane counts: a lane of eight words holds 88 of its registers for them."""
TOGETHER: Final = 16
"""Passes whose words are added at once."""
MOST: Final = (2**PLANES - 1) // TOGETHER * TOGETHER
"""Passes after which a digit more might be needed."""
LANES: Final = 1024
"""Most words of a digit: what would hold more of them are no registers any more."""
LARGEST: Final = 32
"""Operations of a body that is worth to be there ``TOGETHER`` times."""

_ALONE: Final = (
    ph.Constant, ph.LaunchValue, ph.Argument, ph.Lane, ph.Pointwise, ph.Cast, ph.Bitcast, ph.Broadcast, ph.Load,
    ph.Histogram,
)  # fmt: skip
"""What a body may do: all lane by lane."""

Values = tuple[ph.Fragment, ...]


def counted_in_planes(b: Builder, loop: ph.Loop, most: int) -> ph.Histogram | None:
    """The loop's histogram, if it has at most ``most`` bins and the loop does nothing besides."""
    body = loop.body.ops
    found = [op for op in body if isinstance(op, ph.Histogram)]
    if len(found) != 1 or len(body) > LARGEST or not all(isinstance(op, _ALONE) for op in body):
        return None
    (op,) = found
    read = any(f.id == op.result.id for other in body for f in operands_of(other))
    one_axis = op.result.dims == (op.bins,) and len(op.dims) == 1
    few = one_axis and op.bins.size <= most and op.dims[0].size * _words(op) <= LANES
    return op if few and not read and isinstance(b.known.value(loop.step), int) else None


def _words(op: ph.Histogram) -> int:
    """How many words the bins take: a power of two."""
    return 1 << (-(-op.bins.size // BITS) - 1).bit_length()


def planes(b: Builder, loop: ph.Loop, op: ph.Histogram, counters: ph.Buffer) -> list[ph.Op]:
    """What stands for the loop: the same counts, on top of what the counters hold."""
    step = b.known.value(loop.step)
    assert isinstance(step, int)
    b.span, b.origin = loop.span, loop.origin
    with b.region(alone=True) as made:
        counting = _Counting(b, loop, op, counters, step)
        counting.repeated(loop.begin, loop.end, step * MOST, (), counting.some)
    return made


class _Counting:
    def __init__(self, b: Builder, loop: ph.Loop, op: ph.Histogram, counters: ph.Buffer, step: int) -> None:
        self.b, self.loop, self.op, self.step = b, loop, op, step
        self.counters = counters
        self.words = b.beside(op.bins, replace(op.bins, name=f"{op.bins.name}_words", size=_words(op)))
        self.body = tuple(other for other in loop.body.ops if other is not op)

    def repeated(
        self,
        begin: ph.Fragment,
        end: ph.Fragment,
        step: int,
        inits: Values,
        body: Callable[[ph.Fragment, Values], Values],
    ) -> Values:
        """A loop, and what it carries in the end."""
        b = self.b
        index = b.renewed(self.loop.body.args[0])
        args = tuple(b.renewed(f) for f in inits)
        with b.region() as ops:
            yields = body(index, args)
        results = tuple(b.renewed(f) for f in inits)
        region = ph.Region(args=(index, *args), ops=tuple(ops), yields=yields)
        loop = replace(self.loop, id=b.fresh(), results=results, begin=begin, end=end, step=b.index(step))
        b.append(replace(loop, inits=inits, body=region, narrowed=()))
        return results

    def some(self, begin: ph.Fragment, _: Values) -> Values:
        """As many passes as the planes have room for: counted in planes, and added to the counters."""
        b, step = self.b, self.step * TOGETHER
        end = b.pointwise("minimum", b.pointwise("add", begin, b.index(self.step * MOST)), self.loop.end)
        whole = b.pointwise("floordiv", b.pointwise("sub", end, begin), b.index(step))
        cut = b.pointwise("add", begin, b.pointwise("mul", whole, b.index(step)))
        zero = b.constant(0, U32, (*self.op.dims, self.words))
        digits: Values = tuple(replace(zero, name=f"digit_{1 << p}") for p in range(PLANES))
        digits = self.repeated(begin, cut, step, digits, lambda i, d: self._added(i, d, TOGETHER))
        digits = self.repeated(cut, end, self.step, digits, lambda i, d: self._added(i, d, 1))
        bits = b.index(min(HALF, self.op.bins.size))
        self.repeated(b.index(0), bits, 1, (), lambda k, _: self._summed(k, digits))
        return ()

    # -- digits --------------------------------------------------------------------------------------------------------

    def _added(self, index: ph.Fragment, digits: Values, passes: int) -> Values:
        """The digits with what ``passes`` passes, a power of two, count from ``index`` on."""
        words = []
        for k in range(passes):
            at = self.b.pointwise("add", index, self.b.index(k * self.step)) if k else index
            copier = Copier(self.b, {self.loop.body.args[0].id: at})
            copier.ops(self.body)
            valid = None if self.op.valid is None else copier.get(self.op.valid)
            words.append(self._word(copier.get(self.op.values), valid))
        made, low = list(digits), passes.bit_length() - 1
        carry = self._carry(made, low, iter(words))
        for k in range(low, PLANES):
            digit = made[k]
            made[k] = self.b.pointwise("xor", digit, carry)
            if k + 1 < PLANES:
                carry = self.b.pointwise("and", digit, carry)
        return tuple(made)

    def _carry(self, digits: list[ph.Fragment], k: int, words: Iterator[ph.Fragment]) -> ph.Fragment:
        """What the next ``2**k`` words carry from digits below ``k`` into digit ``k``."""
        if k == 0:
            return next(words)
        b = self.b
        x, y = self._carry(digits, k - 1, words), self._carry(digits, k - 1, words)
        digit, one = digits[k - 1], b.pointwise("xor", x, y)
        digits[k - 1] = b.pointwise("xor", one, digit)
        return b.pointwise("or", b.pointwise("and", x, y), b.pointwise("and", one, digit))

    def _word(self, value: ph.Fragment, valid: ph.Fragment | None) -> ph.Fragment:
        """One bit in one word where the value is a bin, none elsewhere."""
        b = self.b
        number = self._number(value, valid)
        word = b.add(ph.Cast, U32, (self.words,), value=self._lane())
        here = b.compare("eq", b.pointwise("shr", number, b.constant(BITS.bit_length() - 1, U32)), word)
        bit = b.pointwise("shl", b.constant(1, U32), b.pointwise("and", number, b.constant(BITS - 1, U32)))
        return b.broadcast(b.pointwise("select", here, bit, b.constant(0, U32)), (*self.op.dims, self.words))

    def _number(self, value: ph.Fragment, valid: ph.Fragment | None) -> ph.Fragment:
        """The value in 32 bits, and the number of no bin where it is none."""
        b, none = self.b, self.words.size * BITS
        if value.dtype is INDEX or value.dtype.bits > U32.bits:
            # Narrowing could make another value a bin.
            inside = b.pointwise(
                "and",
                b.compare("ge", value, b.constant(0, value.dtype)),
                b.compare("lt", value, b.constant(none, value.dtype)),
            )
            valid = inside if valid is None else b.pointwise("and", valid, inside)
        number = _as_u32(b, value)
        return number if valid is None else b.pointwise("select", valid, number, b.constant(none, U32))

    def _lane(self) -> ph.Fragment:
        return self.b.add(ph.Lane, INDEX, (self.words,), dim=self.words)

    # -- counters ------------------------------------------------------------------------------------------------------

    def _summed(self, k: ph.Fragment, digits: Values) -> Values:
        """Bit ``k`` of both halves of all words, as numbers of all lanes, added to the counters.

        A lane's numbers of both halves fit into one word, those of all lanes do not.
        """
        b = self.b
        shift, mask = b.add(ph.Cast, U32, (), value=k), b.constant(1 << HALF | 1, U32)
        total = b.constant(0, U32)
        for p, digit in enumerate(digits):
            bits = b.pointwise("and", b.pointwise("shr", digit, shift), mask)
            bits = b.pointwise("shl", bits, b.constant(p, U32)) if p else bits
            total = b.pointwise("add", total, bits) if p else bits
        self._add(k, b.pointwise("and", total, b.constant((1 << HALF) - 1, U32)))
        if self.op.bins.size > HALF:
            upper = b.pointwise("shr", total, b.constant(HALF, U32))
            self._add(b.pointwise("add", k, b.index(HALF)), upper)
        return ()

    def _add(self, k: ph.Fragment, counts: ph.Fragment) -> None:
        """Add to the counters of each word's bit ``k`` what all lanes counted."""
        b, op = self.b, self.op
        dims, full = (self.words,), op.bins.size == self.words.size * BITS
        total = b.add(ph.Reduce, U32, dims, operands=(counts,), dims=op.dims, kind="sum")
        at = b.pointwise("add", b.pointwise("mul", self._lane(), b.index(BITS)), k)
        added = ph.Atomic(
            id=b.fresh(), origin=op.origin, span=op.span, target=self.counters, coordinates=(at,), kind="add",
            operands=(b.add(ph.Cast, self.counters.dtype, dims, value=total),),
            valid=None if full else b.compare("lt", at, b.index(op.bins.size)), sharing="instance", dims=dims,
            proofs=(ph.REGION if full else ph.GUARD,),
        )  # fmt: skip
        b.append(added)


def _as_u32(b: Builder, value: ph.Fragment) -> ph.Fragment:
    """The low 32 bits; numbers below zero are large ones."""
    if value.dtype.kind == "int" and value.dtype.bits <= I32.bits:
        value = value if value.dtype is I32 else b.add(ph.Cast, I32, value.dims, value=value)
        return b.add(ph.Bitcast, U32, value.dims, value=value)
    return value if value.dtype is U32 else b.add(ph.Cast, U32, value.dims, value=value)
