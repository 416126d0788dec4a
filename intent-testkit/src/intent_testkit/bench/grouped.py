"""Lines of many products at once: a batch of equal ones, groups of rows, a convolution."""

from __future__ import annotations

import random
from typing import Any

from intent_testkit.bench.contender import Call, Contender, Tensors, Workload
from intent_testkit.bench.contenders import compiled, eager, field
from intent_testkit.bench.inputs import ERROR, WORST, empty, listed, normal
from intent_testkit.kernels import products


def batched(b: int, n: int) -> Workload:
    """``b`` square bf16 products."""

    def make(torch: Any) -> Tensors:
        x, y = (normal(torch, b, n, n, dtype="bfloat16") for _ in range(2))
        return {"a": x, "b": y, "out": empty(torch, b, n, n, dtype="bfloat16")}

    def into(t: Tensors) -> Any:
        import torch

        return torch.bmm(t["a"], t["b"], out=t["out"])

    def function(t: Tensors) -> Any:
        return t["a"] @ t["b"]

    return Workload(
        name=f"batched gemm {b}x{n}x{n}x{n} bfloat16",
        make=make,
        reference=lambda t: t["a"].double() @ t["b"].double(),
        contenders=field(
            products.matmul_batched_bf16,
            ("a", "b", "out"),
            eager(into, "cuBLAS (torch)"),
            compiled(function),
        ),
        work=2 * b * n**3,
        unit="TFLOP/s",
        error=ERROR["bfloat16"],
        worst=WORST["bfloat16"],
    )


def boundaries(groups: int, rows: int, *, ragged: bool) -> list[int]:
    """Where groups begin, and the end: each ``rows`` long, or ``rows / 2`` to ``3 rows / 2``, as many together."""
    draw = random.Random(0)  # noqa: S311 -- sizes, not secrets
    cuts = [g * rows for g in range(groups + 1)]
    if ragged:
        cuts[1:-1] = [cut + draw.randint(-rows // 4, rows // 4) for cut in cuts[1:-1]]
    return cuts


def grouped(groups: int, rows: int, n: int, k: int, *, ragged: bool) -> Workload:
    """Groups of bf16 rows, each times a matrix of its own."""
    cuts = boundaries(groups, rows, ragged=ragged)

    def make(torch: Any) -> Tensors:
        return {
            "x": normal(torch, groups * rows, k, dtype="bfloat16"),
            "w": normal(torch, groups, k, n, dtype="bfloat16"),
            "offsets": listed(torch, cuts),
            "out": empty(torch, groups * rows, n, dtype="bfloat16"),
        }

    def reference(t: Tensors) -> Any:
        import torch

        spans = zip(cuts, cuts[1:], t["w"], strict=False)
        return torch.cat([t["x"][a:b].double() @ w.double() for a, b, w in spans])

    def one_by_one(t: Tensors) -> Any:
        import torch

        for a, b, w in zip(cuts, cuts[1:], t["w"], strict=False):
            torch.mm(t["x"][a:b], w, out=t["out"][a:b])
        return t["out"]

    def together(t: Tensors) -> Call:
        import torch

        ends = t["offsets"][1:].contiguous()
        return lambda: torch._grouped_mm(t["x"], t["w"], offs=ends)  # noqa: SLF001 -- its name in every torch

    return Workload(
        name=f"grouped gemm {groups}x{rows}x{n}x{k} {'ragged' if ragged else 'even'} bfloat16",
        make=make,
        reference=reference,
        contenders=field(
            products.grouped_matmul_bf16,
            ("x", "w", "offsets", "out"),
            Contender(name="torch._grouped_mm", bind=together),
            eager(one_by_one, "cuBLAS, one after the other"),
        ),
        work=2 * groups * rows * n * k,
        unit="TFLOP/s",
        error=ERROR["bfloat16"],
        worst=WORST["bfloat16"],
    )


def convolution(b: int, c: int, size: int) -> Workload:
    """3 x 3 over bf16 images with channels last, as many channels out as in."""

    def make(torch: Any) -> Tensors:
        return {
            "x": normal(torch, b, size, size, c, dtype="bfloat16"),
            "w": normal(torch, c, 3, 3, c, dtype="bfloat16"),
            "out": empty(torch, b * size * size, c, dtype="bfloat16"),
        }

    def applied(x: Any, w: Any) -> Any:
        import torch

        # The same memory under torch's names: images and weights with channels last.
        y = torch.nn.functional.conv2d(x.permute(0, 3, 1, 2), w.permute(0, 3, 1, 2), padding=1)
        return y.permute(0, 2, 3, 1).reshape(-1, c)

    def function(t: Tensors) -> Any:
        return applied(t["x"], t["w"])

    def searched(t: Tensors) -> Call:
        import torch

        torch.backends.cudnn.benchmark = True
        return lambda: function(t)

    return Workload(
        name=f"conv2d {b}x{c}x{size}x{size} 3x3 bfloat16",
        make=make,
        reference=lambda t: applied(t["x"].double(), t["w"].double()),
        contenders=field(
            products.convolution_bf16,
            ("x", "w", "out"),
            Contender(name="cuDNN (torch)", bind=searched),
            compiled(function),
        ),
        work=2 * b * size * size * c * c * 9,
        unit="TFLOP/s",
        error=ERROR["bfloat16"],
        worst=WORST["bfloat16"],
    )


ALL: tuple[Workload, ...] = (
    batched(64, 1024),
    grouped(16, 1024, 4096, 4096, ragged=False),
    grouped(16, 1024, 4096, 4096, ragged=True),
    convolution(32, 256, 56),
)
