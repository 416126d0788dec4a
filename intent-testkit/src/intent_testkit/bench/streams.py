"""Lines that read and write everything once: pointwise functions and transposes."""

from __future__ import annotations

from typing import Any

from intent_testkit.bench.contender import Tensors, Workload
from intent_testkit.bench.contenders import compiled, eager, field
from intent_testkit.bench.inputs import ERROR, SIZE, WORST, empty, normal, rows_alike
from intent_testkit.kernels import layouts, pointwise


def add(n: int) -> Workload:
    """``z = x + y`` over f32 vectors."""

    def make(torch: Any) -> Tensors:
        x, y = (normal(torch, n, dtype="float32") for _ in range(2))
        return {"x": x, "y": y, "out": empty(torch, n, dtype="float32")}

    def function(t: Tensors) -> Any:
        import torch

        return torch.add(t["x"], t["y"])

    def into(t: Tensors) -> Any:
        import torch

        return torch.add(t["x"], t["y"], out=t["out"])

    return Workload(
        name=f"add f32 {n}",
        make=make,
        reference=lambda t: t["x"].double() + t["y"].double(),
        contenders=field(pointwise.add, ("x", "y", "out"), eager(into), compiled(function)),
        work=12 * n,
        unit="GB/s",
        error=ERROR["float32"],
        worst=WORST["float32"],
    )


def swiglu(m: int, n: int) -> Workload:
    """``gate * sigmoid(gate) * up`` over bf16 matrices."""

    def make(torch: Any) -> Tensors:
        gate, up = (normal(torch, m, n, dtype="bfloat16") for _ in range(2))
        return {"gate": gate, "up": up, "out": empty(torch, m, n, dtype="bfloat16")}

    def function(t: Tensors) -> Any:
        import torch

        return torch.nn.functional.silu(t["gate"]) * t["up"]

    def reference(t: Tensors) -> Any:
        import torch

        return torch.nn.functional.silu(t["gate"].double()) * t["up"].double()

    return Workload(
        name=f"swiglu {m}x{n} bfloat16",
        make=make,
        reference=reference,
        contenders=field(pointwise.swiglu, ("gate", "up", "out"), eager(function), compiled(function)),
        work=6 * m * n,
        unit="GB/s",
        error=ERROR["bfloat16"],
        worst=WORST["bfloat16"],
    )


def transpose(dtype: str, n: int) -> Workload:
    """Transpose of a square matrix."""

    def function(t: Tensors) -> Any:
        return t["x"].t().contiguous()

    kernel = layouts.transpose if dtype == "float32" else layouts.transpose_f16
    return Workload(
        name=f"transpose {n}x{n} {dtype}",
        make=rows_alike(dtype, n, n),
        reference=lambda t: t["x"].t().double(),
        contenders=field(
            kernel,
            ("x", "out"),
            eager(lambda t: t["out"].copy_(t["x"].t())),
            compiled(function),
        ),
        work=2 * n * n * SIZE[dtype],
        unit="GB/s",
        error=0.0,
        worst=0.0,
    )


ALL: tuple[Workload, ...] = (
    add(1 << 27),
    swiglu(16384, 14336),
    transpose("float32", 8192),
    transpose("float16", 8192),
)
