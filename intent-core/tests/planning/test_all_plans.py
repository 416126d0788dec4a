"""The default plan of every case of the testkit on one line, for four targets and two calls; and random plans.

Files ``all/TARGET, CALL.txt``, written again by ``INTENT_UPDATE_GOLDENS=1``: what planning decides changes on purpose
only, and the diff shows for which kernels. ``test_default_plans`` has single kernels at more sizes.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

import numpy as np
import pytest

from intent.construct import Analysis, Plan, analyze
from intent.frontend import lower
from intent.planning import default_plan, minimal_plan, random_plan
from intent_testkit.cases import ALL
from intent_testkit.golden import check_golden

from .conftest import IN_PARTS, NATIVE, PAGED, PLAIN, sizes

FOLDER: Final = Path(__file__).parent / "plans" / "all"
TARGETS: Final = {"native": NATIVE, "plain": PLAIN, "in parts": IN_PARTS, "paged": PAGED}
CALLS: Final = {"odd": 2, "large": 3}
"""The number of a call among ``sizes``."""


@cache
def analyses() -> dict[str, Analysis]:
    """Every case, by name."""
    return {case.name: analyze(lower(case.kernel, dict(case.constexprs))) for case in ALL}


def check(name: str, plans: Mapping[str, Plan]) -> None:
    """Compare a plan of every case, a line each. A case that is newer than the file has no line there yet."""
    path, lines = FOLDER / f"{name}.txt", dict(map(line, plans, plans.values()))
    if os.environ.get("INTENT_UPDATE_GOLDENS") != "1":
        written = path.read_text(encoding="utf-8").splitlines()
        lines = {case: text for case, text in lines.items() if case in {x.partition(":")[0] for x in written}}
    check_golden(path, "\n".join(lines.values()) + "\n")


def line(case: str, plan: Plan) -> tuple[str, str]:
    """The case, and its plan on one line."""
    return case, f"{case}: " + "; ".join(part.strip() for part in str(plan).splitlines())


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("target", TARGETS)
def test_all_default_plans(target, call):
    plans = {}
    for name, analysis in analyses().items():
        plans[name] = default_plan(analysis, TARGETS[target], list(sizes(analysis))[CALLS[call]])
    check(f"{target}, {call}", plans)


def test_all_minimal_plans():
    plans = {name: minimal_plan(a, PLAIN, list(sizes(a))[2]) for name, a in analyses().items()}
    check("minimal", plans)


@pytest.mark.parametrize(("target", "call"), [("native", 1), ("plain", 2)])
def test_a_seed_gives_the_same_random_plans(target, call):
    """What a fuzzer found once is found again."""
    plans = {}
    for name, analysis in analyses().items():
        rng = np.random.default_rng(1)
        plans[name] = random_plan(analysis, TARGETS[target], rng, list(sizes(analysis))[call])
    check(f"random, {target}", plans)
