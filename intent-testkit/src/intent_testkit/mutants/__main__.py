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

from intent.provider.registry import registry
from intent_testkit.mutants import emitted
from intent_testkit.mutants.campaign import Known, drawn, outcomes
from intent_testkit.mutants.decisions import DECISIONS
from intent_testkit.mutants.operators import OPERATORS
from intent_testkit.mutants.right import Right, load, watch
from intent_testkit.mutants.sites import mutants_of
from intent_testkit.mutants.survivors import KNOWN
from intent_testkit.mutants.trial import Constructed

ROOMS = ("intent.construct", "intent.passes")
PROVIDER_ROOMS = ("emit", "casts", "spelling")
SHARED_ROOM = "intent.provider.emission"
WANTED = 0.95


def main() -> int:
    """Run the campaign; exit status 1 if fewer than 95 % of the compilers that are not right are found."""
    parser = argparse.ArgumentParser(prog="python -m intent_testkit.mutants", description=__doc__)
    parser.add_argument("--each", type=int, default=12, help="mutants per kind of fault (default 12; 0: all)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument("--only", default="", help="regular expression in a mutant's name")
    parser.add_argument(
        "--reach", type=Path, help="keep programs and lines of the right compiler in this file, or take it"
    )
    parser.add_argument("--show", type=Path, help="write the mutated module here instead (with --only)")
    parser.add_argument("--provider", help="faults of what this provider emits, not of construction")
    parser.add_argument("--every", type=int, default=1, help="with --provider, only each so many-th case")
    options = parser.parse_args()
    modules = [name for room in _rooms(options.provider) for name in _modules(room)]
    operators = OPERATORS if options.provider is None else {**OPERATORS, **DECISIONS}
    found = [
        m for module in modules for m in mutants_of(module, operators) if re.search(options.only, m.name)
    ]
    if options.show:
        options.show.write_text(found[0].source, encoding="utf-8")
        return 0
    print(f"{len(found)} places for faults; watching which cases reach them ...", flush=True)
    right: Known = (
        Constructed(right=_right(modules, options.reach))
        if options.provider is None
        else emitted.watch(options.provider, modules, options.every)
    )
    chosen = drawn(found, right, options.each, options.seed)
    tried: Counter[str] = Counter()
    killed: Counter[str] = Counter()
    slower: Counter[str] = Counter()
    known = unexplained = 0
    for outcome in outcomes(chosen, right, options.jobs):
        mutant = outcome.mutant
        tried[mutant.fault] += 1
        if outcome.noticed is not None:
            killed[mutant.fault] += 1
            print(f"found     {mutant}\n          {outcome.noticed}", flush=True)
            continue
        made = f"other programs in {outcome.other} of {outcome.cases} cases"
        if outcome.dearer:
            slower[mutant.fault] += 1
            print(f"DEARER    {mutant}\n          {made}: {', '.join(outcome.dearer)}", flush=True)
            continue
        reason = KNOWN.get(mutant.name)
        known += reason is not None
        unexplained += reason is None
        print(f"SURVIVED  {mutant}\n          {made}; {reason or 'no reason is known'}", flush=True)
    for fault, count in tried.items():
        print(f"{fault:18} {killed[fault]:3} of {count:3}, {slower[fault]:3} right but dearer")
    wrong = tried.total() - slower.total() - known
    rate = killed.total() / max(1, wrong)
    print(
        f"{tried.total()} compilers: {killed.total()} found wrong, {slower.total()} right but dearer, {known} right for"
        f" reasons that are known, {unexplained} not told apart: {rate:.1%} of the wrong ones are found"
    )
    return int(rate < WANTED)


def _right(modules: list[str], kept: Path | None) -> Right:
    if kept is not None and kept.exists():
        return load(kept)
    found = watch(modules)
    if kept is not None:
        found.save(kept)
    return found


def _rooms(provider: str | None) -> tuple[str, ...]:
    if provider is None:
        return ROOMS
    return (
        SHARED_ROOM,
        *(f"{registry().get(provider).__module__.split('.')[0]}.{r}" for r in PROVIDER_ROOMS),
    )


def _modules(room: str) -> list[str]:
    package = import_module(room)
    if not hasattr(package, "__path__"):
        return [room]
    return sorted(m.name for m in pkgutil.walk_packages(package.__path__, f"{room}."))


if __name__ == "__main__":
    sys.exit(main())
