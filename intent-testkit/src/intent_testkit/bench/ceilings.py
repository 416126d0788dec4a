"""The two ceilings of the machine, measured in the same run as everything else."""

from __future__ import annotations

from typing import Any

from intent_testkit.bench.timing import interleave


def copy_rate(torch: Any) -> float:
    """GB/s of a 4 GiB device copy, bytes read plus bytes written."""
    size = 4 << 30
    source = torch.randint(0, 127, (size,), dtype=torch.int8, device="cuda")
    target = torch.empty_like(source)
    timing = interleave(torch, {"copy": lambda: target.copy_(source)})["copy"]
    return 2 * size / timing.milliseconds / 1e6


def product_rate(torch: Any) -> float:
    """TFLOP/s of an 8192^3 bf16 product by cuBLAS, on random data."""
    n = 8192
    a, b = (torch.randn(n, n, dtype=torch.bfloat16, device="cuda") for _ in range(2))
    out = torch.empty(n, n, dtype=torch.bfloat16, device="cuda")
    timing = interleave(torch, {"matmul": lambda: torch.mm(a, b, out=out)})["matmul"]
    return 2 * n**3 / timing.milliseconds / 1e9
