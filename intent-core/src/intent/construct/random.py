"""Random bits: Philox4x32-10 spelled in integer operations, the same on every target (spec: logical-program 10).

A counter addresses word ``counter % 4`` of block ``counter // 4``; the key is the two halves of the seed. Words are
u32 and wrap. The ten rounds are one loop, so that a program stays small however often it draws.
"""

from __future__ import annotations

from typing import Final

from intent import kir
from intent import physical as ph
from intent.construct.context import Context, rule
from intent.construct.frame import Frame
from intent.construct.point import Point, members_of
from intent.construct.traversal import carry, close_loop, open_loop
from intent.types.dtypes import U32, U64

At = tuple[Point, ...]
Words = tuple[ph.Fragment, ...]

ROUNDS: Final = 10
MULTIPLIERS: Final = (0xD2511F53, 0xCD9E8D57)
KEY_STEPS: Final = (0x9E3779B9, 0xBB67AE85)


@rule(kir.RandomBits)
def random_bits(c: Context, op: kir.RandomBits, index: int, at: At, frame: Frame) -> Point:
    """The addressed word of the block that the counter lies in."""
    seed, counter = c.evaluate(op.seed, at, frame), c.evaluate(op.counter, at, frame)
    e = c.emitter
    # A signed counter floors: an arithmetic shift and a mask do the same to negative numbers.
    dtype = op.counter.dtype
    block = e.pointwise("shr", counter.fragment, e.constant(2, dtype))
    words = _philox(c, _halves(c, block), _halves(c, seed.fragment))
    which = e.pointwise("and", counter.fragment, e.constant(3, dtype))
    chosen = words[0]
    for k in (1, 2, 3):
        chosen = e.pointwise("select", e.compare("eq", which, e.constant(k, dtype)), words[k], chosen)
    return Point(chosen, members_of((seed, counter)))


def _halves(c: Context, value: ph.Fragment) -> tuple[ph.Fragment, ph.Fragment]:
    """The low and the high 32 bits of a 64-bit value."""
    e = c.emitter
    bits = value if value.dtype is U64 else e.emit(ph.Bitcast, ((U64, value.dims),), value=value)[0]
    return _low(c, bits), _low(c, e.pointwise("shr", bits, e.constant(32, U64)))


def _low(c: Context, bits: ph.Fragment) -> ph.Fragment:
    return c.emitter.emit(ph.Cast, ((U32, bits.dims),), value=bits)[0]


def _philox(c: Context, block: Words, key: Words) -> Words:
    """The four words of a block: ten rounds of two 32 x 32 products each."""
    e = c.emitter
    dims = e.union((*block, *key))
    loop = open_loop(c, e.index(0), e.index(ROUNDS), e.index(1), "round")
    words = [carry(c, loop, U32, dims, f"word{k}") for k in range(4)]
    keys = [carry(c, loop, U32, k.dims, f"key{n}") for n, k in enumerate(key)]
    (high0, low0), (high1, low1) = (_product(c, words[2 * k], MULTIPLIERS[k]) for k in (0, 1))
    mixed = (
        e.pointwise("xor", e.pointwise("xor", high1, words[1]), keys[0]),
        low1,
        e.pointwise("xor", e.pointwise("xor", high0, words[3]), keys[1]),
        low0,
    )
    stepped = tuple(e.pointwise("add", k, e.constant(KEY_STEPS[n], U32)) for n, k in enumerate(keys))
    zero = e.constant(0, U32)
    inits = tuple(e.broadcast(w, dims) for w in (*block, zero, zero))
    return close_loop(c, loop, (*inits, *key), (*mixed, *stepped))[:4]


def _product(c: Context, word: ph.Fragment, factor: int) -> Words:
    """The high and low words of ``word * factor``."""
    e = c.emitter
    wide = e.emit(ph.Cast, ((U64, word.dims),), value=word)[0]
    product = e.pointwise("mul", wide, e.constant(factor, U64))
    return _low(c, e.pointwise("shr", product, e.constant(32, U64))), _low(c, product)
