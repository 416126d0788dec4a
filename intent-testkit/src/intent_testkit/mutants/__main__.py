"""``python -m intent_testkit.mutants``: put faults into the compiler and see whether they are found."""

# ruff: noqa: T201 -- the command line prints its findings

from __future__ import annotations

import argparse
import json
import os
import pkgutil
import re
import sys
import time
from collections.abc import Mapping
from importlib import import_module
from math import inf
from pathlib import Path

from intent.provider.registry import registry
from intent_testkit.cases import ALL
from intent_testkit.mutants import watching_texts
from intent_testkit.mutants.campaign import Known, drawn, outcomes
from intent_testkit.mutants.decisions import DECISIONS
from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.operators import OPERATORS
from intent_testkit.mutants.right import load
from intent_testkit.mutants.rooms import ROOMS, Room
from intent_testkit.mutants.sites import mutants_of
from intent_testkit.mutants.tally import Tally
from intent_testkit.mutants.tested import OPERATIONS, of_core
from intent_testkit.mutants.trial import Constructed
from intent_testkit.mutants.typed import told
from intent_testkit.mutants.watching import watch

PROVIDER_ROOMS = ("emit", "casts", "spelling")
SHARED_ROOM = "intent.provider.emission"
PYTHON_ROOM = f"{SHARED_ROOM}.python"
WANTED = 0.95


def main() -> int:
    """Run the campaign; exit status 1 if of any room fewer than 95 % of the wrong compilers are found."""
    options = _options()
    tallies = []
    for name in [options.provider] if options.provider else (options.room or list(ROOMS)):
        mutants = list(_mutants(name, options))
        if options.show:
            options.show.write_text(mutants[0].source, encoding="utf-8")
            return 0
        if options.types:
            print(told(options.types, mutants, options.jobs))
            return 0
        print(
            f"{name}: {len(mutants)} places for faults; watching which cases and tests reach them", flush=True
        )
        chosen = drawn(mutants, options.each, options.seed)
        tallies.append(Tally(name=name))
        right = _right(name, options)
        for outcome in outcomes(chosen, right, options.jobs, begin_within=options.seconds):
            print(tallies[-1].add(outcome), flush=True)
            if options.record:
                with options.record.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(tallies[-1].record(outcome)) + "\n")
        print("\n".join(tallies[-1].by_fault()), flush=True)
    print("\n".join(map(str, tallies)))
    return int(any(tally.rate < WANTED for tally in tallies))


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m intent_testkit.mutants", description=__doc__)
    parser.add_argument(
        "--room", action="append", choices=ROOMS, help="may be repeated (default: all of them)"
    )
    parser.add_argument("--each", type=int, default=4, help="mutants per kind of fault (default 4; 0: all)")
    parser.add_argument("--seed", type=int, default=0, help="of the draw (default 0)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at a time")
    parser.add_argument(
        "--seconds", type=float, default=inf, help="begin no mutant of a room after so many; those begun end"
    )
    parser.add_argument("--only", default="", help="regular expression in a mutant's name")
    parser.add_argument("--names", type=Path, help="only the mutants whose names are the lines of this file")
    parser.add_argument(
        "--cases", type=int, default=60, help="most cases that a mutant is tried on (default 60)"
    )
    parser.add_argument(
        "--reach", type=Path, help="keep what the right compiler makes in this folder, or take it"
    )
    parser.add_argument(
        "--record", type=Path, help="append what becomes of every mutant to this file, as JSON"
    )
    parser.add_argument("--show", type=Path, help="write the mutated module here instead (with --only)")
    parser.add_argument(
        "--types",
        type=Path,
        help="ask the type checker of the mutants in this record of --room, instead of trying any",
    )
    parser.add_argument("--provider", help="faults of what this provider emits, not of the core")
    parser.add_argument("--every", type=int, default=1, help="only each so many-th case of the testkit")
    parser.add_argument(
        "--tests", action="append", default=[], help="with --provider, a file or folder of tests of its own"
    )
    parser.add_argument(
        "--without",
        default="",
        help="with --provider, regular expression in names of tests that are left out",
    )
    return parser.parse_args()


def _mutants(name: str, options: argparse.Namespace) -> list[Mutant]:
    names = options.names.read_text(encoding="utf-8").split() if options.names else None
    return [
        mutant
        for module in _modules(name)
        for mutant in mutants_of(module, {**OPERATORS, **DECISIONS})
        if re.search(options.only, mutant.name) and (names is None or mutant.name in names)
    ]


def _right(name: str, options: argparse.Namespace) -> Known:
    if options.provider:
        cases = [case.name for case in ALL[:: options.every]]
        began = time.monotonic()
        tests = (*OPERATIONS, *of_core("provider"), *options.tests)
        spelled = watching_texts.watch(
            name, _modules(name), cases, tests, jobs=options.jobs, without=options.without
        )
        _say_watched(began, len(cases))
        _say_left_out(spelled.failing)
        return spelled
    room: Room = ROOMS[name]
    kept = options.reach / f"{name}-{options.every}.json" if options.reach else None
    right = None if kept is None else load(kept)
    if right is None:
        began = time.monotonic()
        right = watch(room, _modules(name), options.every, options.jobs)
        _say_watched(began, len(right.programs))
        if kept is not None:
            kept.parent.mkdir(parents=True, exist_ok=True)
            right.save(kept)
    _say_left_out(right.failing)
    return Constructed(right=right, room=room, most=options.cases)


def _say_watched(began: float, cases: int) -> None:
    print(f"watched {cases} cases and the tests in {time.monotonic() - began:.0f} s", flush=True)


def _say_left_out(failing: Mapping[str, str]) -> None:
    for said in failing.values():
        print(f"left out, it fails without any mutant: {said}", flush=True)


def _modules(name: str) -> list[str]:
    """The modules of a room of the core, or of what a provider emits."""
    if name in ROOMS:
        return _below(ROOMS[name].package)
    package = registry().get(name).__module__.split(".")[0]
    rooms = (SHARED_ROOM, *(f"{package}.{room}" for room in PROVIDER_ROOMS))
    found = [module for room in rooms for module in _below(room)]
    if hasattr(import_module(f"{package}.emit.body"), "python"):
        return found
    return [module for module in found if not module.startswith(PYTHON_ROOM)]  # it writes another language


def _below(room: str) -> list[str]:
    package = import_module(room)
    inner = pkgutil.walk_packages(package.__path__, f"{room}.") if hasattr(package, "__path__") else ()
    return sorted([room, *(module.name for module in inner)])


if __name__ == "__main__":
    sys.exit(main())
