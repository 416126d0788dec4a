"""Rows that stand in pages: when a table is read once a page, and that the values are right."""

from __future__ import annotations

import re

import numpy as np
import pytest

import intent
import intent.language as I
from intent.construct import analyze, serial
from intent.frontend import lower
from intent.planning import default_plan
from intent.provider import Source
from intent_provider_cutile.build import bytecode
from intent_provider_cutile.capabilities import CAPABILITIES
from intent_provider_cutile.emit import emit
from intent_testkit.kernels import serving

RNG = np.random.default_rng(4)
B, G, R, D, P, S, L = 2, 2, 4, 16, 12, 16, 5


@intent.kernel
def moved(
    q: I.In[I.f16, ("R", "D")],
    k: I.In[I.f16, ("P", "S", "D")],
    table: I.InOut[I.i32, ("L",)],
    o: I.Out[I.f32, ("N", "R", 32)],
):
    """The table changes between its read and that of the rows."""
    S = k.shape[1]
    place = I.indices(I.domain(0, 32))
    for i in range(o.shape[0]):
        t = i * 32 + place
        page = table[t // S]
        table[...] = 0
        o[i, :, :] = I.matmul(q[...], k[page, t % S, :], transpose_rhs=True, acc_dtype=I.f32)


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


def decode(*, parts, page=S):
    """The decoding kernel with 32 keys a step, shared out among ``parts`` instances."""
    extents = {"B": B, "G": G, "R": R, "D": D, "P": P, "S": page, "L": L}
    analysis = analyze(lower(serving.paged_decode, {}))
    plan = default_plan(analysis, CAPABILITIES, extents)
    (group,) = plan.groups
    (walked,) = (label for label, inner in group.inner if inner.mode == "serial")
    inner = tuple((label, serial(32) if label == walked else how) for label, how in group.inner)
    group = group.__class__(
        instance=group.instance, inner=inner, grouped=1, split=(walked, parts) if parts > 1 else None
    )
    plan = plan.__class__(groups=(group,), guards=plan.guards, knobs=plan.knobs, peel=False)
    return intent.compile(serving.paged_decode, provider="cutile", plan=plan)


def reference(q, k, v, table, lengths, S=S):
    out = np.zeros(q.shape, np.float64)
    for b in range(B):
        t = np.arange(lengths[b])
        page = table[b, t // S]
        there = (page >= 0) & (page < P)
        rows = np.where(there, page, 0), t % S
        for g in range(G):
            keys, values = (np.where(there[:, None], x[*rows, g].astype(np.float64), 0) for x in (k, v))
            logits = q[b, g].astype(np.float64) @ keys.T / np.sqrt(D)
            weights = np.exp(logits - logits.max(-1, keepdims=True))
            out[b, g] = weights / weights.sum(-1, keepdims=True) @ values
    return out


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("lengths", [(80, 64), (37, 1), (16, 79)], ids=str)
def test_pages_are_read_as_their_rows_would_be(parts, lengths):
    q = RNG.standard_normal((B, G, R, D)).astype(np.float16)
    k, v = (RNG.standard_normal((P, S, G, D)).astype(np.float16) for _ in range(2))
    table = RNG.permutation(P)[: B * L].reshape(B, L).astype(np.int32)
    # Pages that are none give zeros; what stands behind the last token of a page is nobody's business.
    table[1, 0] = 99
    for b, length in enumerate(lengths):
        page = table[b, (length - 1) // S]
        if page < P:
            k[page, (length - 1) % S + 1 :] = v[page, (length - 1) % S + 1 :] = np.nan
        table[b, (length - 1) // S + 1 :] = -7
    out, made = np.zeros((B, G, R, D), np.float16), decode(parts=parts)
    made(q, k, v, table, np.array(lengths, np.int32), out)
    np.testing.assert_allclose(out, reference(q, k, v, table, lengths), atol=2e-3)


def test_a_table_is_read_once_a_page():
    text = decode(parts=2).source
    assert text.count("table.load_offset(") == 2
    assert "page_3 = ct.where(mask_2, ct.where(n12_4 < 16, page, page_2), 0)" in text


@pytest.mark.parametrize("parts", [1, 2])
@pytest.mark.parametrize("page", [32, 64])
def test_pages_as_long_as_a_step_or_longer(page, parts):
    q = RNG.standard_normal((B, G, R, D)).astype(np.float16)
    k, v = (RNG.standard_normal((P, page, G, D)).astype(np.float16) for _ in range(2))
    table, lengths = RNG.permutation(P)[: B * L].reshape(B, L).astype(np.int32), np.array([200, 77], np.int32)
    table[:, 4] = [P, -1]
    out, made = np.zeros((B, G, R, D), np.float16), decode(parts=parts, page=page)
    made(q, k, v, table, np.minimum(lengths, L * page), out)
    want = reference(q, k, v, table, np.minimum(lengths, L * page), page)
    np.testing.assert_allclose(out, want, atol=2e-3)
    assert made.source.count("table.load_offset(") == 1


@pytest.mark.parametrize("page", [12, 4])
def test_pages_of_other_sizes_are_read_row_by_row(page):
    assert re.search(
        r"table.load_offset\(\s*t_\d+ \* table_stride_0 \+ t_\d+ \*", decode(parts=1, page=page).source
    )


def test_a_table_that_changes_is_read_before_it_does():
    q, k = (RNG.standard_normal(shape).astype(np.float16) for shape in ((16, D), (P, S, D)))
    table, out = np.array([3, 5, 7, 2], np.int32), np.zeros((2, 16, 32), np.float32)
    extents = {"R": 16, "D": D, "P": P, "S": S, "L": 4, "N": 2}
    plan = default_plan(analyze(lower(moved, {})), CAPABILITIES, extents)
    made = intent.compile(moved, provider="cutile", plan=plan)
    made(q, k, table, out)
    for i, pages in enumerate(([3, 5], [0, 0])):
        want = q.astype(np.float32) @ k[pages].reshape(32, D).T.astype(np.float32)
        np.testing.assert_allclose(out[i], want, rtol=1e-3, atol=1e-3)
    assert made.source.count("table.load_offset(") == 2


def test_the_front_end_takes_choices_among_scalars():
    program = decode(parts=2).program
    emitted = emit(program)
    assert bytecode(Source(text=emitted.text, entry=emitted.entry, suffix=".py", program=program))


def test_the_default_plan_knows_how_long_pages_are():
    analysis = analyze(lower(serving.paged_decode, {}))

    def guards(page):
        extents = {"B": 16, "G": 8, "R": 4, "D": 128, "P": 8192, "S": page, "L": 512}
        return {str(guard) for guard in default_plan(analysis, CAPABILITIES, extents).guards}

    assert "S == 16" in guards(16)
    assert "S == 32" in guards(32)
    assert not {"S == 12", "S == 4"} & (guards(12) | guards(4))
