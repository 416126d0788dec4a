"""Maximum, exponentials, their sum and what they weigh, over one walked axis, in one walk (``relaxed_normalization``).

Requires: a verified program. Ensures: results that differ by rescaling (docs/numerics.md), for finite inputs.

    for i: m = max(m, x(i))                        for i:
    for i: t = t + exp(x(i) - m)                     p = max(x(i));  w = exp(x(i) - p)
    for i: y = y + (exp(x(i) - m) / t) * v(i)  ->    m, t, y = max(m, p), t * a + sum(w) * b, y * a + (w * v(i)) * b
                                                   y = y / t

with ``a = exp(m_before - m_after)`` and ``b = exp(p - m_after)``. That is the loop of a region fold, marked as one, so
that narrowing, absorption and peeling treat a softmax like a flash attention that an author wrote.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.copying import EFFECTS
from intent.passes.lanes import by_lanes, lane_body, lanes_joined, parts_of
from intent.passes.normalisation import Peak, Sum
from intent.passes.permissions import Permissions
from intent.passes.rewriting import rewrite_regions
from intent.passes.shares import Shares
from intent.passes.slices import slice_body
from intent.physical.walk import operands_of, regions_of, walk


def online(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Fuse normalisations over one axis into one walk, where the options permit it."""
    return rewrite_regions(program, _fused) if permissions.relaxed and permissions.online else program


def _fused(b: Builder, region: ph.Region) -> ph.Region | None:
    users: dict[int, list[ph.Op | None]] = defaultdict(list)
    for op in region.ops:
        for inner in walk(ph.Region(args=(), ops=(op,))):
            for f in operands_of(inner):
                users[f.id].append(op)
            for nested in regions_of(inner):
                for f in nested.yields:
                    users[f.id].append(op)
    for f in region.yields:
        users[f.id].append(None)
    for peak in _peaks(b, region, users):
        sums = _sums(b, region, peak, users)
        made = _rebuilt(b, region, peak, sums) if sums else None
        if made is not None:
            return made
    return None


def _only(users: dict[int, list[ph.Op | None]], f: ph.Fragment) -> ph.Op | None:
    found = set(map(id, users[f.id]))
    return users[f.id][0] if len(found) == 1 else None


def _closing(users: dict[int, list[ph.Op | None]], f: ph.Fragment, kind: str) -> ph.Reduce | None:
    """The reduction that is the value's only use."""
    op = _only(users, f)
    return op if isinstance(op, ph.Reduce) and op.kind == kind else None


def _peaks(b: Builder, region: ph.Region, users: dict[int, list[ph.Op | None]]) -> Iterator[Peak]:
    """Loops that carry one maximum from -inf on."""
    for loop in region.ops:
        if not isinstance(loop, ph.Loop) or len(loop.results) != 1 or loop.summary:
            continue
        if b.known.value(loop.inits[0]) != -math.inf or _acts(loop):
            continue
        arg, y = loop.body.args[1], b.known.definition.get(loop.body.yields[0].id)
        if not isinstance(y, ph.Pointwise) or y.fn != "maximum" or arg not in y.operands:
            continue
        of = y.operands[1] if y.operands[0] == arg else y.operands[0]
        if sum(arg in operands_of(op) for op in walk(loop.body)) != 1:
            continue
        closing = _closing(users, loop.result, "max")
        inner = b.known.definition.get(of.id)
        if closing is not None:
            yield Peak(loop=loop, of=of, dims=closing.dims, value=closing.result, closing=closing)
        elif isinstance(inner, ph.Reduce) and inner.kind == "max":
            yield Peak(loop=loop, of=inner.operands[0], dims=inner.dims, value=loop.result, closing=None)


def _acts(loop: ph.Loop) -> bool:
    return any(isinstance(op, (*EFFECTS, ph.While)) for op in walk(loop.body))


def _sums(b: Builder, region: ph.Region, peak: Peak, users: dict[int, list[ph.Op | None]]) -> list[Sum]:
    """The loops over the same range whose sums are proportional to ``exp(-m)``, in order."""
    candidates = [
        op
        for op in region.ops
        if isinstance(op, ph.Loop)
        and op is not peak.loop
        and (op.begin, op.end, op.step) == (peak.loop.begin, peak.loop.end, peak.loop.step)
        and not _acts(op)
        and any(b.known.reaches(f, {peak.value.id}) for o in walk(op.body) for f in operands_of(o))
    ]
    peaks = {peak.value.id, *_guarded(b, region, peak.value)}
    late = {peak.loop.result.id, peak.value.id, *(r.id for op in candidates for r in op.results)}
    found = []
    for op in candidates:
        shares = Shares(b, op, peaks, late)
        share = shares.share()
        if share is None:
            return []
        closing = _closing(users, op.result, "sum")
        found.append(
            Sum(share=share, shares=shares, closing=closing, value=closing.result if closing else op.result)
        )
    return found


def _guarded(b: Builder, region: ph.Region, m: ph.Fragment) -> Iterator[int]:
    """Values ``select(m == -inf, finite, m)``: they stand for ``m`` in exponents."""
    for op in region.ops:
        if isinstance(op, ph.Pointwise) and op.fn == "select" and b.known.plain(op.operands[2]) == m:
            test = b.known.definition.get(op.operands[0].id)
            instead = b.known.value(op.operands[1])
            nothing = isinstance(test, ph.Pointwise) and test.fn == "eq" and m in test.operands
            if nothing and instead is not None and math.isfinite(instead):
                assert isinstance(test, ph.Pointwise)
                if any(b.known.value(f) == -math.inf for f in test.operands):
                    yield op.result.id


def _rebuilt(b: Builder, region: ph.Region, peak: Peak, sums: list[Sum]) -> ph.Region | None:
    """The region with one loop in place of all, or None where the bodies do not agree."""
    gone = (
        {id(peak.loop), id(peak.closing)} | {id(s.share.loop) for s in sums} | {id(s.closing) for s in sums}
    )
    last = max(k for k, op in enumerate(region.ops) if id(op) in gone)
    first = min(k for k, op in enumerate(region.ops) if id(op) in gone)
    late = {peak.loop.result.id, peak.value.id}
    late |= {f.id for s in sums for f in (s.share.loop.result, s.value)}
    waiting: list[ph.Op] = []
    with b.region() as ops:
        for op in region.ops[: last + 1]:
            if id(op) in gone:
                continue
            outside = [f for o in walk(ph.Region(args=(), ops=(op,))) for f in operands_of(o)]
            if any(b.known.reaches(f, late) for f in outside):
                waiting.append(op)
            else:
                b.keep(op)
        if any(
            isinstance(o, EFFECTS)
            for op in region.ops[first:last]
            for o in walk(ph.Region(args=(), ops=(op,)))
        ):
            return None
        if not _joined(b, peak, sums, waiting):
            return None
        for op in region.ops[last + 1 :]:
            b.keep(op)
    return replace(region, ops=tuple(ops))


def _joined(b: Builder, peak: Peak, sums: list[Sum], waiting: list[ph.Op]) -> bool:
    """The common loop, and behind it what waited for its results."""
    loop = peak.loop
    counter = b.renewed(loop.body.args[0])
    lanes = by_lanes(peak, sums)
    parts = parts_of(b, peak, sums) if lanes else None
    kept = loop.result.dims if lanes else tuple(d for d in peak.of.dims if d not in peak.dims)
    m, *carries = [
        b.fragment(f.dtype, parts.dims(dims) if parts else dims, f.name)
        for f, dims in [
            (peak.value, kept),
            *((s.value, s.share.loop.result.dims if lanes else s.value.dims) for s in sums),
        ]
    ]
    with b.region() as ops:
        if lanes:
            made = lane_body(b, peak, sums, counter, (m, *carries), parts)
        else:
            made = slice_body(b, peak, sums, counter, (m, *carries))
    if made is None:
        return False
    yields, summary = made
    start = b.constant(-math.inf, m.dtype, m.dims)
    inits = [b.constant(0.0, c.dtype, c.dims) for c in carries]
    results = [peak.value, *(b.renewed(s.value) if s.share.after else s.value for s in sums)]
    carried = [b.renewed(c) for c in (m, *carries)] if lanes else results
    body = ph.Region(args=(counter, m, *carries), ops=tuple(ops), yields=yields)
    b.append(
        replace(
            loop,
            id=b.fresh(),
            results=tuple(carried),
            inits=(start, *inits),
            body=body,
            summary=summary,
        )
    )
    if lanes:
        lanes_joined(b, peak, sums, carried, results, parts)
    pending = [(s, r) for s, r in zip(sums, results[1:], strict=True) if s.share.after]
    return _behind(b, waiting, pending)


def _behind(b: Builder, waiting: list[ph.Op], pending: list[tuple[Sum, ph.Fragment]]) -> bool:
    """What needs the loop's results, each after what it needs itself: operations that waited, and late factors."""
    while waiting or pending:
        missing = {r.id for op in waiting for r in op.results} | {s.value.id for s, _ in pending}
        for op in waiting:
            if not any(f.id in missing for o in walk(ph.Region(args=(), ops=(op,))) for f in operands_of(o)):
                b.keep(op)
                waiting.remove(op)
                break
        else:
            ready = [p for p in pending if not any(f.id in missing for _, f in p[0].share.after)]
            if not ready:
                return False
            pending.remove(ready[0])
            _scaled(b, *ready[0])
    return True


def _scaled(b: Builder, s: Sum, raw: ph.Fragment) -> None:
    """Apply the late factors; the last operation defines the sum under its own id."""
    value = raw
    *first, (fn, factor) = s.share.after
    for early, f in first:
        value = b.pointwise(early, value, f, name=s.value.name)
    b.append(
        ph.Pointwise(
            id=b.fresh(),
            results=(s.value,),
            fn=fn,
            operands=(value, factor),
            origin=s.share.loop.origin,
            span=s.share.loop.span,
        )
    )
