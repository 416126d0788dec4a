"""Cases of operations in several segments and under two instance axes. All are exact."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.case import Case, Values, inout, out, scalar, segment, sizes, view
from intent_testkit.cases.counting import philox
from intent_testkit.cases.draw import Array, Extents, among, coordinates, integers
from intent_testkit.kernels import corners as k

# Elements that several points write must keep their places.
PLAIN = ("contiguous", "strided")
PLANE = sizes("M N", (0, 3), (3, 0), (1, 1), (3, 5), (4, 9))
SMALL = integers(-99, 99)
# One, two, minus one and a half as 8-bit floats: every sum of products is exact.
EIGHT_BITS = among((0x38, 0x40, 0xBC, 0x00))


def _affine(b: Array) -> Array:
    state, found = np.zeros(b.shape[1], np.int32), np.empty(b.shape, np.int32)
    with np.errstate(over="ignore"):
        for t, row in enumerate(b.astype(np.int32)):
            state = found[t] = (row % 3 + 1) * state + row
    return found


def _structures(v: Values) -> dict[str, object]:
    a, c = v.a, v.c
    words = [philox(int(seed), n) for n, seed in enumerate(c)]
    return {
        "folded": a.sum(axis=1),
        "prefixes": np.cumsum(a, axis=1),
        "parity": np.bitwise_xor.reduce(a, axis=0, initial=0),
        "affine": _affine(v.b),
        "picked": np.stack([(c + 1)[::-1], c], axis=1),
        "flat": a.T.reshape(-1),
        "words": np.array(words, np.uint32),
        "counts": np.bincount(c % 5, minlength=5),
        "product": a @ v.b,
    }


def _longest(x: Array) -> list[int]:
    return [abs(int(n)).bit_length() for n in x]


def _effects(v: Values) -> dict[str, object]:
    k_ = v.z.shape[1]
    at = np.arange(len(v.x)) % max(k_, 1)
    total, mixed, sums = v.total.copy(), v.mixed.copy(), v.sums.copy()
    np.add.at(total, at, v.x)
    np.bitwise_xor.at(mixed, at, v.x)
    np.add.at(sums, at, v.x)
    return {
        "total": total,
        "mixed": mixed,
        "sums": sums,
        "turned": v.z[:, ::-1] - v.z,
        "longest": np.array(_longest(v.x)),
        "chosen": np.max(v.z, axis=1, initial=0),
    }


def _packed(v: Values) -> dict[str, object]:
    table = {0x38: 1.0, 0x40: 2.0, 0xBC: -1.5, 0x00: 0.0}
    a = np.vectorize(table.get, otypes=[float])(v.a) * 2.0 ** (v.a_scale[:, :, None] - 127.0)
    b = np.vectorize(table.get, otypes=[float])(v.b) * 2.0 ** (v.b_scale.T[:, None, :] - 127.0)
    full = np.zeros((*v.s.shape, 2))
    np.put_along_axis(full, v.at[..., None], v.s[..., None], axis=-1)
    return {"c": np.einsum("mgc,gcn->mn", a, b), "e": full.reshape(v.s.shape[0], v.d.shape[0]) @ v.d}


def _folds(v: Values) -> dict[str, object]:
    total = v.x.sum(axis=1)
    return {"y": total, "last": 2 * total}


def _plane(v: Values) -> dict[str, object]:
    n = np.abs(v.x) % 625
    digits = np.stack([n // 5**p % 5 for p in range(4)], axis=2)
    steps = np.sum(n[..., None] >= 5 ** np.arange(4), axis=2)
    return {
        "low": np.minimum(v.low, np.min(v.x, axis=1, initial=2**31 - 1)),
        "sums": v.sums + v.x.sum(axis=0),
        "digits": np.where(digits == 2, 0, digits),
        "steps": steps,
    }


def _claimed(x: Array, slots: Array) -> Array:
    n = np.arange(len(slots))
    return np.where(np.isin(n, x) & (slots == -1), n, slots)


def _copied(v: Values) -> dict[str, object]:
    return {"x": v.x, "y": v.x * 2, "w": v.z - 1}


def _kept(v: Values) -> dict[str, object]:
    kept = v.x * 3
    kept[:, 0] = kept[:, -1] + 1
    return {"y": kept + kept.sum(axis=1, keepdims=True)}


def _sums(v: Values) -> dict[str, object]:
    sums, most, k_ = v.sums.copy(), v.most.copy(), len(v.sums)
    for (i, j), value in np.ndenumerate(v.x):
        sums[(i + j) % k_] += value
        most[(i * 2 + j) % k_] = max(most[(i * 2 + j) % k_], value)
    return {"sums": sums, "most": most, "bits": v.raw("x").copy().view(np.uint32)}


def _mixed(v: Values) -> dict[str, object]:
    mixed = v.mixed.copy()
    for (i, j), value in np.ndenumerate(v.x):
        mixed[(i + j) % len(mixed)] ^= value
    return {"mixed": mixed}


def _tripled(v: Values) -> dict[str, object]:
    return {"y": v.x * (3**v.n % 101)}


def _some_free(rng: np.random.Generator, shape: tuple[int, ...], _: Extents) -> Array:
    return np.where(rng.random(shape) < 0.7, -1, -2)


CASES = (
    Case(
        name="structures_apart",
        kernel=k.structures_apart,
        parameters=(
            view("a", "i32", "M N", SMALL),
            view("b", "i32", "N M", SMALL),
            view("c", "i32", "K", integers(0, 99)),
            out("folded", "i32", "M"),
            out("prefixes", "i32", "M N"),
            out("parity", "i32", "N"),
            out("affine", "i32", "N M"),
            out("picked", "i32", "K 2"),
            out("flat", "i32", "L"),
            out("words", "u32", "K"),
            out("counts", "i32", "5"),
            out("product", "i32", "M M"),
        ),
        oracle=_structures,
        extents=sizes("M N K L", (0, 3, 0, 0), (3, 0, 2, 0), (1, 1, 1, 1), (3, 5, 7, 15), (4, 9, 33, 36)),
        segments=(
            *(segment(axes) for axes in ("M", "N", "K 2", "L", "K", "5")),
            segment("M M", "M*M"),
        ),
    ),
    Case(
        name="effects_apart",
        kernel=k.effects_apart,
        parameters=(
            view("x", "i32", "N", SMALL),
            view("z", "i32", "M K", SMALL),
            inout("total", "i32", "K", SMALL),
            inout("mixed", "i32", "K", SMALL),
            inout("sums", "i32", "K", SMALL),
            out("turned", "i32", "M K"),
            out("longest", "i32", "N"),
            out("chosen", "i32", "M"),
        ),
        oracle=_effects,
        extents=sizes("N M K", (0, 0, 3), (0, 2, 1), (1, 1, 1), (9, 6, 5), (33, 4, 7)),
        variants=("contiguous", "strided", "flipped"),
        segments=(segment("N"), segment("M")),
    ),
    Case(
        name="packed_apart",
        kernel=k.packed_apart,
        parameters=(
            view("a", "u8", "M G 4", EIGHT_BITS),
            view("a_scale", "u8", "M G", integers(126, 128)),
            view("b", "u8", "G 4 N", EIGHT_BITS),
            view("b_scale", "u8", "N G", integers(126, 128)),
            view("s", "f32", "M S", SMALL),
            view("at", "i64", "M S", integers(0, 1)),
            view("d", "f32", "K N", SMALL),
            out("c", "f32", "M N"),
            out("e", "f32", "M N"),
        ),
        oracle=_packed,
        extents=sizes("M G N S K", (2, 0, 3, 0, 0), (1, 1, 1, 1, 2), (4, 2, 8, 3, 6), (5, 3, 9, 8, 16)),
        segments=(segment("M N"),),
    ),
    Case(
        name="middle_parity",
        kernel=k.middle_parity,
        parameters=(view("x", "i32", "A B C", SMALL), out("y", "i32", "A C")),
        oracle=lambda v: {"y": np.bitwise_xor.reduce(v.x, axis=1, initial=0)},
        extents=sizes("A B C", (0, 2, 3), (2, 0, 3), (1, 1, 1), (3, 5, 7), (4, 9, 33)),
        segments=(segment("A C"),),
    ),
    Case(
        name="folds_of_columns",
        kernel=k.folds_of_columns,
        parameters=(view("x", "i32", "A N C", SMALL), out("y", "i32", "A C"), out("last", "i32", "A C")),
        oracle=_folds,
        extents=sizes("A N C", (0, 2, 3), (2, 0, 3), (1, 1, 1), (3, 5, 7), (4, 19, 9)),
        segments=(segment("A C"),),
    ),
    Case(
        name="plane_of_effects",
        kernel=k.plane_of_effects,
        parameters=(
            view("x", "i32", "M N", integers(-700, 700)),
            inout("low", "i32", "M", SMALL),
            inout("sums", "i64", "N", SMALL),
            out("digits", "i32", "M N 4"),
            out("steps", "i32", "M N"),
        ),
        oracle=_plane,
        extents=PLANE,
        variants=("contiguous", "strided", "flipped"),
        segments=(segment("M N"),),
    ),
    Case(
        name="plane_of_claims",
        kernel=k.plane_of_claims,
        parameters=(view("x", "i32", "M N", coordinates("K")), inout("slots", "i32", "K", _some_free)),
        oracle=lambda v: {"slots": _claimed(v.x, v.slots)},
        extents=sizes("M N K", (1, 1, 3), (3, 5, 7), (4, 9, 20)),
        variants=PLAIN,
        segments=(segment("M N"),),
    ),
    Case(
        name="claims_and_more",
        kernel=k.claims_and_more,
        parameters=(
            view("x", "i32", "N", coordinates("K")),
            inout("slots", "i32", "K", _some_free),
            out("y", "i32", "N"),
        ),
        oracle=lambda v: {"slots": _claimed(v.x, v.slots), "y": v.x * 3},
        extents=sizes("N K", (1, 3), (9, 7), (33, 20)),
        variants=PLAIN,
        segments=(segment("N"),),
    ),
    Case(
        name="atomic_copy",
        kernel=k.atomic_copy,
        parameters=(
            inout("x", "i32", "M N", SMALL),
            inout("y", "i32", "M N", SMALL),
            view("z", "i32", "M N", SMALL),
            out("w", "i32", "M N"),
        ),
        oracle=_copied,
        extents=sizes("M N", (1, 1), (3, 5), (4, 9)),
        segments=(segment("M N"),),
    ),
    Case(
        name="tensors_in_buffers",
        kernel=k.tensors_in_buffers,
        parameters=(view("x", "i32", "A M N", SMALL), out("y", "i32", "A M N")),
        oracle=_kept,
        extents=sizes("A M N", (0, 2, 3), (2, 3, 0), (1, 1, 1), (6, 4, 5), (4, 5, 9)),
        segments=(segment("A N"),),
    ),
    Case(
        name="promised_gather",
        kernel=k.promised_gather,
        parameters=(
            view("at", "i64", "M K", coordinates("N")),
            view("x", "i32", "N", SMALL),
            out("y", "i32", "M K"),
            out("z", "i32", "N"),
        ),
        oracle=lambda v: {"y": v.x[v.at] + 1, "z": v.x * 2},
        extents=sizes("M K N", (0, 3, 2), (1, 1, 1), (3, 5, 7), (4, 9, 33)),
        segments=(segment("M K", "K*M"), segment("N")),
    ),
    Case(
        name="plane_of_sums",
        kernel=k.plane_of_sums,
        parameters=(
            view("x", "i32", "M N", SMALL),
            inout("sums", "i32", "K", SMALL),
            inout("most", "i32", "K", SMALL),
            out("bits", "u32", "M N"),
        ),
        oracle=_sums,
        extents=sizes("M N K", (0, 3, 2), (1, 1, 1), (3, 8, 5), (9, 7, 6)),
        variants=("contiguous", "strided", "flipped"),
        segments=(segment("M N"),),
    ),
    Case(
        name="mixed_by_points",
        kernel=k.mixed_by_points,
        parameters=(view("x", "i32", "M N", SMALL), inout("mixed", "i32", "K", SMALL)),
        oracle=_mixed,
        extents=sizes("M N K", (0, 3, 2), (1, 1, 1), (3, 8, 5), (9, 7, 6)),
        variants=("contiguous", "strided", "flipped"),
        segments=(segment("M N"),),
    ),
    Case(
        name="uniform_while",
        kernel=k.uniform_while,
        parameters=(scalar("n", "i32", 4), view("x", "i32", "M N", SMALL), out("y", "i32", "M N")),
        oracle=_tripled,
        extents=sizes("M N", (0, 3), (1, 1), (6, 8), (5, 9)),
        # Every instance would run the loop again.
        segments=(segment("", "1"),),
    ),
)
