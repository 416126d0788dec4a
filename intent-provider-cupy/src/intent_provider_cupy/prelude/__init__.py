"""Device functions that emitted text uses, one subject per ``.cuh`` file; a text holds the files it needs.

What is there for emission (``T`` is any element type of ``C_TYPES``; ``base`` is a kernel argument or a piece of
shared
memory, ``i`` an index in elements of it; nothing checks bounds on a GPU, everything does in emulation):

memory.cuh
    ``it_piece<T>(bytes, count)``: the piece of shared memory of ``count`` elements from byte offset ``bytes``;
    ``it_load(base, i)``, ``it_store(base, i, value)``;
    ``it_load<N>(out, base, i)``, ``it_store<N>(base, i, in)``: N consecutive elements from/to ``T out[N]``, one
    access of
    N * sizeof(T) in {1, 2, 4, 8, 16} bytes, aligned to its size; ``it_load_once<N>(out, base, i)``: of global memory
    that nobody reads again.
warp.cuh
    ``it_shuffle_xor(v, mask)``, ``it_shuffle(v, lane)``, ``it_shuffle_up(v, d)``, ``it_shuffle_down(v, d)`` of any T;
    ``it_any(p)``, ``it_all(p)``, ``it_ballot(p)``. All 32 lanes take part.
turn.cuh
    ``it_turn<WORD, STEP>(v, mask)``: threads exchange words of an array, so that neighbours of several threads lie in
    one.
atomics.cuh
    ``it_atomic_KIND<ORDER, SCOPE>(base, i, operands...)``, the old value as result; KIND is load, store, exchange,
    add, max,
    min, and, or, xor, compare_exchange (expected, desired); ORDER is IT_RELAXED, IT_ACQUIRE, IT_RELEASE or
    IT_ACQ_REL;
    SCOPE is IT_BLOCK or IT_DEVICE for elements of global memory, IT_SHARED for those of shared memory. Every element
    type
    that has the operation; NaN wins max and min.
    ``it_atomic_add_all<N, SCOPE>(base, i, in)``: relaxed sums of N consecutive elements with ``T in[N]`` in 4, 8 or 16
    bytes
    of global memory, aligned to that, of type float, it_f16 or it_bf16; no old values.
counting.cuh
    ``it_count<BINS, COPIES>(counters, row, number)``: one more of a number in a piece of shared memory, if it is that
    of a bin;
    ``it_counted<COPIES>(counters, bin)``: what the copies of a bin have counted; ``it_increment(base, i)``.
casts.cuh
    ``it_f16``, ``it_bf16``, ``it_f8e4m3fn``, ``it_f8e5m2``: storage only, one member ``bits``; ``it_cast<To>(x)``:
    every
    pair of element types with the language's rounding, in one step; ``it_bits<To>(x)``: the same bits.
integers.cuh
    ``it_floor_div(a, b)``, ``it_floor_mod(a, b)`` of one integer type.
divisor.cuh
    ``it_divisor_of(b)``: the second operand of those for many ``long long`` and one positive divisor.
mma.cuh
    ``it_mma(d, a, b)``: d[4] += a * b on tensor cores, by the types of the operands: it_f16 or it_bf16 (m16n8k16,
    a[8], b[4],
    float d), it_f8* (m16n8k32, a[16], b[8], float d; sm_89 and up), signed or unsigned char (m16n8k32, int d).
    Elements are in the order of the PTX fragments.
arithmetic.cuh
    ``it_add``, ``it_mul``, ... of integers that wrap, ``it_max``, ``it_min`` with NaN winning, ``it_each``,
    ``it_doubling``: loops;
functions.cuh
    ``it_sigmoid``, ``it_lgamma``, ...: functions that the library lacks or computes too coarsely.
matrix.cuh
    ``it_place<T, ROWS, WIDTH>(row, column)``: where an element of an operand's tile lies in shared memory;
    ``it_load_matrices<COUNT, TURNED>(out, piece, index)``: operands of ``it_mma`` from shared memory;
    ``it_mma_into``,
    ``it_rows``: its operands from its results.
groups.cuh
    ``it_groups``: whether four warps multiply tiles at once; ``it_matrix_of<ROWS, WIDTH>(piece, index)``: a matrix in
    a tile;
    ``it_multiply<N, TURNED_A, TURNED_B, T>(upper, lower, a, b)`` between ``it_begin_groups(sums)``,
    ``it_commit_groups()``
    and ``it_wait_groups(sums)``, or ``it_leave_groups<COUNT>()`` with the last commits still under way, to which
    ``it_follow_groups()`` adds; ``it_hold(a)`` before products of rows in registers; ``it_show_groups()`` after
    writing a tile, before the barrier.
async.cuh
    ``it_copy_async<N>(piece, i, base, j, valid)``: N elements (4, 8 or 16 bytes) to shared memory, zeros if not
    valid;
    ``it_commit_async()``, ``it_wait_async<GROUPS>()``.

Further files may be added by subject: a file has an include guard ``IT_<NAME>_CUH`` and no includes; the order in
which files go into a text is :data:`ORDER`. Under ``INTENT_CPU`` (g++) the shim stands in for memory, warp,
atomics, mma, groups
and async; everything else is compiled as it is.
"""

from __future__ import annotations

import re
from functools import cache
from importlib import resources
from typing import Final

__all__ = ["ORDER", "files", "needed"]

ORDER: Final = (
    "base",
    "casts",
    "arithmetic",
    "functions",
    "integers",
    "divisor",
    "combine",
    "memory",
    "warp",
    "turn",
    "atomics",
    "counting",
    "mma",
    "matrix",
    "groups",
    "async",
)
"""The files, each after those it uses."""

_NAME: Final = re.compile(r"\b(?:it|IT)_\w+")


@cache
def files() -> dict[str, str]:
    """The text of each file, in order."""
    folder = resources.files(__name__)
    return {name: folder.joinpath(f"{name}.cuh").read_text(encoding="utf-8") for name in ORDER}


@cache
def _owners() -> dict[str, str]:
    """The file that a name belongs to: the first that has it."""
    owners: dict[str, str] = {}
    for file, text in files().items():
        for name in _NAME.findall(text):
            owners.setdefault(name, file)
    return owners


def needed(text: str) -> str:
    """The files whose functions ``text`` uses, and those that they use, in order."""
    wanted: set[str] = set()
    rest = [text]
    while rest:
        found = {_owners()[name] for name in _NAME.findall(rest.pop()) if name in _owners()}
        rest += [files()[file] for file in found - wanted]
        wanted |= found
    return "\n".join(files()[file] for file in ORDER if file in wanted)
