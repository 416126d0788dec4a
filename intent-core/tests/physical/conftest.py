"""Hand-built physical programs: a row sum with a loop, a reduce and a masked load."""

from __future__ import annotations

from dataclasses import replace

import pytest

import intent.physical as ph
from intent.types import dtypes
from intent.types.extent import ceildiv, const, symbol

M, N = symbol("M"), symbol("N")
ROWS, COLS = ph.Dim("rows", 4), ph.Dim("cols", 8)
X = ph.View(name="x", dtype=dtypes.F32, shape=(M, N), mode="in")
Y = ph.View(name="y", dtype=dtypes.F32, shape=(M,), mode="out")


class Builder:
    """Makes fragments and operations with fresh ids and collects the operations in order."""

    def __init__(self) -> None:
        self.count = 0
        self.ops: list[ph.Op] = []

    def fresh(self, dtype=dtypes.INDEX, dims=(), name=""):
        self.count += 1
        return ph.Fragment(id=self.count, dtype=dtype, dims=dims, name=name)

    def add(self, node, *, dtype=None, over=(), name="", results=None, **fields):
        if results is None:
            results = () if dtype is None else (self.fresh(dtype, over, name),)
        op = node(id=len(self.ops) + 1000, results=results, **fields)
        self.ops.append(op)
        return results[0] if len(results) == 1 else results

    def index(self, value):
        return self.add(ph.Constant, dtype=dtypes.INDEX, value=value)

    def point(self, fn, *operands, dtype=dtypes.INDEX, dims=(), name=""):
        return self.add(ph.Pointwise, dtype=dtype, over=dims, name=name, fn=fn, operands=operands)

    def inside(self, make):
        """Operations of a nested body: what ``make`` adds, and the region's arguments and yields it returns."""
        outer, self.ops = self.ops, []
        args, yields = make()
        region = ph.Region(args=args, ops=tuple(self.ops), yields=yields)
        self.ops = outer
        return region


def row_sum() -> ph.Program:
    """``y[m] = sum(x[m, :])``: blocks of 4 rows, a loop over columns in steps of 8 with a carried accumulator."""
    b = Builder()
    local = b.fresh(name="program")
    four, eight, zero = b.index(4), b.index(8), b.index(0)
    base = b.point("mul", local, four)
    lane = b.add(ph.Lane, dtype=dtypes.INDEX, over=(ROWS,), dim=ROWS)
    rows = b.point("add", base, lane, dims=(ROWS,), name="rows")
    m = b.add(ph.LaunchValue, dtype=dtypes.INDEX, extent=M)
    n = b.add(ph.LaunchValue, dtype=dtypes.INDEX, extent=N)
    row_ok = b.point("lt", rows, m, dtype=dtypes.BOOL, dims=(ROWS,))
    nothing = b.add(ph.Constant, dtype=dtypes.F32, value=0.0)
    start = b.add(ph.Broadcast, dtype=dtypes.F32, over=(ROWS,), value=nothing)

    def body():
        c, acc = b.fresh(name="c"), b.fresh(dtypes.F32, (ROWS,), "acc")
        lane_c = b.add(ph.Lane, dtype=dtypes.INDEX, over=(COLS,), dim=COLS)
        cols = b.point("add", c, lane_c, dims=(COLS,), name="cols")
        col_ok = b.point("lt", cols, n, dtype=dtypes.BOOL, dims=(COLS,))
        ok = b.point("and", row_ok, col_ok, dtype=dtypes.BOOL, dims=(ROWS, COLS))
        x = b.add(
            ph.Load, dtype=dtypes.F32, over=(ROWS, COLS), name="x", source=X, coordinates=(rows, cols),
            valid=ok, fill=nothing, proofs=(ph.GUARD, ph.GUARD),
        )  # fmt: skip
        part = b.add(ph.Reduce, dtype=dtypes.F32, over=(ROWS,), operands=(x,), dims=(COLS,), kind="sum")
        return (c, acc), (b.point("add", acc, part, dtype=dtypes.F32, dims=(ROWS,)),)

    region = b.inside(body)
    total = b.fresh(dtypes.F32, (ROWS,), "total")
    b.add(ph.Loop, results=(total,), begin=zero, end=n, step=eight, inits=(start,), body=region)
    b.add(
        ph.Store, target=Y, coordinates=(rows,), value=total, valid=row_ok, dims=(ROWS,), proofs=(ph.GUARD,),
        results=(),
    )  # fmt: skip
    segment = ph.Segment(
        group=0,
        axes=(ph.SegmentAxis(label="rows", extent=M, block=4),),
        length=ceildiv(M, 4),
        offset=const(0),
        body=ph.Region(args=(local,), ops=tuple(b.ops)),
    )
    return ph.Program(name="row_sum", params=(X, Y), segments=(segment,), dims=(ROWS, COLS))


def rewritten(program: ph.Program, change) -> ph.Program:
    """The program with ``change(op)`` in place of every operation; a tuple splices, None leaves as it is."""

    def region(old: ph.Region) -> ph.Region:
        ops: list[ph.Op] = []
        for op in old.ops:
            inner = op
            for name in ("body", "combine", "then", "orelse", "condition"):
                nested = getattr(op, name, None)
                if isinstance(nested, ph.Region):
                    inner = replace(inner, **{name: region(nested)})
            made = change(inner)
            ops += [inner] if made is None else (made if isinstance(made, tuple) else [made])
        return replace(old, ops=tuple(ops))

    segments = tuple(replace(s, body=region(s.body)) for s in program.segments)
    return replace(program, segments=segments)


@pytest.fixture
def program() -> ph.Program:
    return row_sum()


@pytest.fixture
def rewrite():
    """``rewrite(program, change)``: see :func:`rewritten`."""
    return rewritten


@pytest.fixture
def builder() -> Builder:
    return Builder()
