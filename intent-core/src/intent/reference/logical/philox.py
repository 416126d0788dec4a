"""Philox4x32-10, the counter-based generator of Salmon et al. 2011 (spec: logical-program 10)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical.machine import Machine

Array = NDArray[Any]
Word = NDArray[np.uint64]
Block = tuple[Word, Word, Word, Word]

LOW = np.uint64(0xFFFFFFFF)
HALF = np.uint64(32)
MULTIPLIERS = (np.uint64(0xD2511F53), np.uint64(0xCD9E8D57))
WEYL = (np.uint64(0x9E3779B9), np.uint64(0xBB67AE85))
ROUNDS = 10


def philox4x32(counter: Block, key: tuple[Word, Word]) -> Block:
    """Ten rounds. All words are u32 values held in u64 arrays of one shape."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(ROUNDS):
        p0, p1 = MULTIPLIERS[0] * c0, MULTIPLIERS[1] * c2
        c0, c1, c2, c3 = (p1 >> HALF) ^ c1 ^ k0, p1 & LOW, (p0 >> HALF) ^ c3 ^ k1, p0 & LOW
        k0, k1 = (k0 + WEYL[0]) & LOW, (k1 + WEYL[1]) & LOW
    return c0, c1, c2, c3


def random_bits(machine: Machine, op: kir.RandomBits) -> None:
    """Word ``counter % 4`` of block ``counter // 4``; key = (low, high) halves of the seed."""
    seed, counter = machine[op.seed], machine[op.counter]
    block, word = np.asarray(counter // 4), np.asarray(counter % 4).astype(np.int64)
    key, at = _bits64(seed), _bits64(block)
    zero = np.zeros_like(at)
    words = philox4x32((at & LOW, at >> HALF, zero, zero), (key & LOW, key >> HALF))
    chosen = np.choose(word, words)
    machine[op.result] = np.asarray(chosen).astype(np.uint32)


def _bits64(x: Array) -> Word:
    """The 64-bit two's complement pattern; signed types extend their sign."""
    return x.astype(np.uint64) if x.dtype.kind == "u" else x.astype(np.int64).astype(np.uint64)
