"""Lines whose addresses come from data: counts, gathers, colliding sums, sparse rows."""

from __future__ import annotations

from typing import Any

from intent_testkit.bench.contender import Call, Contender, Tensors, Workload
from intent_testkit.bench.contenders import compiled, eager, field
from intent_testkit.bench.inputs import ERROR, WORST, empty, integers, listed, normal
from intent_testkit.kernels import counting, memory, workloads


def histogram(n: int, bins: int) -> Workload:
    """How often each number below ``bins`` stands in an i32 vector."""

    def make(torch: Any) -> Tensors:
        return {"x": integers(torch, bins, n, dtype="int32"), "out": empty(torch, bins, dtype="int32")}

    def reference(t: Tensors) -> Any:
        import torch

        return torch.stack([(t["x"] == value).sum() for value in range(bins)]).double()

    def bincount(t: Tensors) -> Any:
        import torch

        return torch.bincount(t["x"], minlength=bins)

    def histc(t: Tensors) -> Any:
        import torch

        return torch.histc(t["x"], bins, 0, bins)

    return Workload(
        name=f"histogram {bins} bins {n} int32",
        make=make,
        reference=reference,
        contenders=field(
            counting.histogram_whole,
            ("x", "out"),
            eager(bincount, "torch.bincount"),
            eager(histc, "torch.histc"),
        ),
        work=4 * n + 4 * bins,
        unit="GB/s",
        error=0.0,
        worst=0.0,
    )


def gather_rows(n: int, d: int, table: int) -> Workload:
    """bf16 rows of a table by their numbers."""

    def make(torch: Any) -> Tensors:
        return {
            "table": normal(torch, table, d, dtype="bfloat16"),
            "ids": integers(torch, table, n, dtype="int64"),
            "out": empty(torch, n, d, dtype="bfloat16"),
        }

    def into(t: Tensors) -> Any:
        import torch

        return torch.index_select(t["table"], 0, t["ids"], out=t["out"])

    def embedding(t: Tensors) -> Any:
        import torch

        return torch.nn.functional.embedding(t["ids"], t["table"])

    return Workload(
        name=f"gather {n} rows of {table}x{d} bfloat16",
        make=make,
        reference=lambda t: t["table"][t["ids"]].double(),
        contenders=field(
            workloads.gather_rows_bf16,
            ("table", "ids", "out"),
            eager(into, "torch.index_select"),
            eager(embedding, "torch embedding"),
            compiled(embedding),
        ),
        work=4 * n * d + 8 * n,
        unit="GB/s",
        error=0.0,
        worst=0.0,
    )


def scatter_rows(n: int, d: int, rows: int) -> Workload:
    """f32 rows added to the rows of a smaller matrix that their numbers name."""

    def make(torch: Any) -> Tensors:
        return {
            "x": normal(torch, n, d, dtype="float32"),
            "at": integers(torch, rows, n, dtype="int32"),
            "out": empty(torch, rows, d, dtype="float32"),
        }

    def function(t: Tensors) -> Any:
        return t["out"].index_add_(0, t["at"], t["x"])

    def reference(t: Tensors) -> Any:
        import torch

        zero = torch.zeros(rows, d, dtype=torch.float64, device="cuda")
        return zero.index_add_(0, t["at"], t["x"].double())

    return Workload(
        name=f"scatter add {n}x{d} into {rows} rows float32",
        make=make,
        reference=reference,
        contenders=field(memory.scatter_add_rows, ("x", "at", "out"), eager(function), compiled(function)),
        work=4 * n * d + 4 * n + 8 * rows * d,
        unit="GB/s",
        error=ERROR["float32"],
        worst=WORST["float32"],
        initial=0.0,
    )


def sparse_rows(rows: int, each: int) -> Workload:
    """A sparse f32 matrix in compressed rows, ``each`` entries a row, times a vector."""
    entries = rows * each

    def make(torch: Any) -> Tensors:
        return {
            "values": normal(torch, entries, dtype="float32"),
            "columns": integers(torch, rows, entries, dtype="int32"),
            "offsets": listed(torch, list(range(0, entries + 1, each))),
            "x": normal(torch, rows, dtype="float32"),
            "out": empty(torch, rows, dtype="float32"),
        }

    def sparse(t: Tensors) -> Call:
        import torch

        matrix = torch.sparse_csr_tensor(t["offsets"], t["columns"], t["values"], (rows, rows))
        return lambda: torch.mv(matrix, t["x"])

    def reference(t: Tensors) -> Any:
        terms = t["values"].double() * t["x"].double()[t["columns"]]
        return terms.reshape(rows, each).sum(1)

    return Workload(
        name=f"CSR matvec {rows} rows of {each} float32",
        make=make,
        reference=reference,
        contenders=field(
            workloads.csr_matvec,
            ("values", "columns", "offsets", "x", "out"),
            Contender(name="cuSPARSE (torch)", bind=sparse),
        ),
        work=8 * entries + 4 * (rows + 1) + 8 * rows,
        unit="GB/s",
        error=ERROR["float32"],
        worst=WORST["float32"],
    )


ALL: tuple[Workload, ...] = (
    histogram(1 << 27, 256),
    gather_rows(16384, 4096, 131072),
    scatter_rows(65536, 1024, 8192),
    sparse_rows(32768, 32),
)
