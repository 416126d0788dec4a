"""What is added to a product is where the product's accumulation starts.

Requires: a verified program. Ensures: the same sums, one accumulator less in registers; the language permits both
(docs/language.md): ``contract(a, b) + c`` may start from ``c``.

    %c = loop inits=(%zero) { contract accumulator=%arg }         %y = loop inits=(%x) { contract accumulator=%arg }
    %y = add(%x, %c)                                         ->

The same holds for a contraction without a loop. Nothing else may use the product, and what is added must be there
before the loop begins.
"""

from __future__ import annotations

from dataclasses import replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.permissions import Permissions
from intent.passes.rewriting import rewrite_regions
from intent.passes.uses import users_in
from intent.physical.walk import walk


def starting(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Start accumulations from what is added to them."""
    del permissions  # the language itself leaves this room
    return rewrite_regions(program, _started)


def _started(b: Builder, region: ph.Region) -> ph.Region | None:
    if not any(isinstance(op, ph.Contract) for op in walk(region)):
        return None
    users = users_in(region)
    place = {r.id: k for k, op in enumerate(region.ops) for r in op.results}
    for at, op in enumerate(region.ops):
        match op:
            case ph.Pointwise(fn="add", operands=(left, right)):
                sides = ((left, right), (right, left))
            case _:
                continue
        for product, added in sides:
            made = place.get(product.id)
            if made is None or len(users[product.id]) > 1 or added.dims != product.dims:
                continue
            ops = list(region.ops)
            match region.ops[made]:
                case ph.Contract(accumulator=None) as source:
                    ops[at] = replace(source, results=op.results, accumulator=added, origin=op.origin)
                    del ops[made]
                case ph.Loop() as source if place.get(added.id, -1) < made:
                    loop = _from(b, source, product, added, op.result)
                    if loop is None:
                        continue
                    ops[made] = loop
                    del ops[at]
                case _:
                    continue
            return replace(region, ops=tuple(ops))
    return None


def _from(
    b: Builder, loop: ph.Loop, product: ph.Fragment, start: ph.Fragment, total: ph.Fragment
) -> ph.Loop | None:
    """The loop that accumulates ``product`` from ``start``, which makes it ``total``."""
    k = loop.results.index(product)
    if loop.summary or b.known.value(loop.inits[k]) != 0 or not _accumulates(loop, k):
        return None
    inits, results = list(loop.inits), list(loop.results)
    inits[k], results[k] = start, total
    return replace(loop, inits=tuple(inits), results=tuple(results))


def _accumulates(loop: ph.Loop, k: int) -> bool:
    """Whether all that becomes of a carry is that contractions add to it."""
    carry, result = loop.body.args[k + 1], loop.body.yields[k]
    if len(users_in(loop.body)[carry.id]) != 1:
        return False
    match next((op for op in loop.body.ops if result in op.results), None):
        case ph.Contract(accumulator=start):
            return start == carry
        case ph.Loop(summary=()) as inner:
            j = inner.results.index(result)
            return inner.inits[j] == carry and _accumulates(inner, j)
    return False
