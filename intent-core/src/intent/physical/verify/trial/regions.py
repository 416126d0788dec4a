"""Region folds and region scans of the logical side, cut into slices of a given length.

Any segmentation is the same program by the author's laws (spec: logical-program 5). The one taken here is that of
the physical program, so that laws which hold for numbers but not in the ring make no difference.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from intent import kir
from intent.physical.verify.trial.logical import Logical, Undecided, handles
from intent.physical.verify.trial.ring import Array
from intent.physical.verify.trial.structured import LAWS, all_equal

__all__: Final[list[str]] = []

Region = kir.RegionFold | kir.RegionScan
Parts = tuple[Array, ...]


def _slices(m: Logical, op: Region) -> Iterator[Parts]:
    """The source's components, slice by slice; the slice extent is bound to each slice's length."""
    sources = [m[v] for v in op.source]
    total = sources[0].shape[op.axis]
    block = m.blocks.get(op.id) or max(1, total)
    atoms = tuple(op.slice_extent.atoms())
    for begin in range(0, total, block):
        end = min(begin + block, total)
        for atom in atoms:
            m.slices[atom] = end - begin
        where = (slice(None),) * op.axis + (slice(begin, end),)
        yield tuple(x[where] for x in sources)
    for atom in atoms:
        m.slices.pop(atom, None)


def _identity(m: Logical, op: Region) -> Parts:
    return tuple(
        np.broadcast_to(m[v], m.size(y.shape)) if y.shape else m[v]
        for v, y in zip(op.identity, op.combine.yields, strict=True)
    )


def _require_laws(m: Logical, combine: kir.Region, summaries: Sequence[Parts], empty: Parts) -> None:
    """Raise Undecided where the author's combine has no identity or is not associative on these summaries."""

    def both(a: Parts, b: Parts) -> Parts:
        return m.region(combine, (*a, *b))

    equal = [(both(*pair), s) for s in summaries for pair in ((empty, s), (s, empty))]
    for a, b, c in zip(summaries, summaries[1:], summaries[2:], strict=False):
        equal.append((both(both(a, b), c), both(a, both(b, c))))
    if not all_equal(equal):
        raise Undecided(LAWS)


@handles(kir.RegionFold)
def _fold(m: Logical, op: kir.RegionFold) -> None:
    captures = tuple(m[v] for v in op.captures)
    total = empty = _identity(m, op)
    summaries = [m.region(op.summarize, (*part, *captures)) for part in _slices(m, op)]
    if m.in_order:
        _require_laws(m, op.combine, summaries, empty)
    for summary in summaries:
        total = m.region(op.combine, (*total, *summary))
    for value, array in zip(op.results, total, strict=True):
        m[value] = array


@handles(kir.RegionScan)
def _scan(m: Logical, op: kir.RegionScan) -> None:
    """The state goes through the slices, as the law of action allows."""
    captures = tuple(m[v] for v in op.captures)
    state = tuple(m[v] for v in op.initial)
    emitted: list[Parts] = []
    for part in _slices(m, op):
        emitted.append(m.region(op.emit, (*part, *state, *captures)))
        summary = m.region(op.summarize, (*part, *captures))
        state = m.region(op.apply, (*summary, *state))
    outputs = op.results[: op.outputs]
    for k, value in enumerate(outputs):
        if emitted:
            m[value] = np.concatenate([e[k] for e in emitted], axis=op.output_axis)
        else:
            m[value] = np.zeros(m.size(value.shape), np.int64)
    for value, array in zip(op.results[op.outputs :], state, strict=True):
        m[value] = array
