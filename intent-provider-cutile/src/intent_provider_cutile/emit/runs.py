"""Loops over rows that begin anywhere: the rows of a pass are a slice of their arrays, read and written as one tile.

A pass that owns rows ``base + lane`` under a mask has a run of rows: the mask is made of comparisons of such sums with
numbers, so that the lanes it leaves are neighbours. Where the rows matter to nothing but reads and writes of exactly
these rows, lane 0 may as well be the first row of the run, and what lies behind the last one is neither read nor
written. A pass without rows does nothing at all, so that no tile is ever outside its array.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intent.physical import (
    Atomic,
    Broadcast,
    BufferAlloc,
    Cast,
    Contract,
    Dim,
    Fence,
    Fragment,
    Histogram,
    Lane,
    Load,
    Loop,
    Op,
    Pointwise,
    Program,
    Reduce,
    Region,
    Rename,
    Scan,
    Store,
)
from intent.physical.walk import operands_of, regions_of, walk
from intent_provider_cutile.emit.lanes import leaves_zeros, origin

_COMPARISONS = frozenset({"lt", "le", "gt", "ge"})
_EFFECTS = (Atomic, BufferAlloc, Fence, Store)
_ACROSS = (Contract, Reduce, Histogram)
_KEEPS = (Pointwise, Broadcast, Cast)
"""What makes numbers of lanes into other values, lane by lane."""


@dataclass(frozen=True, kw_only=True)
class Run:
    """The rows of a pass: ``coordinate`` along the lanes of ``dim``, of which ``valid`` says whether they exist."""

    region: Region
    dim: Dim
    coordinate: Fragment
    valid: Fragment

    def axis(self, op: Load | Store) -> int | None:
        """The axis along which an access has exactly these rows, or None."""
        if op.valid is None or op.valid.id != self.valid.id:
            return None
        along = [k for k, c in enumerate(op.coordinates) if self.dim in c.dims]
        return along[0] if len(along) == 1 and op.coordinates[along[0]].id == self.coordinate.id else None


def runs_of(program: Program, defined: Mapping[int, Op]) -> Iterator[Run]:
    """The runs of all loops that write rows of a run and nothing else."""
    for segment in program.segments:
        for op in walk(segment.body):
            if isinstance(op, Loop) and not op.inits:
                run = _run(op.body, defined)
                if run is not None and _nameless(segment.body, run, defined):
                    yield run


def _run(region: Region, defined: Mapping[int, Op]) -> Run | None:
    """What all stores of a region have in common."""
    effects = [op for op in walk(region) if isinstance(op, _EFFECTS)]
    stores = [op for op in effects if isinstance(op, Store)]
    if not stores or len(stores) < len(effects):
        return None
    valid = stores[0].valid
    if valid is None or len(valid.dims) != 1:
        return None
    (dim,) = valid.dims
    coordinate = next((c for c in stores[0].coordinates if dim in c.dims), None)
    own = {r.id for op in region.ops for r in op.results}
    if coordinate is None or not own.issuperset((valid.id, coordinate.id)):
        return None
    run = Run(region=region, dim=dim, coordinate=coordinate, valid=valid)
    neighbours = _counts(coordinate, defined) and _interval(valid, defined)
    return run if neighbours and all(run.axis(op) is not None for op in stores) else None


def _counts(value: Fragment, defined: Mapping[int, Op]) -> bool:
    """Whether a value is a number plus the lanes of a dim."""
    op = origin(defined, value)
    if not isinstance(op, Pointwise) or op.fn not in ("add", "sub"):
        return isinstance(op, Lane)
    first, second = op.operands
    if not second.dims:
        return _counts(first, defined)
    return op.fn == "add" and not first.dims and _counts(second, defined)


def _interval(valid: Fragment, defined: Mapping[int, Op]) -> bool:
    """Whether the lanes for which a condition holds are neighbours."""
    if not valid.dims:
        return True
    op = origin(defined, valid)
    if not isinstance(op, Pointwise):
        return False
    if op.fn == "and":
        return all(_interval(operand, defined) for operand in op.operands)
    return op.fn in _COMPARISONS and all(not o.dims or _counts(o, defined) for o in op.operands)


def _nameless(root: Region, run: Run, defined: Mapping[int, Op]) -> bool:
    """Whether nothing tells which lane a row has: no number of a lane goes anywhere but into reads and writes."""
    numbers = _numbers(root, run.dim)
    for op in walk(root):
        across = op.dims if isinstance(op, _ACROSS) else (op.dim,) if isinstance(op, Scan) else ()
        renamed = (op.source, op.target) if isinstance(op, Rename) else ()
        yielded = any(f.id in numbers for region in regions_of(op) for f in region.yields)
        if yielded or run.dim in (*across, *renamed):
            return False
        if isinstance(op, _KEEPS) or not any(f.id in numbers for f in operands_of(op)):
            continue
        if not isinstance(op, Load | Store) or not _plain(op, run, numbers, defined):
            return False
    return True


def _numbers(root: Region, dim: Dim) -> set[int]:
    """The values that are computed from the numbers of the lanes of ``dim``, what is read at them apart."""
    found: set[int] = set()
    for op in walk(root):
        numbered = isinstance(op, _KEEPS) and any(f.id in found for f in operands_of(op))
        if numbered or (isinstance(op, Lane) and op.dim == dim):
            found.update(r.id for r in op.results)
    return found


def _plain(op: Load | Store, run: Run, numbers: set[int], defined: Mapping[int, Op]) -> bool:
    """Whether an access has the rows of the run, and leaves zeros where there are none."""
    if run.axis(op) is None:
        return False
    if isinstance(op, Store):
        return op.value.id not in numbers
    return leaves_zeros(defined, op)
