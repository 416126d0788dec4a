"""Which mutants the type checker refuses: wrong compilers that could not land, whatever the tests say of them.

They are counted by themselves, those that a test finds as well as those that none does: a rate without them is of the
others only.
"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import intent
from intent_testkit.mutants.forked import forked
from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.right import file_of

ADVICE: Final = frozenset({
    "comparison-overlap", "no-any-return", "redundant-cast", "redundant-expr", "truthy-bool", "truthy-function",
    "unreachable", "unused-ignore",
})  # fmt: skip
"""What the type checker says of code that may be right; no mutant is refused for these."""
_ROOT: Final = Path(str(intent.__file__)).resolve().parents[3]
_ERROR: Final = re.compile(r"error: (.*)  \[([\w-]+)\]$", re.MULTILINE)


def refusals(mutants: Iterable[Mutant], jobs: int) -> Iterator[tuple[Mutant, str | None]]:
    """What the type checker has against every mutant, or None; ``jobs`` at a time, in the order in which they end.

    Raises RuntimeError if it refuses the right compiler, too.
    """
    known = list(mutants)
    with TemporaryDirectory() as folder:
        warm = Path(folder) / "warm"
        for module in sorted({mutant.module for mutant in known}):
            said = _checked(module, Path(file_of(module)), warm)
            if said is not None:
                raise RuntimeError(f"{module} is refused without any mutant: {said}")
        for mutant, refused in forked(known, partial(refusal, warm), jobs):
            assert refused is None or isinstance(refused, str), refused
            yield mutant, refused


def refusal(warm: Path, mutant: Mutant) -> str | None:
    """What the type checker has against one mutant; ``warm``: a folder with what it knows of the right compiler."""
    with TemporaryDirectory() as folder:
        text, cache = Path(folder) / "wrong.py", Path(folder) / "cache"
        text.write_text(mutant.source, encoding="utf-8")
        if warm.exists():
            shutil.copytree(warm, cache)
        return _checked(mutant.module, text, cache)


def _checked(module: str, text: Path, cache: Path) -> str | None:
    """The first error in the module if that is its text."""
    words = [
        "--cache-dir", str(cache), "--sqlite-cache", "--no-error-summary",
        "--shadow-file", file_of(module), str(text), "-m", module,
    ]  # fmt: skip
    done = subprocess.run(  # noqa: S603 -- this Python's own type checker
        [sys.executable, "-m", "mypy", *words], cwd=_ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode > 1:
        raise RuntimeError(f"mypy: {done.stderr or done.stdout}")
    return next((what for what, code in _ERROR.findall(done.stdout) if code not in ADVICE), None)


def told(records: Path, mutants: Iterable[Mutant], jobs: int) -> str:
    """Ask of every mutant that a campaign has recorded, note the answers in the file, and say how the rate changes."""
    lines: list[dict[str, Any]] = [
        json.loads(line) for line in records.read_text(encoding="utf-8").splitlines()
    ]
    by_name = {mutant.name: mutant for mutant in mutants}
    asked = [by_name[line["name"]] for line in lines if line["name"] in by_name]
    refused = {mutant.name: said for mutant, said in refusals(asked, jobs)}
    for line in lines:
        line["refused"] = refused.get(line["name"])
    records.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    every = Counter(line["verdict"] for line in lines)
    rest = Counter(line["verdict"] for line in lines if line["refused"] is None)
    out = every - rest
    return (
        f"{_rate(every)}; {out.total()} are refused by the type checker, {out['found']} of them found"
        f" and {out['open']} not told apart; without them {_rate(rest)}"
    )


def _rate(counts: Counter[str]) -> str:
    found, tried = counts["found"], counts["found"] + counts["open"]
    return f"{found} of {tried} found, {found / max(1, tried):.1%}"
