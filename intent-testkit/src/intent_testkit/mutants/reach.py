"""Which cases run which lines of the compiler, cheapest first."""

from __future__ import annotations

import importlib.util
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TypeAlias

import coverage

from intent_testkit.cases import ALL
from intent_testkit.differential import check_plans

Reach: TypeAlias = Mapping[str, Mapping[int, list[str]]]
"""Module -> line -> names of cases."""


def reach(modules: Iterable[str]) -> Reach:
    """Run the differential tests of every case once, watching the modules."""
    files = {_file(module): module for module in modules}
    watch = coverage.Coverage(include=list(files), data_file=None, branch=False)
    seconds: dict[str, float] = {}
    watch.start()
    try:
        for case in ALL:
            watch.switch_context(case.name)
            began = time.perf_counter()
            check_plans(case)
            seconds[case.name] = time.perf_counter() - began
    finally:
        watch.stop()
    data = watch.get_data()
    found: dict[str, dict[int, list[str]]] = defaultdict(dict)
    for file in data.measured_files():
        for line, cases in data.contexts_by_lineno(file).items():
            named = [case for case in cases if case in seconds]
            found[files[file]][line] = sorted(named, key=lambda case: seconds[case])
    return found


def _file(module: str) -> str:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise ModuleNotFoundError(module)
    return str(Path(spec.origin).resolve())
