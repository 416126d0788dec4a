"""``python -m intent_testkit.mutants``: put faults into the compiler and see whether they are found."""

# ruff: noqa: T201 -- the command line prints its findings

from __future__ import annotations

import argparse
import os
import pkgutil
import re
import sys
from collections import Counter
from importlib import import_module
from pathlib import Path

from intent_testkit.mutants.campaign import drawn, outcomes
from intent_testkit.mutants.right import Right, load, watch
from intent_testkit.mutants.sites import mutants_of
from intent_testkit.mutants.survivors import KNOWN

ROOMS = ("intent.construct", "intent.passes")
WANTED = 0.95


def main() -> int:
    """Run the campaign; exit status 1 if fewer than 95 % are found or a survivor is not explained."""
    parser = argparse.ArgumentParser(prog="python -m intent_testkit.mutants", description=__doc__)
    parser.add_argument("--each", type=int, default=12, help="mutants per kind of fault (default 12; 0: all)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--only", default="", help="regular expression in a mutant's name")
    parser.add_argument(
        "--reach", type=Path, help="keep programs and lines of the right compiler in this file, or take it"
    )
    parser.add_argument("--show", type=Path, help="write the mutated module here instead (with --only)")
    options = parser.parse_args()
    modules = [name for room in ROOMS for name in _modules(room)]
    found = [m for module in modules for m in mutants_of(module) if re.search(options.only, m.name)]
    if options.show:
        options.show.write_text(found[0].source, encoding="utf-8")
        return 0
    print(f"{len(found)} places for faults; watching which cases reach them ...", flush=True)
    right = _right(modules, options.reach)
    chosen = drawn(found, right, options.each, options.seed)
    tried: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    unexplained = 0
    for outcome in outcomes(chosen, right, options.jobs):
        mutant = outcome.mutant
        tried[mutant.fault] += 1
        if outcome.noticed is not None:
            killed[mutant.fault] += 1
            print(f"found     {mutant}\n          {outcome.noticed}", flush=True)
            continue
        reason = KNOWN.get(mutant.name)
        unexplained += reason is None
        made = f"other programs in {outcome.other} of {outcome.cases} cases"
        print(f"SURVIVED  {mutant}\n          {made}; {reason or 'no reason is known'}", flush=True)
    for fault, count in tried.items():
        print(f"{fault:18} {killed[fault]:3} of {count:3}")
    rate = killed.total() / max(1, tried.total())
    print(
        f"{killed.total()} of {tried.total()} faults found ({rate:.1%}); survivors without a reason: {unexplained}"
    )
    return int(rate < WANTED or unexplained > 0)


def _right(modules: list[str], kept: Path | None) -> Right:
    if kept is not None and kept.exists():
        return load(kept)
    found = watch(modules)
    if kept is not None:
        found.save(kept)
    return found


def _modules(room: str) -> list[str]:
    package = import_module(room)
    return sorted(m.name for m in pkgutil.walk_packages(package.__path__, f"{room}."))


if __name__ == "__main__":
    sys.exit(main())
