"""Cases of attention: every mask in one kernel, heads in groups, empty rows, the fold and the definition."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from intent_testkit.cases.case import Case, Values, out, scalar, segment, sizes, view
from intent_testkit.cases.draw import Array, Extents, normal
from intent_testkit.cases.tolerance import Tolerance
from intent_testkit.kernels import attention as k

INF = float("inf")
BF16 = Tolerance(
    rtol=2.0**-8,
    atol=2.0**-8,
    reason="weights rounded to bf16, 2**-9 each, against values of size 1 on average; the result rounded once",
)
F32 = Tolerance(
    rtol=2e-5, atol=2e-6, reason="exp of a f32 product sum, a f32 sum of up to 150 positive terms"
)


def attention(q: Array, k: Array, v: Array, keep: Array) -> Array:
    """Softmax of the kept logits times the values, 0 for rows that keep nothing."""
    logits = np.where(keep, q @ np.swapaxes(k, -1, -2), -INF)
    peak = logits.max(axis=-1, initial=-INF, keepdims=True)
    weights = np.exp(logits - np.where(np.isneginf(peak), 0.0, peak))
    total = weights.sum(axis=-1, keepdims=True)
    found: Array = np.where(total > 0, (weights @ v) / np.where(total > 0, total, 1.0), 0.0)
    return found


def kept(m: int, n: int, *, causal: bool, window: int) -> Array:
    """Which keys a row sees."""
    rows, columns = np.arange(m)[:, None], np.arange(n)[None, :]
    seen = np.full((m, n), True)
    if causal:
        seen &= columns <= rows
    if window:
        seen &= columns > rows - window
    return seen


def _flash(group: int, causal: bool, window: int) -> Callable[[Values], dict[str, object]]:
    def oracle(v: Values) -> dict[str, object]:
        keep = kept(v.q.shape[2], v.k.shape[2], causal=causal, window=window)
        keys, values = (np.repeat(x, group, axis=1)[:, : v.q.shape[1]] for x in (v.k, v.v))
        return {"o": attention(v.q * float(v.scale), keys, values, keep)}

    return oracle


def _padded(v: Values) -> dict[str, object]:
    keep = np.arange(v.k.shape[1]) < v.raw("lengths")[:, None, None]
    values = np.where(np.swapaxes(keep, 1, 2), v.v, 0.0)
    return {"o": attention(v.q, v.k, values, np.broadcast_to(keep, (*v.q.shape[:2], v.k.shape[1])))}


def _lengths(rng: np.random.Generator, shape: tuple[int, ...], extents: Extents) -> Array:
    """Every length from none to all, none and all among them."""
    found = rng.integers(0, extents["N"] + 1, shape)
    found[: min(2, len(found))] = [0, extents["N"]][: min(2, len(found))]
    return found


def _heads(name: str, group: int, causal: bool, window: int) -> Case:
    return Case(
        name=name,
        kernel=k.flash_attention,
        parameters=(
            view("q", "bf16", "B H M D", normal()),
            view("k", "bf16", "B G N D", normal()),
            view("v", "bf16", "B G N D", normal()),
            out("o", "bf16", "B H M D"),
            scalar("scale", "f32", lambda e: 1.0 / math.sqrt(e["D"])),
        ),
        oracle=_flash(group, causal, window),
        tolerance=BF16,
        constexprs={"GROUP": group, "CAUSAL": causal, "WINDOW": window},
        extents=sizes(
            "B H G M N D",
            (0, group, 1, 3, 3, 4),
            (1, group, 1, 1, 1, 1),
            (1, 2 * group, 2, 9, 9, 4),
            (2, group, 1, 70, 70, 16),
        ),
        variants=("contiguous", "strided", "transposed"),
        segments=(segment("B H M"),),
    )


def _forward(causal: bool) -> Case:
    return Case(
        name=f"attention_forward{'_causal' if causal else ''}",
        kernel=k.attention_forward,
        parameters=(
            view("q", "bf16", "B H M D", normal()),
            view("k", "bf16", "B H N D", normal()),
            view("v", "bf16", "B H N D", normal()),
            out("o", "bf16", "B H M D"),
        ),
        oracle=lambda v: {
            "o": attention(
                v.q / math.sqrt(v.q.shape[3]),
                v.k,
                v.v,
                kept(v.q.shape[2], v.k.shape[2], causal=causal, window=0),
            )
        },
        tolerance=BF16,
        constexprs={"CAUSAL": causal},
        extents=sizes("B H M N D", (0, 1, 3, 3, 4), (1, 1, 1, 1, 1), (1, 2, 9, 9, 4), (2, 1, 70, 90, 16)),
        variants=("contiguous", "strided", "transposed"),
        segments=(segment("B H M"),),
    )


CASES = (
    _forward(causal=False),
    _forward(causal=True),
    _heads("flash_full", 1, causal=False, window=0),
    _heads("flash_causal", 1, causal=True, window=0),
    _heads("flash_grouped", 2, causal=True, window=0),
    _heads("flash_window", 1, causal=True, window=20),
    Case(
        name="padded_attention",
        kernel=k.padded_attention,
        parameters=(
            view("q", "f32", "B M D", normal()),
            view("k", "f32", "B N D", normal()),
            view("v", "f32", "B N E", normal()),
            view("lengths", "i32", "B", _lengths),
            out("o", "f32", "B M E"),
        ),
        oracle=_padded,
        tolerance=F32,
        extents=sizes("B M N D E", (0, 1, 1, 1, 1), (1, 1, 1, 1, 1), (3, 5, 7, 3, 4), (4, 6, 70, 8, 5)),
        segments=(segment("B M"),),
    ),
    *(
        Case(
            name=f"softmax_attention{'_causal' if causal else ''}",
            kernel=k.softmax_attention,
            parameters=(
                view("q", "bf16", "B H M D", normal()),
                view("k", "bf16", "B H N D", normal()),
                view("v", "bf16", "B H N D", normal()),
                out("o", "bf16", "B H M D"),
                scalar("scale", "f32", lambda e: 1.0 / math.sqrt(e["D"])),
            ),
            oracle=_flash(1, causal, 0),
            tolerance=BF16,
            constexprs={"CAUSAL": causal},
            extents=sizes("B H M N D", (0, 1, 3, 3, 4), (1, 1, 1, 1, 1), (1, 2, 9, 9, 4), (2, 1, 40, 40, 16)),
            variants=("contiguous", "strided", "transposed"),
            segments=(segment("B H M"),),
        )
        for causal in (False, True)
    ),
)
