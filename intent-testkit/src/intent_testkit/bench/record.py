"""What a run leaves behind: JSON with everything, a Markdown table, a chart."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import asdict
from importlib import import_module
from pathlib import Path
from typing import Any

from intent_testkit.bench.contender import Result

HEADINGS = ("workload", "contender", "ms", "rate", "of ceiling", "vs best peer", "error", "first call")


def commit() -> str:
    """The commit that runs: ``INTENT_COMMIT`` if it is set, else what git says of this file, else ``unknown``.

    ``+changes`` marks a work tree that differs from it. A machine that gets the code without its history is
    told: ``INTENT_COMMIT=$(git rev-parse --short HEAD)``.
    """
    told = os.environ.get("INTENT_COMMIT", "").strip()
    if told:
        return told
    folder = str(Path(__file__).parent)
    try:
        _git(folder, "ls-files", "--error-unmatch", Path(__file__).name)
        head = _git(folder, "rev-parse", "--short", "HEAD")
        return head + ("+changes" if _git(folder, "status", "--porcelain", "--untracked-files=no") else "")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def _git(folder: str, *words: str) -> str:
    command = ["git", "-C", folder, *words]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()  # noqa: S603


def rows(results: list[Result]) -> list[tuple[str, ...]]:
    """The table as text; a contender without a time shows its failure."""
    found: list[tuple[str, ...]] = []
    for r in results:
        if r.milliseconds is None or r.rate is None:
            found.append(
                (
                    r.workload,
                    r.contender,
                    "-",
                    f"FAILED: {(r.failure or 'no time').splitlines()[0]}",
                    "",
                    "",
                    "",
                    "",
                )
            )
            continue
        share = f"{r.share_of_ceiling:.2f}" if r.share_of_ceiling is not None else ""
        ratio = f"{r.ratio_to_best_peer:.2f}" if r.ratio_to_best_peer is not None else ""
        first = f"{r.first_call_s:.2f} s" if r.first_call_s is not None else ""
        rate = f"{r.rate:.0f} {r.unit}"
        found.append(
            (r.workload, r.contender, f"{r.milliseconds:.4f}", rate, share, ratio, f"{r.error:.1e}", first)
        )
    return found


def save(
    directory: Path, results: list[Result], facts: Mapping[str, Any], costs: Mapping[str, Any]
) -> list[Path]:
    """Write ``bench.json``, ``bench.md`` and, if matplotlib is there, ``bench.png``; the paths written."""
    directory.mkdir(parents=True, exist_ok=True)
    data = {"facts": dict(facts), "costs": dict(costs), "results": [asdict(result) for result in results]}
    written = [directory / "bench.json", directory / "bench.md"]
    written[0].write_text(json.dumps(data, indent=1) + "\n", encoding="utf-8")
    written[1].write_text(markdown(results, facts, costs), encoding="utf-8")
    picture = directory / "bench.png"
    if chart(picture, results):
        written.append(picture)
    return written


def markdown(results: list[Result], facts: Mapping[str, Any], costs: Mapping[str, Any]) -> str:
    """The run as a Markdown page."""
    lines = ["# Benchmark", "", *(f"- {name}: {value}" for name, value in facts.items()), ""]
    lines += ["| " + " | ".join(HEADINGS) + " |", "|" + " --- |" * len(HEADINGS)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows(results)]
    if costs:
        lines += [
            "",
            "| cost of use | value |",
            "| --- | --- |",
            *(f"| {n} | {v} |" for n, v in costs.items()),
        ]
    return "\n".join(lines) + "\n"


def chart(path: Path, results: list[Result]) -> bool:
    """Bars of the share of the ceiling per workload and contender. False without matplotlib."""
    try:
        # Optional: asked for by name so that type checkers need not find it either.
        import_module("matplotlib").use("Agg")
        plt: Any = import_module("matplotlib.pyplot")
    except ImportError:
        return False
    timed = [r for r in results if r.share_of_ceiling is not None]
    names = list(dict.fromkeys(r.workload for r in timed))
    contenders = list(dict.fromkeys(r.contender for r in timed))
    if not timed:
        return False
    figure, axes = plt.subplots(figsize=(10, 0.5 * len(names) * max(1, len(contenders)) * 0.45 + 1.5))
    height = 0.8 / len(contenders)
    for n, contender in enumerate(contenders):
        shares = {r.workload: r.share_of_ceiling for r in timed if r.contender == contender}
        places = [names.index(name) + n * height for name in shares]
        axes.barh(places, list(shares.values()), height=height, label=contender)
    axes.set_yticks([i + 0.4 - height / 2 for i in range(len(names))], names)
    axes.invert_yaxis()
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set_xlabel("share of the ceiling measured in the same run")
    axes.legend(loc="lower right", fontsize="small")
    figure.tight_layout()
    figure.savefig(path, dpi=120)
    plt.close(figure)
    return True
