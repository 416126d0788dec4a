"""Cases of decoding from pages and of linear attention by heads."""

from __future__ import annotations

import numpy as np

from intent_testkit.cases.attention import attention
from intent_testkit.cases.case import Case, Values, out, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, coordinates, normal, uniform
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import serving as k


def _some(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    return rng.integers(1, extents["L"] * extents["S"], shape, endpoint=True)


def _paged(v: Values) -> dict[str, object]:
    o = np.empty(v.q.shape)
    for b, n in enumerate(v.lengths):
        t = np.arange(n)
        page, place = v.table[b, t // v.k.shape[1]], t % v.k.shape[1]
        keys, values = (np.moveaxis(x[page, place], 1, 0) for x in (v.k, v.v))
        seen = np.full((*v.q.shape[1:3], n), True)
        o[b] = attention(v.q[b] * v.q.shape[-1] ** -0.5, keys, values, seen)
    return {"o": o}


def _gated(v: Values) -> dict[str, object]:
    since = np.cumsum(v.gate, axis=1)
    faded = np.exp(np.minimum(since[:, :, None] - since[:, None], 0.0))
    seen = np.tri(v.q.shape[1])[:, :, None] * faded
    return {"y": np.einsum("bthd,bshd,btsh,bshe->bthe", v.q, v.k, seen, v.v, optimize=True)}


CASES = (
    Case(
        name="paged_decode",
        kernel=k.paged_decode,
        parameters=(
            view("q", "f16", "B G R D", normal()),
            view("k", "f16", "P S G D", normal()),
            view("v", "f16", "P S G D", normal()),
            view("table", "i32", "B L", coordinates("P")),
            view("lengths", "i32", "B", _some),
            out("o", "f16", "B G R D"),
        ),
        oracle=_paged,
        tolerance=Tolerance(
            rtol=2.0**-10,
            atol=2.0**-9,
            reason="weights rounded to f16, 2**-12 each, against values of size 1; the result rounded once",
        ),
        extents=sizes("B G R D P S L", (0, 1, 1, 1, 1, 1, 1), (1, 1, 1, 1, 1, 1, 1), (3, 2, 4, 8, 9, 4, 5)),
        segments=(segment("B G R"),),
    ),
    Case(
        name="linear_attention_heads",
        kernel=k.linear_attention_heads,
        parameters=(
            view("q", "f32", "H T D", normal()),
            view("k", "f32", "H T D", normal()),
            view("v", "f32", "H T E", normal()),
            out("y", "f32", "H T E"),
        ),
        oracle=lambda v: {"y": np.tril(v.q @ np.swapaxes(v.k, 1, 2)) @ v.v},
        tolerance=Tolerance(
            rtol=1e-5, atol=2e-4, reason="up to 40 * 6 products of three normal factors in f32"
        ),
        extents=sizes("H T D E", (0, 2, 2, 2), (2, 0, 3, 2), (1, 1, 1, 1), (3, 40, 6, 5)),
        segments=(segment("H"),),
    ),
    Case(
        name="gated_linear_attention",
        kernel=k.gated_linear_attention,
        parameters=(
            view("q", "bf16", "B T H D", normal(0.5)),
            view("k", "bf16", "B T H D", normal(0.5)),
            view("v", "bf16", "B T H E", normal(0.5)),
            view("gate", "f32", "B T H", uniform(-0.5, 0.0)),
            out("y", "bf16", "B T H E"),
        ),
        oracle=_gated,
        tolerance=Tolerance(
            rtol=2.0**-7,
            atol=2.0**-6,
            reason="scores, keys and states rounded to bf16, 2**-9 each, before products of a few values of size 1",
        ),
        extents=sizes("B T H D E", (0, 2, 1, 2, 2), (1, 0, 2, 3, 2), (1, 1, 1, 1, 1), (2, 40, 3, 6, 5)),
        segments=(segment("B H"),),
    ),
)
