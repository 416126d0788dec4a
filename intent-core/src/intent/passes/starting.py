"""What is added to a product is where the product's accumulation starts.

Requires: a verified program. Ensures: the same sums, one accumulator less in registers; the language permits both
(docs/language.md): ``contract(a, b) + c`` may start from ``c``.

    %c = loop inits=(%zero) { contract accumulator=%arg }         %y = loop inits=(%x) { contract accumulator=%arg }
    %y = add(%x, %c)                                         ->

The same holds for a contraction without a loop. Nothing else may use the product, and what is added must be there
before the loop begins.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.permissions import Permissions
from intent.passes.rewriting import rewrite_regions
from intent.physical.walk import operands_of, regions_of, walk


def starting(program: ph.Program, permissions: Permissions) -> ph.Program:
    """Start accumulations from what is added to them."""
    del permissions  # the language itself leaves this room
    return rewrite_regions(program, _started)


def _started(b: Builder, region: ph.Region) -> ph.Region | None:
    if not any(isinstance(op, ph.Contract) for op in walk(region)):
        return None
    uses = _uses(region)
    place = {r.id: k for k, op in enumerate(region.ops) for r in op.results}
    for at, op in enumerate(region.ops):
        if not isinstance(op, ph.Pointwise) or op.fn != "add":
            continue
        for k in (0, 1):
            product, added = op.operands[k], op.operands[1 - k]
            made = place.get(product.id)
            if made is None or uses[product.id] > 1 or added.dims != product.dims:
                continue
            source = region.ops[made]
            ops = list(region.ops)
            if isinstance(source, ph.Contract) and source.accumulator is None:
                ops[at] = replace(source, results=op.results, accumulator=added, origin=op.origin)
                del ops[made]
            elif isinstance(source, ph.Loop) and place.get(added.id, -1) < made:
                loop = _from(b, source, product, added, op.result)
                if loop is None:
                    continue
                ops[made] = loop
                del ops[at]
            else:
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
    if _uses(loop.body)[carry.id] != 1:
        return False
    op = next((op for op in loop.body.ops if result in op.results), None)
    if isinstance(op, ph.Contract):
        return op.accumulator == carry
    if isinstance(op, ph.Loop) and not op.summary:
        j = op.results.index(result)
        return op.inits[j] == carry and _accumulates(op, j)
    return False


def _uses(region: ph.Region) -> Counter[int]:
    """How often each value is read in a region and in the ones inside."""
    found: Counter[int] = Counter(f.id for f in region.yields)
    for op in walk(region):
        found.update(f.id for f in operands_of(op))
        for inner in regions_of(op):
            found.update(f.id for f in inner.yields)
    return found
