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
from collections.abc import Iterator
from dataclasses import replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.copying import EFFECTS
from intent.passes.forms import Running, finite_instead, running
from intent.passes.lanes import by_lanes, lane_body, lanes_joined, parts_of
from intent.passes.normalisation import Peak, Sum
from intent.passes.permissions import Permissions
from intent.passes.rewriting import rewrite_regions
from intent.passes.shares import Shares
from intent.passes.slices import slice_body
from intent.physical.walk import reads_of, within


def online(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Fuse normalisations over one axis into one walk, where the options permit it."""
    return rewrite_regions(program, _fused) if permissions.relaxed and permissions.online else program


def _fused(b: Builder, region: ph.Region) -> ph.Region | None:
    for peak in _peaks(b, region):
        late = _late(region, {peak.loop.result.id, peak.value.id})
        sums = _sums(b, region, peak, late)
        made = _rebuilt(b, region, peak, sums, late) if sums else None
        if made is not None:
            return made
    return None


def _late(region: ph.Region, first: set[int]) -> set[int]:
    """Ids of the values that the region's operations make of some of its values, these included."""
    late = set(first)
    for op in region.ops:
        if any(f.id in late for f in reads_of(op)):
            late |= {r.id for r in op.results}
    return late


def _closing(region: ph.Region, f: ph.Fragment, kind: str) -> ph.Reduce | None:
    """The reduction of that kind which is the value's only use."""
    users: list[ph.Op | None] = [op for op in region.ops if any(g.id == f.id for g in reads_of(op))]
    users += [None for g in region.yields if g.id == f.id]
    match users:
        case [ph.Reduce() as op] if op.kind == kind:
            return op
    return None


def _peaks(b: Builder, region: ph.Region) -> Iterator[Peak]:
    """Loops that carry one maximum from -inf on."""
    for loop in region.ops:
        if not isinstance(loop, ph.Loop) or _acts(loop):
            continue
        match running(b.known, loop):
            case Running(init=init, update=ph.Pointwise(fn="maximum"), added=ph.Fragment() as of):
                if b.known.value(init) == -math.inf:
                    yield from _peak(b, region, loop, of)


def _peak(b: Builder, region: ph.Region, loop: ph.Loop, of: ph.Fragment) -> Iterator[Peak]:
    """The maximum over lanes as well, which are reduced behind the loop or in it."""
    closing = _closing(region, loop.result, "max")
    if closing is not None:
        yield Peak(loop=loop, of=of, dims=closing.dims, value=closing.result, closing=closing)
        return
    match b.known.definition.get(of.id):
        case ph.Reduce(kind="max") as inner:
            yield Peak(loop=loop, of=inner.operands[0], dims=inner.dims, value=loop.result, closing=None)


def _acts(op: ph.Op) -> bool:
    return any(isinstance(inner, (*EFFECTS, ph.While)) for inner in within(op))


def _sums(b: Builder, region: ph.Region, peak: Peak, late: set[int]) -> list[Sum]:
    """The loops over the same range whose sums are proportional to ``exp(-m)``, in order."""
    peaks = {peak.value.id, *_guarded(b, region, peak.value)}
    found = []
    for op in region.ops:
        if not isinstance(op, ph.Loop) or not any(f.id in peaks for f in reads_of(op)):
            continue
        if (op.begin, op.end, op.step) != (peak.loop.begin, peak.loop.end, peak.loop.step) or _acts(op):
            continue
        shares = Shares(b, op, peaks, late)
        share = shares.share()
        if share is None:
            return []
        closing = _closing(region, op.result, "sum")
        found.append(
            Sum(share=share, shares=shares, closing=closing, value=closing.result if closing else op.result)
        )
    return found


def _guarded(b: Builder, region: ph.Region, m: ph.Fragment) -> Iterator[int]:
    """Values that stand for ``m`` in exponents."""
    for op in region.ops:
        if isinstance(op, ph.Pointwise) and finite_instead(b.known, op.result) == m:
            yield op.result.id


def _rebuilt(b: Builder, region: ph.Region, peak: Peak, sums: list[Sum], late: set[int]) -> ph.Region | None:
    """The region with one loop in place of all, or None where the bodies do not agree."""
    gone = (
        {id(peak.loop), id(peak.closing)} | {id(s.share.loop) for s in sums} | {id(s.closing) for s in sums}
    )
    places = [k for k, op in enumerate(region.ops) if id(op) in gone]
    between = region.ops[places[0] : places[-1]]
    if any(isinstance(inner, EFFECTS) for op in between for inner in within(op)):
        return None
    waiting: list[ph.Op] = []
    with b.region() as ops:
        for op in region.ops[: places[-1]]:
            if id(op) in gone:
                continue
            if any(f.id in late for f in reads_of(op)):
                waiting.append(op)
            else:
                b.keep(op)
        if not _joined(b, peak, sums, waiting):
            return None
        for op in region.ops[places[-1] + 1 :]:
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
            if not any(f.id in missing for f in reads_of(op)):
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
