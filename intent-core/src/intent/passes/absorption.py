"""A fold's carry goes into its slice: the factor of every row moves inside sums and products, and meets an exponent.

Requires: a verified program. Ensures: results that differ by the roundings in which the two sides of the author's
law differ anyway (docs/numerics.md has the argument and a bound).

    %w = exp2(%l - %p)                                       %w = exp2(%l - %m)
    %s = contract lhs=cast(%w) rhs=%v                  ->    %y = contract lhs=cast(%w) rhs=%v accumulator=%x * %a
    %y = %x * %a + %s * exp2(%p - %m)

Matched are the carries' next values: ``x + f * s`` where ``s`` is a sum or contraction over lanes and ``f`` has
none of those lanes. The factor goes through the sum into its operand, through masks and a cast to 16 bits, to an
exponential that it cancels with: ``exp(a - b) * exp(b - c)`` is ``exp(a - c)``. Where ``b`` is the guarded maximum
``select(p == -inf, 0, p)`` of ``a``, both sides are 0 for ``p == -inf``, since then ``a`` is ``-inf`` throughout: a
slice without a member meets no ``inf - inf`` that it did not meet before. All carries that have such factors are
rewritten, or none; what decides is the number of operations, weighted by lanes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import prod

from intent import physical as ph
from intent.construct.cleanup import remove_dead
from intent.passes.building import Builder
from intent.passes.exponents import Exponents
from intent.passes.permissions import Permissions
from intent.passes.rewriting import rewrite_loops
from intent.physical.walk import walk

Sum = ph.Contract | ph.Reduce


def absorption(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Absorb the carries of folds into their slices where that is less work."""
    if not permissions.fold_law:
        return program
    return rewrite_loops(program, _absorb)


@dataclass(frozen=True, kw_only=True)
class _Match:
    """``rest + factor * total``: one carry's next value."""

    rest: ph.Fragment
    factor: ph.Fragment
    total: Sum


def _absorb(b: Builder, loop: ph.Loop) -> bool:
    if not loop.summary:
        return False
    matches = [_match(b, y) for y in loop.body.yields]
    if not any(matches):
        return False
    with b.region() as ops:
        for op in loop.body.ops:
            b.keep(op)
        yields = []
        for y, match in zip(loop.body.yields, matches, strict=True):
            new = y if match is None else _rewritten(b, match, y)
            if new is None:
                return False
            yields.append(new)
        needed = {y.id for y in yields} | {test.id for n in loop.narrowed for test in n.tests}
        body = remove_dead(replace(loop.body, ops=tuple(ops), yields=tuple(yields)), needed)
    if _work(body) >= _work(loop.body):
        return False
    b.append(replace(loop, body=body, summary=()))
    return True


def _match(b: Builder, y: ph.Fragment) -> _Match | None:
    for product, rest in _sides(b, y, "add"):
        for total, factor in reversed(_sides(b, product, "mul")):
            match b.known.definition.get(total.id):
                case (ph.Contract(accumulator=None) | ph.Reduce(kind="sum")) as found:
                    return _Match(rest=rest, factor=factor, total=found)
    return None


def _sides(b: Builder, value: ph.Fragment, fn: str) -> tuple[tuple[ph.Fragment, ph.Fragment], ...]:
    """Each operand of a function that does not mind their order, the right one first, and the other one."""
    match b.known.definition.get(value.id):
        case ph.Pointwise(operands=(left, right)) as op if op.fn == fn:
            return (right, left), (left, right)
    return ()


def _rewritten(b: Builder, match: _Match, y: ph.Fragment) -> ph.Fragment | None:
    """The next value with the factor inside, or None where it meets no exponential that it cancels with."""
    total = match.total
    if isinstance(total, ph.Reduce):
        inner = Exponents(b).times(total.operands[0], match.factor)
        if inner is None:
            return None
        b.span, b.origin = total.span, total.origin
        part = b.add(
            ph.Reduce, y.dtype, total.result.dims, name=y.name, operands=(inner,), dims=total.dims, kind="sum"
        )
        return b.pointwise("add", match.rest, part, name=y.name)
    for side in ("lhs", "rhs"):
        operand = getattr(total, side)
        if not {*match.factor.dims} <= {*operand.dims}:
            continue
        inner = Exponents(b).times(operand, match.factor)
        if inner is not None:
            b.span, b.origin = total.span, total.origin
            sides = {"lhs": total.lhs, "rhs": total.rhs, side: inner}
            start = b.broadcast(match.rest, total.result.dims)
            return b.add(
                ph.Contract, y.dtype, y.dims, name=y.name, **sides, accumulator=start, dims=total.dims
            )
    return None


_HEAVY = {"exp": 8, "exp2": 4, "div": 4}


def _work(region: ph.Region) -> int:
    """Operations of a pass, each as often as it has lanes; contractions are the same on both sides."""
    total = 0
    for op in walk(region):
        if isinstance(op, ph.Pointwise | ph.Cast):
            weight = _HEAVY.get(op.fn, 1) if isinstance(op, ph.Pointwise) else 1
            total += weight * prod(d.size for d in op.result.dims)
    return total
