"""Philox4x32-10 against the published known answers."""

from __future__ import annotations

import numpy as np
import pytest

from intent import kir
from intent.reference.logical.philox import philox4x32
from intent.types.dtypes import I32, U32, U64

# Known answers published with the generator: (counter, key, output).
KNOWN = [
    ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
]


def words(text):
    return tuple(np.array([int(w, 16)], np.uint64) for w in text.split())


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN)
def test_known_answers(counter, key, expected):
    assert [int(w[0]) for w in philox4x32(words(counter), words(key))] == [
        int(w, 16) for w in expected.split()
    ]


def bits(apply_op, seed, counter, seed_dtype, counter_dtype):
    n = counter.size

    def make(b, s, c):
        return b.op(kir.RandomBits, (U32, (n,)), seed=s, counter=c)

    return apply_op(
        make, [(U32, (n,))], np.full(n, seed, seed_dtype.numpy), counter.astype(counter_dtype.numpy)
    )


def test_words_and_blocks(apply_op):
    out = bits(apply_op, 0, np.arange(8), U64, I32)
    assert [hex(int(w)) for w in out[:4]] == ["0x6627e8d5", "0xe169c58d", "0xbc57ac4c", "0x9b00dbd8"]
    second = philox4x32(words("1 0 0 0"), words("0 0"))
    assert out[4:].tolist() == [int(w[0]) for w in second]


def test_halves_of_seed_and_counter(apply_op):
    seed, block = (0xA4093822 | 0x299F31D0 << 32), (5 | 7 << 32)
    out = bits(apply_op, seed, np.array([4 * block + 2]), U64, U64)
    expected = philox4x32(words("5 7 0 0"), words("a4093822 299f31d0"))
    assert int(out[0]) == int(expected[2][0])


def test_negative_counters_floor_and_seeds_extend_their_sign(apply_op):
    out = bits(apply_op, -1, np.array([-1]), I32, I32)
    expected = philox4x32(words("ffffffff ffffffff 0 0"), words("ffffffff ffffffff"))
    assert int(out[0]) == int(expected[3][0])
