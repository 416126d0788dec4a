"""The cost of use: front end to verified program, and one launch from Python."""

from __future__ import annotations

import linecache
import statistics
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, Final

import intent
from intent_testkit.kernels import attention, softmax

_RELAXED: Final = intent.CompileOptions(numerics="relaxed_normalization")


def front_end(providers: tuple[str, ...]) -> dict[str, float]:
    """Milliseconds from Python source to a verified program, median of nine fresh definitions."""
    causal = {"GROUP": 4, "CAUSAL": True, "WINDOW": 0}
    kernels: dict[str, tuple[ModuleType, str, dict[str, Any]]] = {
        "softmax": (softmax, "softmax", {}),
        "flash attention": (attention, "flash_attention", causal),
        "softmax attention": (attention, "softmax_attention", {"CAUSAL": True}),
    }
    return {
        f"front end, {name} ({provider})": _fresh(module, kernel, constexprs, provider)
        for provider in providers
        for name, (module, kernel, constexprs) in kernels.items()
    }


def _fresh(module: ModuleType, kernel: str, constexprs: dict[str, Any], provider: str) -> float:
    """Each round executes the module's text anew, so that nothing remembered about a definition can help."""
    text = Path(str(module.__file__)).read_text(encoding="utf-8")
    times = []
    for round_ in range(9):
        name = f"<bench {module.__name__} {provider} {round_}>"
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
        fresh: dict[str, Any] = {"__name__": f"{module.__name__}_{round_}"}
        exec(compile(text, name, "exec"), fresh)  # noqa: S102 -- the kit's own module, defined anew
        begin = time.perf_counter()
        artifact = intent.compile(fresh[kernel], provider=provider, constexprs=constexprs, options=_RELAXED)
        _ = artifact.program
        times.append((time.perf_counter() - begin) * 1e3)
    return statistics.median(times)


def launches(torch: Any, providers: tuple[str, ...]) -> dict[str, float]:
    """Microseconds of host time per launch of a small cached kernel, and of torch.add beside it."""
    from intent_testkit.kernels import pointwise

    x, y = (torch.randn(1024, device="cuda") for _ in range(2))
    out = torch.empty_like(x)
    found = {"launch, torch.add": _host_time(torch, lambda: torch.add(x, y, out=out))}
    for provider in providers:
        artifact = intent.compile(pointwise.add, provider=provider)
        found[f"launch, add ({provider})"] = _host_time(torch, partial(artifact, x, y, out))
        found[f"launch, add prepared ({provider})"] = _host_time(torch, artifact.prepare(x, y, out))
        found[f"launch, add run ({provider})"] = _host_time(torch, partial(artifact.run, x, y))
    return found


def _host_time(torch: Any, call: Callable[[], Any]) -> float:
    samples = []
    for _ in range(20):
        torch.cuda.synchronize()
        begin = time.perf_counter()
        for _ in range(200):
            call()
        samples.append((time.perf_counter() - begin) / 200 * 1e6)
    torch.cuda.synchronize()
    return statistics.median(samples)
