"""Histograms in bit planes: every lane counts for itself, in registers, a bit of 32 bins' numbers in each word.

A value is a word with one bit for each 32 bins. Words are added as binary numbers whose digits are words: a full adder
of two words and a digit is five operations for 32 bins of a lane, and of 16 words with a common adder tree fewer. Lanes
meet once in ``MOST`` passes, which is when what they counted is added to the counters.

Requires: a loop that does nothing but count, and reads what it counts. Ensures: the same sums in the counters.

    loop %begin %end %step { %v = load ...         loop of MOST passes {
      atomic !c at %v kind=add 1 }          ->       %planes = loop of TOGETHER passes { loads; adders }
                                                     %planes = loop of what is left { load; half adders }
                                                     loop over the bits of a word { atomic !c kind=add sums of lanes } }
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
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
"""Most words of a plane: what more of them would hold are no registers any more."""
LARGEST: Final = 32
"""Operations of a body that is worth to be there ``TOGETHER`` times."""

_ALONE: Final = (
    ph.Constant, ph.LaunchValue, ph.Argument, ph.Lane, ph.Pointwise, ph.Cast, ph.Bitcast, ph.Broadcast, ph.Load,
    ph.Histogram,
)  # fmt: skip
"""What a body may do: all lane by lane."""

Values = tuple[ph.Fragment, ...]
Counters = tuple[ph.Histogram, ph.Buffer]
"""A histogram and the storage that its counts are added to."""


def counted_in_planes(b: Builder, loop: ph.Loop, most: int) -> list[ph.Histogram]:
    """The loop's histograms, if they have at most ``most`` bins and it does nothing besides; else none."""
    body = loop.body.ops
    if len(body) > LARGEST or not all(isinstance(op, _ALONE) for op in body):
        return []
    found = [op for op in body if isinstance(op, ph.Histogram)]
    used = {f.id for op in body for f in operands_of(op)}
    alone = all(op.result.id not in used and _fits(op, most) for op in found)
    return found if alone and isinstance(b.known.value(loop.step), int) else []


def _fits(op: ph.Histogram, most: int) -> bool:
    few = op.bins.size <= most and op.result.dims == (op.bins,) and len(op.dims) == 1
    return few and op.dims[0].size * _words(op) <= LANES


def _words(op: ph.Histogram) -> int:
    """How many words the bins take: a power of two."""
    return 1 << (-(-op.bins.size // BITS) - 1).bit_length()


def planes(b: Builder, loop: ph.Loop, counters: Sequence[Counters]) -> list[ph.Op]:
    """What stands for the loop: the same counts, on top of what the counters hold."""
    step = b.known.value(loop.step)
    assert isinstance(step, int)
    b.span, b.origin = loop.span, loop.origin
    with b.region(alone=True) as made:
        counting = _Counting(b, loop, counters, step)
        counting.repeated(loop.begin, loop.end, step * MOST, (), counting.some)
    return made


class _Counting:
    def __init__(self, b: Builder, loop: ph.Loop, counters: Sequence[Counters], step: int) -> None:
        self.b, self.loop, self.step = b, loop, step
        self.counters = counters
        self.words = [self._dim(op) for op, _ in counters]
        counted = {op.id for op, _ in counters}
        self.body = tuple(op for op in loop.body.ops if op.id not in counted)

    def _dim(self, op: ph.Histogram) -> ph.Dim:
        """The words of a histogram's planes, a dim of the program beside its bins."""
        return self.b.beside(op.bins, replace(op.bins, name=f"{op.bins.name}_words", size=_words(op)))

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
        digits: Values = tuple(
            b.constant(0, U32, (*op.dims, words))
            for (op, _), words in zip(self.counters, self.words, strict=True)
            for _ in range(PLANES)
        )
        digits = self.repeated(begin, cut, step, digits, lambda i, d: self._added(i, d, TOGETHER))
        digits = self.repeated(cut, end, self.step, digits, lambda i, d: self._added(i, d, 1))
        bins = max(op.bins.size for op, _ in self.counters)
        self.repeated(b.index(0), b.index(min(HALF, bins)), 1, (), lambda k, _: self._summed(k, digits))
        return ()

    # -- digits --------------------------------------------------------------------------------------------------------

    def _added(self, index: ph.Fragment, digits: Values, passes: int) -> Values:
        """The digits with what ``passes`` passes from ``index`` on count."""
        words: list[list[ph.Fragment]] = [[] for _ in self.counters]
        for k in range(passes):
            at = self.b.pointwise("add", index, self.b.index(k * self.step)) if k else index
            copier = Copier(self.b, {self.loop.body.args[0].id: at})
            copier.ops(self.body)
            for (op, _), dim, found in zip(self.counters, self.words, words, strict=True):
                valid = None if op.valid is None else copier.get(op.valid)
                found.append(self._word(op, dim, copier.get(op.values), valid))
        return tuple(
            digit
            for k, found in enumerate(words)
            for digit in self._sum(list(digits[k * PLANES : (k + 1) * PLANES]), found)
        )

    def _sum(self, digits: list[ph.Fragment], words: Sequence[ph.Fragment]) -> list[ph.Fragment]:
        """The digits with a power of two of words added."""
        low = len(words).bit_length() - 1
        carry = self._carry(digits, low, iter(words))
        for k in range(low, PLANES):
            digit = digits[k]
            digits[k] = self.b.pointwise("xor", digit, carry)
            if k + 1 < PLANES:
                carry = self.b.pointwise("and", digit, carry)
        return digits

    def _carry(self, digits: list[ph.Fragment], k: int, words: Iterator[ph.Fragment]) -> ph.Fragment:
        """What the next ``2**k`` words carry from digits below ``k`` into digit ``k``."""
        if k == 0:
            return next(words)
        b, digit = self.b, digits[k - 1]
        x, y = self._carry(digits, k - 1, words), self._carry(digits, k - 1, words)
        one = b.pointwise("xor", x, y)
        digits[k - 1] = b.pointwise("xor", one, digit)
        return b.pointwise("or", b.pointwise("and", x, y), b.pointwise("and", one, digit))

    def _word(
        self, op: ph.Histogram, dim: ph.Dim, value: ph.Fragment, valid: ph.Fragment | None
    ) -> ph.Fragment:
        """One bit in one word where the value is a bin, none elsewhere."""
        b = self.b
        number = self._number(op, dim, value, valid)
        word = b.add(ph.Cast, U32, (dim,), value=b.add(ph.Lane, INDEX, (dim,), dim=dim))
        here = b.compare("eq", b.pointwise("shr", number, b.constant(BITS.bit_length() - 1, U32)), word)
        bit = b.pointwise("and", number, b.constant(BITS - 1, U32))
        set_ = b.pointwise("shl", b.constant(1, U32), bit)
        return b.broadcast(b.pointwise("select", here, set_, b.constant(0, U32)), (*op.dims, dim))

    def _number(
        self, op: ph.Histogram, dim: ph.Dim, value: ph.Fragment, valid: ph.Fragment | None
    ) -> ph.Fragment:
        """The value in 32 bits, and the number of no bin where it is none."""
        b, none = self.b, dim.size * BITS
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

    # -- counters ------------------------------------------------------------------------------------------------------

    def _summed(self, k: ph.Fragment, digits: Values) -> Values:
        """Bit ``k`` of both halves of all words, as numbers of all lanes, added to the counters.

        A lane's numbers of both halves fit into one word, those of all lanes do not.
        """
        b = self.b
        shift, mask = b.add(ph.Cast, U32, (), value=k), b.constant(1 << HALF | 1, U32)
        for n, ((op, buffer), dim) in enumerate(zip(self.counters, self.words, strict=True)):
            total = b.constant(0, U32)
            for p, digit in enumerate(digits[n * PLANES : (n + 1) * PLANES]):
                bits = b.pointwise("and", b.pointwise("shr", digit, shift), mask)
                bits = b.pointwise("shl", bits, b.constant(p, U32)) if p else bits
                total = b.pointwise("add", total, bits) if p else bits
            self._add(op, buffer, dim, k, b.pointwise("and", total, b.constant((1 << HALF) - 1, U32)))
            if op.bins.size > HALF:
                upper = b.pointwise("add", k, b.index(HALF))
                self._add(op, buffer, dim, upper, b.pointwise("shr", total, b.constant(HALF, U32)))
        return ()

    def _add(
        self, op: ph.Histogram, buffer: ph.Buffer, dim: ph.Dim, k: ph.Fragment, counts: ph.Fragment
    ) -> None:
        """Add to the counters of each word's bit ``k`` what all lanes counted."""
        b, full = self.b, op.bins.size % BITS == 0
        total = b.add(ph.Reduce, U32, (dim,), operands=(counts,), dims=op.dims, kind="sum")
        word = b.add(ph.Lane, INDEX, (dim,), dim=dim)
        at = b.pointwise("add", b.pointwise("mul", word, b.index(BITS)), k)
        valid = None if full else b.compare("lt", at, b.index(op.bins.size))
        added = ph.Atomic(
            id=b.fresh(), origin=op.origin, span=op.span, target=buffer, coordinates=(at,), kind="add",
            operands=(b.add(ph.Cast, buffer.dtype, (dim,), value=total),), valid=valid, sharing="instance", dims=(dim,),
            proofs=(ph.REGION if full else ph.GUARD,),
        )  # fmt: skip
        b.append(added)


def _as_u32(b: Builder, value: ph.Fragment) -> ph.Fragment:
    """The low 32 bits; numbers below zero are large ones."""
    if value.dtype.kind == "int" and value.dtype.bits <= I32.bits:
        value = value if value.dtype is I32 else b.add(ph.Cast, I32, value.dims, value=value)
        return b.add(ph.Bitcast, U32, value.dims, value=value)
    return value if value.dtype is U32 else b.add(ph.Cast, U32, value.dims, value=value)
