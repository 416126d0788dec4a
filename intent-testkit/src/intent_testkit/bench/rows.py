"""Lines that treat every row on its own: softmax, norms, losses, quantisation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from intent_testkit.bench.contender import Tensors, Workload
from intent_testkit.bench.contenders import RELAXED, compiled, eager, field
from intent_testkit.bench.inputs import ERROR, SIZE, WORST, empty, integers, normal, rows_alike
from intent_testkit.kernels import softmax, workloads


def _normed(dtype: str, m: int, n: int) -> Callable[[Any], Tensors]:
    def make(torch: Any) -> Tensors:
        x = normal(torch, m, n, dtype=dtype)
        weight, bias = (normal(torch, n, dtype=dtype) for _ in range(2))
        return {"x": x, "weight": weight, "bias": bias, "out": empty(torch, m, n, dtype=dtype)}

    return make


def row_softmax(dtype: str, m: int, n: int) -> Workload:
    """Softmax along the rows of an m x n matrix."""

    def function(t: Tensors) -> Any:
        return t["x"].softmax(-1)

    kernel = softmax.softmax if dtype == "float32" else softmax.softmax_bf16
    return Workload(
        name=f"row softmax {m}x{n} {dtype}",
        make=rows_alike(dtype, m, n),
        reference=lambda t: t["x"].double().softmax(-1),
        contenders=field(kernel, ("x", "out"), eager(function), compiled(function), options=RELAXED),
        work=2 * m * n * SIZE[dtype],
        unit="GB/s",
        error=ERROR[dtype],
        worst=WORST[dtype],
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
        error=ERROR["bfloat16"],
        worst=WORST["bfloat16"],
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
        error=ERROR["bfloat16"],
        worst=WORST["bfloat16"],
    )


def cross_entropy(m: int, n: int) -> Workload:
    """Per-row cross entropy of bf16 logits, f32 losses."""

    def make(torch: Any) -> Tensors:
        x = normal(torch, m, n, dtype="bfloat16")
        target = integers(torch, n, m, dtype="int64")
        return {"x": x, "target": target, "out": empty(torch, m, dtype="float32")}

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
            workloads.cross_entropy_bf16,
            ("x", "target", "out"),
            eager(function),
            compiled(function),
            options=RELAXED,
        ),
        work=2 * m * n + 12 * m,
        unit="GB/s",
        error=ERROR["float32"],
        worst=WORST["float32"],
    )


def quantise(m: int, n: int) -> Workload:
    """bf16 rows over their largest magnitude as f8e4m3fn, and the scale of every row."""

    def make(torch: Any) -> Tensors:
        return {
            "x": normal(torch, m, n, dtype="bfloat16"),
            "scale": empty(torch, m, dtype="float32"),
            "out": empty(torch, m, n, dtype="float8_e4m3fn"),
        }

    def function(t: Tensors) -> Any:
        x = t["x"].float()
        peak = x.abs().amax(-1).clamp_min(1e-12)
        t["scale"].copy_(peak / 448)
        return (x * (448 / peak)[:, None]).to(t["out"].dtype)

    def reference(t: Tensors) -> Any:
        x = t["x"].double()
        return x * (448 / x.abs().amax(-1, keepdim=True))

    return Workload(
        name=f"quantise rows {m}x{n} bfloat16 to float8_e4m3fn",
        make=make,
        reference=reference,
        contenders=field(workloads.quantise_rows, ("x", "out", "scale"), eager(function), compiled(function)),
        work=3 * m * n + 4 * m,
        unit="GB/s",
        error=ERROR["float8_e4m3fn"],
        worst=WORST["float8_e4m3fn"],
    )


ALL: tuple[Workload, ...] = (
    row_softmax("bfloat16", 16384, 4096),
    row_softmax("bfloat16", 65536, 1024),
    row_softmax("bfloat16", 262144, 256),
    row_softmax("float32", 8192, 12345),
    row_softmax("bfloat16", 8192, 32768),
    row_softmax("bfloat16", 4096, 131072),
    layer_norm(16384, 8192),
    layer_norm(65536, 1024),
    rms_norm(16384, 8192),
    cross_entropy(4096, 131072),
    cross_entropy(16384, 32000),
    quantise(16384, 8192),
)
