"""What Python costs at a launch, measured without a GPU: ``python -m intent_testkit.bench.launch_cost``.

Everything runs up to the driver's call, on stand-ins for torch and for the driver. Builds are real, for
compute capability 9.0. A launch on a GPU costs this and the driver's own time, 2 to 3 us.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import intent
from intent_testkit.bench.stand_in import Torch, gpu
from intent_testkit.kernels import pointwise

__all__ = ["costs", "microseconds"]


def microseconds(call: Callable[[], Any], *, rounds: int = 9, calls: int = 2000) -> float:
    """Microseconds of CPU time of one call: the least of ``rounds`` means, which other work disturbs least."""
    call()
    best = float("inf")
    for _ in range(rounds):
        begin = time.process_time()
        for _ in range(calls):
            call()
        best = min(best, (time.process_time() - begin) / calls)
    return best * 1e6


def costs(provider: str = "triton", *, calls: int = 2000) -> dict[str, float]:
    """Microseconds per launch, by the way that it is made."""
    with mock.patch.dict(os.environ):
        os.environ.pop("INTENT_EXECUTION", None)
        with gpu() as (torch, _):
            return {name: microseconds(call, calls=calls) for name, call in _ways(torch, provider).items()}


def _ways(torch: Torch, provider: str) -> dict[str, Callable[[], Any]]:
    add = intent.compile(pointwise.add, provider)
    axpy = intent.compile(pointwise.axpy, provider)
    x, y, z = (torch.empty(1024) for _ in range(3))
    u, v, w = (torch.empty(64, 256) for _ in range(3))
    odd = [torch.empty(1025)[1:] for _ in range(3)]
    return {
        "call, three vectors": lambda: add(x, y, z),
        "call, in place": lambda: add(x, y, x),
        "call, addresses that 16 does not divide": lambda: add(*odd),
        "call, by name": lambda: add(x=x, y=y, z=z),
        "call, a scalar and three matrices": lambda: axpy(2.0, u, v, w),
        "prepared, three vectors": add.prepare(x, y, z),
        "prepared, a scalar and three matrices": axpy.prepare(2.0, u, v, w),
        "run, three vectors": lambda: add.run(x, y),
        "call, not known": lambda: add._launch((x, y, z)),  # noqa: SLF001 - the long way
    }


def main() -> None:
    """Print the table."""
    for name, value in costs().items():
        print(f"{value:8.2f} us  {name}")  # noqa: T201 - the command's output


if __name__ == "__main__":
    main()
