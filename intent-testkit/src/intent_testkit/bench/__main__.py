"""``python -m intent_testkit.bench [--provider P] [--only TEXT] [--out DIR]``."""

from __future__ import annotations

import argparse
import datetime as dt
import importlib.metadata
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from intent.runtime import native
from intent_testkit.bench import ceilings, cost, record
from intent_testkit.bench.contender import Result
from intent_testkit.bench.measure import measure
from intent_testkit.bench.workloads import ALL


def main(arguments: list[str] | None = None) -> int:
    """Run the chosen lines; 1 if one of this project's contenders failed or was wrong, 2 without a GPU."""
    options = _parse(arguments)
    console = Console(width=150 if not sys.stdout.isatty() else None)
    os.environ.pop("INTENT_EXECUTION", None)
    torch = _torch()
    if torch is None:
        console.print(
            "the benchmark needs torch and a CUDA device; neither timing nor peers exist without them"
        )
        return 2
    torch.backends.cuda.matmul.allow_tf32 = False
    providers = tuple(options.provider) or _gpu_providers()
    facts = _facts(torch, providers)
    console.print(facts)
    tops = {"GB/s": ceilings.copy_rate(torch), "TFLOP/s": ceilings.product_rate(torch)}
    facts |= {"copy ceiling": f"{tops['GB/s']:.0f} GB/s", "product ceiling": f"{tops['TFLOP/s']:.0f} TFLOP/s"}
    console.print(tops)
    results: list[Result] = []
    costs: dict[str, str] = {}
    for workload in ALL:
        if any(part in workload.name for part in options.only):
            results += measure(torch, workload, providers, tops)
            _show(console, results[-1].workload, results)
            # A run that is cut off keeps what it has measured.
            record.save(options.out, results, facts, costs)
    if not options.no_costs:
        costs |= _costs(torch, providers, console)
    paths = record.save(options.out, results, facts, costs)
    console.print(*map(str, paths))
    return 1 if any(result.ours and result.failure for result in results) else 0


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m intent_testkit.bench", description=__doc__)
    parser.add_argument(
        "--provider", action="append", default=[], help="our contenders (default: GPU providers)"
    )
    parser.add_argument("--only", action="append", help="lines whose name contains TEXT; may be repeated")
    parser.add_argument("--out", type=Path, default=Path("bench-results"), help="directory for the record")
    parser.add_argument("--no-costs", action="store_true", help="leave out front-end and launch costs")
    options = parser.parse_args(arguments)
    options.only = options.only or [""]
    return options


def _torch() -> Any:
    try:
        import torch
    except ImportError:
        return None
    return torch if torch.cuda.is_available() else None


def _gpu_providers() -> tuple[str, ...]:
    from intent.provider.registry import registry

    return tuple(n for n in registry().names() if registry().get(n).capabilities.needs_gpu)


def _facts(torch: Any, providers: tuple[str, ...]) -> dict[str, Any]:
    return {
        "date": dt.datetime.now(dt.UTC).isoformat(timespec="seconds"),
        "device": torch.cuda.get_device_name(0),
        "python": sys.version.split()[0],
        "torch": torch.__version__,
        "triton": _version("triton"),
        "intent": _version("intent-core"),
        "commit": record.commit(),
        "providers": ", ".join(providers) or "none",
        "known calls": native.load_now() or "compiled",
    }


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _costs(torch: Any, providers: tuple[str, ...], console: Console) -> dict[str, str]:
    found: dict[str, str] = {}
    measurements: dict[str, Callable[[], dict[str, float]]] = {
        "ms": lambda: cost.front_end(providers),
        "us": lambda: cost.launches(torch, providers),
    }
    for unit, measurement in measurements.items():
        try:
            found |= {name: f"{value:.1f} {unit}" for name, value in measurement().items()}
        except Exception as error:  # noqa: BLE001 -- the table of workloads is worth keeping whatever fails here
            found[f"failed ({unit})"] = f"{type(error).__name__}: {error}"
    console.print(found)
    return found


def _show(console: Console, workload: str, results: list[Result]) -> None:
    table = Table(title=workload, title_justify="left")
    for heading in record.HEADINGS[1:]:
        table.add_column(heading)
    for row in record.rows([r for r in results if r.workload == workload]):
        table.add_row(*row[1:])
    console.print(table)


if __name__ == "__main__":
    raise SystemExit(main())
