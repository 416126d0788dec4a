"""The body of an online normalisation in which every lane goes its own way; lanes meet once, behind the loop.

    for i:                                              M = max(m)
      up = x > m                                        T = sum(t * exp(m - M))
      e = exp(min(m, x) - max(m, x))
      m, t = max(m, x), t * (e if up else 1) + w * (1 if up else e)

A lane's slices are single members, so one of the two factors is exp(0), which is 1: one exponential a member, and
nothing in the loop that lanes have to agree on. A contraction sums lanes in the loop, and has no such form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.normalisation import Joined, Peak, Sum, consistent, guarded, rescaled, same_under


def by_lanes(peak: Peak, sums: Sequence[Sum]) -> bool:
    """Whether maximum and sums keep their lanes until behind the loop, all of them the same ones."""
    if peak.closing is None:
        return False
    dims = set(peak.closing.dims)
    return all(
        s.closing is not None and s.share.added is not None and set(s.closing.dims) == dims for s in sums
    )


def lane_body(
    b: Builder, peak: Peak, sums: Sequence[Sum], counter: ph.Fragment, carries: tuple[ph.Fragment, ...]
) -> tuple[tuple[ph.Fragment, ...], tuple[ph.Fragment, ...]] | None:
    """Yields and summary of the common loop: every member merged with the carries of its lane.

    The summary is the member and what it adds: -inf, which adds 0, leaves the carries as they are.
    """
    b.span, b.origin = peak.loop.span, peak.loop.origin
    begin = Joined(b, {peak.loop.body.args[0].id: counter}, {})
    begin.ops(peak.loop.body.ops)
    m, of = carries[0], begin.get(peak.of)
    x = b.broadcast(of, m.dims)
    up = b.compare("gt", x, m)
    top = b.pointwise("maximum", m, x, name=m.name)
    low, safe = b.pointwise("minimum", m, x), guarded(b, top)
    one = b.constant(1.0, x.dtype)
    yields, summary = [top], [x]
    for s, carry in zip(sums, carries[1:], strict=True):
        b.span, b.origin = s.share.loop.span, s.share.loop.origin
        step = rescaled(b, s, low, safe)
        added = _added(b, s, counter, b.pointwise("select", up, one, step), of)
        if added is None:
            return None
        before = b.pointwise("mul", carry, b.pointwise("select", up, step, one))
        yields.append(b.pointwise("add", before, added, name=carry.name))
        summary.append(b.broadcast(added, carry.dims))
    if any(y.dims != c.dims for y, c in zip(yields, carries, strict=True)):
        return None
    return tuple(yields), tuple(summary)


def _added(
    b: Builder, s: Sum, counter: ph.Fragment, weight: ph.Fragment, of: ph.Fragment
) -> ph.Fragment | None:
    """What every lane adds with ``weight`` for its exponential; None if that is of something else."""
    share, shares = s.share, s.shares
    assert share.added is not None
    names = {share.loop.body.args[0].id: counter, **{e.result.id: weight for e in shares.exponentials}}
    copier = Joined(b, names, shares.taken_out)
    copier.ops(tuple(op for op in share.loop.body.ops if op is not share.last))
    masks = [copier.get(f) for f in shares.masks]
    if not consistent(shares):
        return None
    if not all(same_under(b, of, copier.get(op.operands[0]), masks) for op in shares.exponents):
        return None
    return copier.get(share.added)


def lanes_joined(
    b: Builder,
    peak: Peak,
    sums: Sequence[Sum],
    carried: Sequence[ph.Fragment],
    results: Sequence[ph.Fragment],
) -> None:
    """Behind the loop: the lanes' maxima and sums become ``results``."""
    assert peak.closing is not None
    b.append(_reduced(peak.closing, b.fresh(), carried[0], results[0]))
    safe = guarded(b, results[0])
    for s, lanes, result in zip(sums, carried[1:], results[1:], strict=True):
        assert s.closing is not None
        b.span, b.origin = s.share.loop.span, s.share.loop.origin
        weighed = b.pointwise("mul", lanes, rescaled(b, s, carried[0], safe))
        b.append(_reduced(s.closing, b.fresh(), weighed, result))


def _reduced(closing: ph.Reduce, number: int, value: ph.Fragment, result: ph.Fragment) -> ph.Reduce:
    """The same reduction of another value."""
    return replace(closing, id=number, operands=(value,), results=(result,))
