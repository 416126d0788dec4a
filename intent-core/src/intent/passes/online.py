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
from dataclasses import dataclass, replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.copying import EFFECTS, Copier
from intent.passes.permissions import Permissions
from intent.passes.rewriting import rewrite_regions
from intent.passes.shares import Share, Shares
from intent.physical.walk import operands_of, regions_of, walk


def online(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Fuse normalisations over one axis into one walk, where the options permit it."""
    return rewrite_regions(program, _fused) if permissions.relaxed else program


@dataclass(frozen=True, kw_only=True)
class _Peak:
    """A running maximum: its loop, what it is the maximum of, and the value that the others subtract."""

    loop: ph.Loop
    of: ph.Fragment
    dims: tuple[ph.Dim, ...]
    value: ph.Fragment
    closing: ph.Reduce | None


@dataclass(frozen=True, kw_only=True)
class _Sum:
    """A loop that adds up shares; ``closing`` joins its lanes behind the loop and ``value`` is the outcome."""

    share: Share
    shares: Shares
    closing: ph.Reduce | None
    value: ph.Fragment


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


def _peaks(b: Builder, region: ph.Region, users: dict[int, list[ph.Op | None]]) -> Iterator[_Peak]:
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
            yield _Peak(loop=loop, of=of, dims=closing.dims, value=closing.result, closing=closing)
        elif isinstance(inner, ph.Reduce) and inner.kind == "max":
            yield _Peak(loop=loop, of=inner.operands[0], dims=inner.dims, value=loop.result, closing=None)


def _acts(loop: ph.Loop) -> bool:
    return any(isinstance(op, (*EFFECTS, ph.While)) for op in walk(loop.body))


def _sums(b: Builder, region: ph.Region, peak: _Peak, users: dict[int, list[ph.Op | None]]) -> list[_Sum]:
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
            _Sum(share=share, shares=shares, closing=closing, value=closing.result if closing else op.result)
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


class _Joined(Copier):
    """Copies a loop's body into the common one: late factors left out, equal reads and products made once."""

    def __init__(self, b: Builder, names: dict[int, ph.Fragment], taken_out: dict[int, ph.Fragment]) -> None:
        super().__init__(b, names, still=True)
        self._taken_out = taken_out

    def _simplified(self, op: ph.Op) -> ph.Fragment | None:
        kept = self._taken_out.get(op.id)
        return super()._simplified(op) if kept is None else self.get(kept)


def _rebuilt(b: Builder, region: ph.Region, peak: _Peak, sums: list[_Sum]) -> ph.Region | None:
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


def _joined(b: Builder, peak: _Peak, sums: list[_Sum], waiting: list[ph.Op]) -> bool:
    """The common loop, and behind it what waited for its results."""
    loop = peak.loop
    counter = b.renewed(loop.body.args[0])
    m = b.fragment(peak.of.dtype, (d for d in peak.of.dims if d not in peak.dims), peak.value.name)
    carries = [b.fragment(s.value.dtype, s.value.dims, s.value.name) for s in sums]
    with b.region() as ops:
        made = _body(b, peak, sums, counter, (m, *carries))
    if made is None:
        return False
    yields, summary = made
    start = b.constant(-math.inf, m.dtype, m.dims)
    inits = [b.constant(0.0, c.dtype, c.dims) for c in carries]
    results = [peak.value, *(b.renewed(s.value) if s.share.after else s.value for s in sums)]
    body = ph.Region(args=(counter, m, *carries), ops=tuple(ops), yields=yields)
    b.append(
        replace(
            loop,
            id=b.fresh(),
            results=tuple(results),
            inits=(start, *inits),
            body=body,
            summary=summary,
        )
    )
    pending = [(s, r) for s, r in zip(sums, results[1:], strict=True) if s.share.after]
    return _behind(b, waiting, pending)


def _behind(b: Builder, waiting: list[ph.Op], pending: list[tuple[_Sum, ph.Fragment]]) -> bool:
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


def _scaled(b: Builder, s: _Sum, raw: ph.Fragment) -> None:
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


def _body(
    b: Builder, peak: _Peak, sums: list[_Sum], counter: ph.Fragment, carries: tuple[ph.Fragment, ...]
) -> tuple[tuple[ph.Fragment, ...], tuple[ph.Fragment, ...]] | None:
    """Yields and summary of the common loop: the slice's own maximum and sums, merged with the carries."""
    b.span, b.origin = peak.loop.span, peak.loop.origin
    begin = _Joined(b, {peak.loop.body.args[0].id: counter}, {})
    begin.ops(peak.loop.body.ops[:-1] if peak.closing else peak.loop.body.ops)
    of = begin.get(peak.of)
    m = carries[0]
    lanes = b.broadcast(of, peak.dims)
    part = b.add(ph.Reduce, m.dtype, m.dims, name=m.name, operands=(lanes,), dims=peak.dims, kind="max")
    nothing, zero = b.constant(-math.inf, m.dtype), b.constant(0.0, m.dtype)

    def guarded(x: ph.Fragment) -> ph.Fragment:
        return b.pointwise("select", b.compare("eq", x, nothing), zero, x)

    top = b.pointwise("maximum", m, part, name=m.name)
    safe = guarded(top)
    yields, summary = [top], [part]
    for s, carry in zip(sums, carries[1:], strict=True):
        added = _added(b, s, peak, counter, guarded(part), of)
        if added is None:
            return None
        b.span, b.origin = s.share.loop.span, s.share.loop.origin
        like, scale = s.shares.exponentials[0], s.shares.scales[0]

        def factor(
            x: ph.Fragment, like: ph.Pointwise = like, scale: ph.Fragment | None = scale
        ) -> ph.Fragment:
            gap = b.pointwise("sub", x, safe)
            gap = gap if scale is None else b.pointwise("mul", gap, scale)
            return b.pointwise(like.fn, gap, approximate=like.approximate, flush_to_zero=like.flush_to_zero)

        before = b.pointwise("mul", carry, factor(m))
        yields.append(b.pointwise("add", before, b.pointwise("mul", added, factor(part)), name=carry.name))
        summary.append(added)
    if any(y.dims != c.dims for y, c in zip(yields, carries, strict=True)):
        return None
    return tuple(yields), tuple(summary)


def _added(
    b: Builder, s: _Sum, peak: _Peak, counter: ph.Fragment, safe: ph.Fragment, of: ph.Fragment
) -> ph.Fragment | None:
    """What the slice adds, its exponentials taken from the slice's own maximum; None if it is of something else."""
    share, shares = s.share, s.shares
    names = {share.loop.body.args[0].id: counter, **dict.fromkeys(shares.peaks, safe)}
    copier = _Joined(b, names, shares.taken_out)
    copier.ops(tuple(op for op in share.loop.body.ops if op is not share.last))
    masks = [copier.get(f) for f in shares.masks]
    if not all(_same_under(b, of, copier.get(op.operands[0]), masks) for op in shares.exponents):
        return None
    if len({(e.fn, e.approximate, e.flush_to_zero) for e in shares.exponentials}) != 1:
        return None
    if len(set(shares.scales)) != 1:
        return None
    if share.added is None:
        last = share.last
        assert isinstance(last, ph.Contract)
        added = b.add(
            ph.Contract, last.result.dtype, last.result.dims, name=s.value.name,
            lhs=copier.get(last.lhs), rhs=copier.get(last.rhs), accumulator=None, dims=last.dims,
        )  # fmt: skip
    else:
        added = copier.get(share.added)
    if s.closing is None:
        return added
    lanes = b.broadcast(added, s.closing.dims)
    return b.add(
        ph.Reduce,
        s.value.dtype,
        s.value.dims,
        name=s.value.name,
        operands=(lanes,),
        dims=s.closing.dims,
        kind="sum",
    )


def _same_under(b: Builder, of: ph.Fragment, x: ph.Fragment, masks: list[ph.Fragment]) -> bool:
    """Whether the maximum is over ``x`` itself, but for lanes that the sum's masks leave out as well."""
    while of != x:
        op = b.known.definition.get(of.id)
        if not isinstance(op, ph.Pointwise) or op.fn != "select" or op.operands[0] not in masks:
            return False
        of = op.operands[1]
    return True
