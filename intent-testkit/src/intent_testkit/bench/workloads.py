"""The lines of the benchmark."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent_testkit.bench import attention
from intent_testkit.bench.contender import Tensors, Workload
from intent_testkit.bench.contenders import compiled, eager, field
from intent_testkit.kernels import layouts, matmul, pointwise, reductions, softmax, workloads

_SIZE = {"bfloat16": 2, "float16": 2, "float32": 4}

# Relative to the output's own rounding: half an ulp of the format, doubled for f32 arithmetic before it.
_ERROR = {"bfloat16": 4e-3, "float16": 6e-4, "float32": 2e-6}
_WORST = {"bfloat16": 8e-3, "float16": 1e-3, "float32": 1e-5}


def _randn(torch: Any, *shape: int, dtype: str) -> Any:
    return torch.randn(*shape, device="cuda").to(getattr(torch, dtype))


def _rows(dtype: str, m: int, n: int) -> Callable[[Any], Tensors]:
    def make(torch: Any) -> Tensors:
        x = _randn(torch, m, n, dtype=dtype)
        return {"x": x, "out": torch.empty_like(x)}

    return make


def _normed(dtype: str, m: int, n: int) -> Callable[[Any], Tensors]:
    def make(torch: Any) -> Tensors:
        x = _randn(torch, m, n, dtype=dtype)
        weight, bias = (_randn(torch, n, dtype=dtype) for _ in range(2))
        return {"x": x, "weight": weight, "bias": bias, "out": torch.empty_like(x)}

    return make


def add(n: int) -> Workload:
    """``z = x + y`` over f32 vectors."""

    def make(torch: Any) -> Tensors:
        x, y = (_randn(torch, n, dtype="float32") for _ in range(2))
        return {"x": x, "y": y, "out": torch.empty_like(x)}

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
        error=_ERROR["float32"],
        worst=_WORST["float32"],
    )


def row_softmax(dtype: str, m: int, n: int) -> Workload:
    """Softmax along the rows of an m x n matrix."""

    def function(t: Tensors) -> Any:
        return t["x"].softmax(-1)

    kernel = softmax.softmax if dtype == "float32" else softmax.softmax_bf16
    return Workload(
        name=f"row softmax {m}x{n} {dtype}",
        make=_rows(dtype, m, n),
        reference=lambda t: t["x"].double().softmax(-1),
        contenders=field(kernel, ("x", "out"), eager(function), compiled(function)),
        work=2 * m * n * _SIZE[dtype],
        unit="GB/s",
        error=_ERROR[dtype],
        worst=_WORST[dtype],
    )


def layer_norm(m: int, n: int) -> Workload:
    """Layer norm with weight and bias over bf16 rows."""

    def function(t: Tensors) -> Any:
        import torch

        return torch.nn.functional.layer_norm(t["x"], (n,), t["weight"], t["bias"], 1e-5)

    def reference(t: Tensors) -> Any:
        import torch

        wide = {name: value.double() for name, value in t.items() if name != "out"}
        return torch.nn.functional.layer_norm(wide["x"], (n,), wide["weight"], wide["bias"], 1e-5)

    return Workload(
        name=f"layer norm {m}x{n} bfloat16",
        make=_normed("bfloat16", m, n),
        reference=reference,
        contenders=field(
            workloads.layer_norm_bf16, ("x", "weight", "bias", "out"), eager(function), compiled(function)
        ),
        work=4 * m * n + 4 * n,
        unit="GB/s",
        error=_ERROR["bfloat16"],
        worst=_WORST["bfloat16"],
    )


def rms_norm(m: int, n: int) -> Workload:
    """RMS norm with weight over bf16 rows."""

    def function(t: Tensors) -> Any:
        import torch

        return torch.nn.functional.rms_norm(t["x"], (n,), t["weight"], 1e-6)

    def reference(t: Tensors) -> Any:
        import torch

        return torch.nn.functional.rms_norm(t["x"].double(), (n,), t["weight"].double(), 1e-6)

    return Workload(
        name=f"rms norm {m}x{n} bfloat16",
        make=_normed("bfloat16", m, n),
        reference=reference,
        contenders=field(
            workloads.rms_norm_bf16, ("x", "weight", "out"), eager(function), compiled(function)
        ),
        work=4 * m * n + 2 * n,
        unit="GB/s",
        error=_ERROR["bfloat16"],
        worst=_WORST["bfloat16"],
    )


def swiglu(m: int, n: int) -> Workload:
    """``gate * sigmoid(gate) * up`` over bf16 matrices."""

    def make(torch: Any) -> Tensors:
        gate, up = (_randn(torch, m, n, dtype="bfloat16") for _ in range(2))
        return {"gate": gate, "up": up, "out": torch.empty_like(gate)}

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
        error=_ERROR["bfloat16"],
        worst=_WORST["bfloat16"],
    )


def cross_entropy(m: int, n: int) -> Workload:
    """Per-row cross entropy of bf16 logits, f32 losses."""

    def make(torch: Any) -> Tensors:
        x = _randn(torch, m, n, dtype="bfloat16")
        target = torch.randint(0, n, (m,), device="cuda")
        return {"x": x, "target": target, "out": torch.empty(m, dtype=torch.float32, device="cuda")}

    def function(t: Tensors) -> Any:
        import torch

        return torch.nn.functional.cross_entropy(t["x"].float(), t["target"], reduction="none")

    def reference(t: Tensors) -> Any:
        import torch

        return torch.nn.functional.cross_entropy(t["x"].double(), t["target"], reduction="none")

    return Workload(
        name=f"cross entropy {m}x{n} bfloat16",
        make=make,
        reference=reference,
        contenders=field(
            workloads.cross_entropy_bf16, ("x", "target", "out"), eager(function), compiled(function)
        ),
        work=2 * m * n + 12 * m,
        unit="GB/s",
        error=_ERROR["float32"],
        worst=_WORST["float32"],
    )


def transpose(dtype: str, n: int) -> Workload:
    """Transpose of a square matrix."""

    def function(t: Tensors) -> Any:
        return t["x"].t().contiguous()

    kernel = layouts.transpose if dtype == "float32" else layouts.transpose_f16
    return Workload(
        name=f"transpose {n}x{n} {dtype}",
        make=_rows(dtype, n, n),
        reference=lambda t: t["x"].t().double(),
        contenders=field(
            kernel,
            ("x", "out"),
            eager(lambda t: t["out"].copy_(t["x"].t())),
            compiled(function),
        ),
        work=2 * n * n * _SIZE[dtype],
        unit="GB/s",
        error=0.0,
        worst=0.0,
    )


def row_max(m: int, n: int) -> Workload:
    """Maximum of every f32 row."""

    def make(torch: Any) -> Tensors:
        return {
            "x": _randn(torch, m, n, dtype="float32"),
            "out": torch.empty(m, dtype=torch.float32, device="cuda"),
        }

    def function(t: Tensors) -> Any:
        return t["x"].amax(-1)

    return Workload(
        name=f"row max {m}x{n} float32",
        make=make,
        reference=lambda t: t["x"].double().amax(-1),
        contenders=field(reductions.row_max, ("x", "out"), eager(function), compiled(function)),
        work=4 * m * n + 4 * m,
        unit="GB/s",
        error=0.0,
        worst=0.0,
    )


def gemm(m: int, n: int, k: int) -> Workload:
    """bf16 product with f32 accumulation."""

    def make(torch: Any) -> Tensors:
        out = torch.empty(m, n, dtype=torch.bfloat16, device="cuda")
        return {
            "a": _randn(torch, m, k, dtype="bfloat16"),
            "b": _randn(torch, k, n, dtype="bfloat16"),
            "out": out,
        }

    def into(t: Tensors) -> Any:
        import torch

        return torch.mm(t["a"], t["b"], out=t["out"])

    def function(t: Tensors) -> Any:
        return t["a"] @ t["b"]

    return Workload(
        name=f"gemm {m}x{n}x{k} bfloat16",
        make=make,
        reference=lambda t: t["a"].double() @ t["b"].double(),
        contenders=field(
            matmul.matmul_bf16, ("a", "b", "out"), eager(into, "cuBLAS (torch)"), compiled(function)
        ),
        work=2 * m * n * k,
        unit="TFLOP/s",
        error=_ERROR["bfloat16"],
        worst=_WORST["bfloat16"],
    )


ALL: tuple[Workload, ...] = (
    add(1 << 27),
    row_softmax("bfloat16", 16384, 4096),
    row_softmax("bfloat16", 65536, 1024),
    row_softmax("bfloat16", 262144, 256),
    row_softmax("float32", 8192, 12345),
    row_softmax("bfloat16", 8192, 32768),
    row_softmax("bfloat16", 4096, 131072),
    layer_norm(16384, 8192),
    layer_norm(65536, 1024),
    rms_norm(16384, 8192),
    swiglu(16384, 14336),
    cross_entropy(4096, 131072),
    cross_entropy(16384, 32000),
    transpose("float32", 8192),
    transpose("float16", 8192),
    row_max(4096, 32768),
    gemm(8192, 8192, 8192),
    gemm(4096, 4096, 4096),
    *attention.ALL,
)
