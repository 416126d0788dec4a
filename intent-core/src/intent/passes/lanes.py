"""The body of an online normalisation in which every lane goes its own way; lanes meet once, behind the loop.

    for i:                                              M = max(m)
      up = x > m                                        T = sum(t * exp(m - M))
      e = exp(min(m, x) - max(m, x))
      m, t = max(m, x), t * (e if up else 1) + w * (1 if up else e)

A lane's slices are single members, so one of the two factors is exp(0), which is 1: one exponential a member, and
nothing in the loop that lanes have to agree on. A contraction sums lanes in the loop, and has no such form.

Of a long block every lane takes one member from each of its parts (``parts``) at once, and is rescaled once for them:

    p = max(x0, .., x3);  a = exp(m - max(m, p));  m, t = max(m, p), t * a + exp(x0 - max(m, p)) + ..
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.normalisation import Joined, Peak, Sum, consistent, guarded, rescaled, same_under
from intent.passes.parts import Parts


def by_lanes(peak: Peak, sums: Sequence[Sum]) -> bool:
    """Whether maximum and sums keep their lanes until behind the loop, all of them the same ones."""
    if peak.closing is None:
        return False
    dims = set(peak.closing.dims)
    return all(
        s.closing is not None and s.share.added is not None and set(s.closing.dims) == dims for s in sums
    )


def parts_of(b: Builder, peak: Peak, sums: Sequence[Sum]) -> Parts | None:
    """The block's parts, where it is long and all that is summed can be computed for each of them alone."""
    assert peak.closing is not None
    if len(peak.closing.dims) != 1:
        return None
    return Parts.of(b, peak.closing.dims[0], [peak.loop, *(s.share.loop for s in sums)])


def lane_body(
    b: Builder,
    peak: Peak,
    sums: Sequence[Sum],
    counter: ph.Fragment,
    carries: tuple[ph.Fragment, ...],
    parts: Parts | None,
) -> tuple[tuple[ph.Fragment, ...], tuple[ph.Fragment, ...]] | None:
    """Yields and summary of the common loop: every member merged with the carries of its lane.

    The summary is the greatest member and what all add: -inf, which adds 0, leaves the carries as they are.
    """
    b.span, b.origin = peak.loop.span, peak.loop.origin
    m, members = carries[0], []
    for k in range(1 if parts is None else len(parts.places)):
        names = {peak.loop.body.args[0].id: counter, **(parts.names(k) if parts else {})}
        copier = Joined(b, names, {})
        copier.ops(parts.retyped(peak.loop.body.ops) if parts else peak.loop.body.ops)
        members.append(copier.get(peak.of))
    wide = [b.broadcast(x, m.dims) for x in members]
    x = wide[0]
    for other in wide[1:]:
        x = b.pointwise("maximum", x, other)
    top = b.pointwise("maximum", m, x, name=m.name)
    safe = guarded(b, top)
    yields, summary = [top], [x]
    for s, carry in zip(sums, carries[1:], strict=True):
        b.span, b.origin = s.share.loop.span, s.share.loop.origin
        if parts is None:
            kept, weight = _alone(b, s, m, x, safe)
            added = _added(
                b, s, counter, {e.result.id: weight for e in s.shares.exponentials}, members[0], None, 0
            )
        else:
            kept, names = rescaled(b, s, m, safe), dict.fromkeys(s.shares.peaks, safe)
            added = None
            for k, member in enumerate(members):
                term = _added(b, s, counter, names, member, parts, k)
                if term is None:
                    return None
                added = term if added is None else b.pointwise("add", added, term)
        if added is None:
            return None
        yields.append(b.pointwise("add", b.pointwise("mul", carry, kept), added, name=carry.name))
        summary.append(b.broadcast(added, carry.dims))
    if any(y.dims != c.dims for y, c in zip(yields, carries, strict=True)):
        return None
    return tuple(yields), tuple(summary)


def _alone(
    b: Builder, s: Sum, m: ph.Fragment, x: ph.Fragment, safe: ph.Fragment
) -> tuple[ph.Fragment, ph.Fragment]:
    """Factors of what the lane has and of its one new member: one is 1, the other the only exponential."""
    up, one = b.compare("gt", x, m), b.constant(1.0, x.dtype)
    step = rescaled(b, s, b.pointwise("minimum", m, x), safe)
    return b.pointwise("select", up, step, one), b.pointwise("select", up, one, step)


def _added(
    b: Builder,
    s: Sum,
    counter: ph.Fragment,
    known: Mapping[int, ph.Fragment],
    of: ph.Fragment,
    parts: Parts | None,
    number: int,
) -> ph.Fragment | None:
    """What every lane adds, ``known`` values given; None if its exponentials are of something else than ``of``."""
    share, shares = s.share, s.shares
    assert share.added is not None
    names = {share.loop.body.args[0].id: counter, **known, **(parts.names(number) if parts else {})}
    copier = Joined(b, names, shares.taken_out)
    ops = tuple(op for op in share.loop.body.ops if op is not share.last)
    copier.ops(parts.retyped(ops) if parts else ops)
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
    parts: Parts | None,
) -> None:
    """Behind the loop: the lanes' maxima and sums become ``results``."""
    assert peak.closing is not None
    b.append(_reduced(peak.closing, b.fresh(), carried[0], results[0], parts))
    safe = guarded(b, results[0])
    for s, lanes, result in zip(sums, carried[1:], results[1:], strict=True):
        assert s.closing is not None
        b.span, b.origin = s.share.loop.span, s.share.loop.origin
        weighed = b.pointwise("mul", lanes, rescaled(b, s, carried[0], safe))
        b.append(_reduced(s.closing, b.fresh(), weighed, result, parts))


def _reduced(
    closing: ph.Reduce, number: int, value: ph.Fragment, result: ph.Fragment, parts: Parts | None
) -> ph.Reduce:
    """The same reduction of another value, over the lanes of one part where there are parts."""
    dims = parts.dims(closing.dims) if parts else closing.dims
    return replace(closing, id=number, operands=(value,), results=(result,), dims=dims)
