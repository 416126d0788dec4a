"""Lines of matrix products: square, thin, misaligned, with an epilogue, in f32 and in eight bits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent_testkit.bench.contender import Call, Contender, Tensors, Unit, Workload
from intent_testkit.bench.contenders import compiled, eager, field
from intent_testkit.bench.inputs import ERROR, SIZE, WORST, empty, normal
from intent_testkit.kernels import matmul, products


def gemv(n: int) -> Workload:
    """A square f32 matrix times a vector."""

    def make(torch: Any) -> Tensors:
        a, x = normal(torch, n, n, dtype="float32"), normal(torch, n, dtype="float32")
        return {"a": a, "x": x, "out": empty(torch, n, dtype="float32")}

    def into(t: Tensors) -> Any:
        import torch

        return torch.mv(t["a"], t["x"], out=t["out"])

    def function(t: Tensors) -> Any:
        return t["a"] @ t["x"]

    return Workload(
        name=f"gemv {n}x{n} float32",
        make=make,
        reference=lambda t: t["a"].double() @ t["x"].double(),
        contenders=field(matmul.matvec, ("a", "x", "out"), eager(into, "cuBLAS (torch)"), compiled(function)),
        work=4 * (n * n + 2 * n),
        unit="GB/s",
        error=ERROR["float32"],
        worst=WORST["float32"],
    )


def _operands(m: int, n: int, k: int, dtype: str) -> Callable[[Any], Tensors]:
    def make(torch: Any) -> Tensors:
        a, b = normal(torch, m, k, dtype=dtype), normal(torch, k, n, dtype=dtype)
        return {"a": a, "b": b, "out": empty(torch, m, n, dtype=dtype)}

    return make


def gemm(m: int, n: int, k: int, dtype: str = "bfloat16", *, unit: Unit = "TFLOP/s") -> Workload:
    """A product with f32 accumulation; one that is bound by memory counts bytes."""

    def into(t: Tensors) -> Any:
        import torch

        return torch.mm(t["a"], t["b"], out=t["out"])

    def function(t: Tensors) -> Any:
        return t["a"] @ t["b"]

    return Workload(
        name=f"gemm {m}x{n}x{k} {dtype}",
        make=_operands(m, n, k, dtype),
        reference=lambda t: t["a"].double() @ t["b"].double(),
        contenders=field(
            matmul.matmul if dtype == "float32" else matmul.matmul_bf16,
            ("a", "b", "out"),
            eager(into, "cuBLAS (torch)"),
            compiled(function),
        ),
        work=2 * m * n * k if unit == "TFLOP/s" else SIZE[dtype] * (m * k + k * n + m * n),
        unit=unit,
        error=ERROR[dtype],
        worst=WORST[dtype],
    )


def linear_gelu(m: int, n: int, k: int) -> Workload:
    """A bf16 product, a bias for every column and the exact GELU."""

    def make(torch: Any) -> Tensors:
        return {**_operands(m, n, k, "bfloat16")(torch), "bias": normal(torch, n, dtype="bfloat16")}

    def function(t: Tensors) -> Any:
        import torch

        return torch.nn.functional.gelu(torch.addmm(t["bias"], t["a"], t["b"]))

    def reference(t: Tensors) -> Any:
        import torch

        hidden = torch.addmm(t["bias"].double(), t["a"].double(), t["b"].double())
        return torch.nn.functional.gelu(hidden)

    return Workload(
        name=f"gemm bias gelu {m}x{n}x{k} bfloat16",
        make=make,
        reference=reference,
        contenders=field(
            products.linear_gelu_bf16, ("a", "b", "bias", "out"), eager(function), compiled(function)
        ),
        work=2 * m * n * k,
        unit="TFLOP/s",
        error=ERROR["bfloat16"],
        worst=WORST["bfloat16"],
    )


def eight_bits(m: int, n: int, k: int) -> Workload:
    """A product of f8e4m3fn, the weights in rows, with f32 accumulation and a bf16 result."""

    def make(torch: Any) -> Tensors:
        a, b = (normal(torch, rows, k, dtype="float8_e4m3fn") for rows in (m, n))
        return {"a": a, "b": b, "out": empty(torch, m, n, dtype="bfloat16")}

    def peer(*, fast: bool) -> Contender:
        def bind(t: Tensors) -> Call:
            import torch

            one = torch.ones((), device="cuda")
            weights = t["b"].t()
            return lambda: torch._scaled_mm(  # noqa: SLF001 -- torch has no other name for it
                t["a"], weights, one, one, out_dtype=torch.bfloat16, use_fast_accum=fast
            )

        return Contender(name=f"torch._scaled_mm{' (fast)' if fast else ''}", bind=bind)

    return Workload(
        name=f"gemm {m}x{n}x{k} float8_e4m3fn",
        make=make,
        reference=lambda t: t["a"].double() @ t["b"].double().t(),
        contenders=field(products.linear_f8, ("a", "b", "out"), peer(fast=False), peer(fast=True)),
        work=2 * m * n * k,
        unit="TFLOP/s",
        error=ERROR["bfloat16"],
        worst=WORST["bfloat16"],
    )


ALL: tuple[Workload, ...] = (
    gemv(16384),
    gemm(8192, 8192, 8192),
    gemm(4096, 4096, 4096),
    gemm(16, 16384, 8192, unit="GB/s"),
    gemm(8191, 8193, 8190),
    linear_gelu(8192, 8192, 8192),
    gemm(4096, 4096, 4096, "float32"),
    eight_bits(8192, 8192, 8192),
)
