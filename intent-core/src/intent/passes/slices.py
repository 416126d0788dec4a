"""The body of an online normalisation whose slices are whole blocks: each has a maximum and sums of its own.

    p = max(x);  w = exp(x - p);  m, t = max(m, p), t * exp(m - max(m, p)) + sum(w) * exp(p - max(m, p))

That is the loop of a region fold, and the only form where a contraction weighs the exponentials.
"""

from __future__ import annotations

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.normalisation import Joined, Peak, Sum, consistent, guarded, rescaled, same_under


def slice_body(
    b: Builder, peak: Peak, sums: list[Sum], counter: ph.Fragment, carries: tuple[ph.Fragment, ...]
) -> tuple[tuple[ph.Fragment, ...], tuple[ph.Fragment, ...]] | None:
    """Yields and summary of the common loop: the slice's own maximum and sums, merged with the carries."""
    b.span, b.origin = peak.loop.span, peak.loop.origin
    begin = Joined(b, {peak.loop.body.args[0].id: counter}, {})
    begin.ops(peak.loop.body.ops[:-1] if peak.closing else peak.loop.body.ops)
    of = begin.get(peak.of)
    m = carries[0]
    lanes = b.broadcast(of, peak.dims)
    part = b.add(ph.Reduce, m.dtype, m.dims, name=m.name, operands=(lanes,), dims=peak.dims, kind="max")
    top = b.pointwise("maximum", m, part, name=m.name)
    safe = guarded(b, top)
    yields, summary = [top], [part]
    for s, carry in zip(sums, carries[1:], strict=True):
        added = _added(b, s, peak, counter, guarded(b, part), of)
        if added is None:
            return None
        b.span, b.origin = s.share.loop.span, s.share.loop.origin
        before = b.pointwise("mul", carry, rescaled(b, s, m, safe))
        yields.append(
            b.pointwise("add", before, b.pointwise("mul", added, rescaled(b, s, part, safe)), name=carry.name)
        )
        summary.append(added)
    if any(y.dims != c.dims for y, c in zip(yields, carries, strict=True)):
        return None
    return tuple(yields), tuple(summary)


def _added(
    b: Builder, s: Sum, peak: Peak, counter: ph.Fragment, safe: ph.Fragment, of: ph.Fragment
) -> ph.Fragment | None:
    """What the slice adds, its exponentials taken from the slice's own maximum; None if it is of something else."""
    share, shares = s.share, s.shares
    names = {share.loop.body.args[0].id: counter, **dict.fromkeys(shares.peaks, safe)}
    copier = Joined(b, names, shares.taken_out)
    copier.ops(tuple(op for op in share.loop.body.ops if op is not share.last))
    if not consistent(shares):
        return None
    masks = [copier.get(f) for f in shares.masks]
    if not all(same_under(b, of, copier.get(op.operands[0]), masks) for op in shares.exponents):
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
