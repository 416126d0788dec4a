"""Lines that reduce or accumulate f32: along rows, down columns, over everything."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent_testkit.bench.contender import Tensors, Workload
from intent_testkit.bench.contenders import compiled, eager, field
from intent_testkit.bench.inputs import ERROR, WORST, empty, normal, rows_alike, uniform
from intent_testkit.kernels import reductions, scans, selection, workloads


def _matrix(m: int, n: int, **outs: tuple[str, int]) -> Callable[[Any], Tensors]:
    """A normal f32 matrix ``x`` and vectors of these dtypes and lengths."""

    def make(torch: Any) -> Tensors:
        made = {name: empty(torch, length, dtype=dtype) for name, (dtype, length) in outs.items()}
        return {"x": normal(torch, m, n, dtype="float32"), **made}

    return make


def row_max(m: int, n: int) -> Workload:
    """Maximum of every f32 row."""

    def function(t: Tensors) -> Any:
        return t["x"].amax(-1)

    return Workload(
        name=f"row max {m}x{n} float32",
        make=_matrix(m, n, out=("float32", m)),
        reference=lambda t: t["x"].double().amax(-1),
        contenders=field(reductions.row_max, ("x", "out"), eager(function), compiled(function)),
        work=4 * m * n + 4 * m,
        unit="GB/s",
        error=0.0,
        worst=0.0,
    )


def argmax(m: int, n: int) -> Workload:
    """Position of the maximum of every f32 row; ours gives the maximum, too."""

    def both(t: Tensors) -> Any:
        return t["x"].max(-1)[1]

    def function(t: Tensors) -> Any:
        return t["x"].argmax(-1)

    return Workload(
        name=f"argmax rows {m}x{n} float32",
        make=_matrix(m, n, value=("float32", m), out=("int64", m)),
        reference=lambda t: t["x"].double().argmax(-1),
        contenders=field(
            selection.argmax_rows,
            ("x", "value", "out"),
            eager(function),
            eager(both, "torch max"),
            compiled(function),
        ),
        work=4 * m * n + 12 * m,
        unit="GB/s",
        error=0.0,
        worst=0.0,
    )


def cumsum(m: int, n: int) -> Workload:
    """Running sums along f32 rows."""

    def into(t: Tensors) -> Any:
        import torch

        return torch.cumsum(t["x"], -1, out=t["out"])

    def function(t: Tensors) -> Any:
        return t["x"].cumsum(-1)

    return Workload(
        name=f"cumsum rows {m}x{n} float32",
        make=rows_alike("float32", m, n),
        reference=lambda t: t["x"].double().cumsum(-1),
        contenders=field(scans.running_sum, ("x", "out"), eager(into), compiled(function)),
        work=8 * m * n,
        unit="GB/s",
        error=ERROR["float32"],
        worst=WORST["float32"],
    )


def column_sum(m: int, n: int) -> Workload:
    """Sum of every column of a f32 matrix."""

    def function(t: Tensors) -> Any:
        return t["x"].sum(0)

    return Workload(
        name=f"column sum {m}x{n} float32",
        make=_matrix(m, n, out=("float32", n)),
        reference=lambda t: t["x"].double().sum(0),
        contenders=field(reductions.sum_columns, ("x", "out"), eager(function), compiled(function)),
        work=4 * m * n + 4 * n,
        unit="GB/s",
        error=ERROR["float32"],
        worst=WORST["float32"],
    )


def total(n: int) -> Workload:
    """Sum of a f32 vector; of one sign, so that the relative error means something."""

    def make(torch: Any) -> Tensors:
        return {"x": uniform(torch, n), "out": empty(torch, dtype="float32")}

    def function(t: Tensors) -> Any:
        return t["x"].sum()

    return Workload(
        name=f"sum f32 {n}",
        make=make,
        reference=lambda t: t["x"].double().sum(),
        contenders=field(workloads.sum_of_vector, ("x", "out"), eager(function), compiled(function)),
        work=4 * n,
        unit="GB/s",
        error=ERROR["float32"],
        worst=WORST["float32"],
    )


ALL: tuple[Workload, ...] = (
    row_max(4096, 32768),
    argmax(4096, 32768),
    cumsum(4096, 32768),
    column_sum(4096, 32768),
    total(1 << 27),
)
