"""One kernel through the logical evaluator and through programs of several plans, against numpy."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from intent.construct import Analysis, Plan, analyze, construct
from intent.frontend import lower
from intent.kir import Kernel
from intent.physical import Program
from intent.physical.verify import verify
from intent.planning import default_plan, minimal_plan, random_plan
from intent.provider.registry import registry
from intent.reference import physical
from intent.reference.logical import Adversary, evaluate

PLANS = 5
Arguments = dict[str, Any]


@dataclass(frozen=True)
class Built:
    """A kernel taken apart."""

    kernel: Kernel
    analysis: Analysis

    @property
    def scalars(self) -> set[str]:
        return {s.name for s in self.kernel.scalars}

    def extents(self, arguments: Arguments) -> dict[str, int]:
        """The symbols that the views bind, and the integer scalars."""
        found = {n: int(arguments[n]) for n in self.scalars if isinstance(arguments[n], int)}
        for view in self.kernel.views:
            for extent, size in zip(view.shape, arguments[view.name].shape, strict=True):
                if extent.const is None:
                    found[str(extent)] = size
        return found

    def plans(self, extents: Mapping[str, int], count: int = PLANS) -> Iterator[Plan]:
        """The minimal plan, the default one, everything inside one instance, and random ones, each once."""
        capabilities = registry().get("reference").capabilities
        rng = np.random.default_rng(zlib.crc32(f"{self.kernel.name}{sorted(extents.items())}".encode()))
        seen: list[Plan] = []
        for number in range(count + 3):
            if number < 2:
                plan = (minimal_plan, default_plan)[number](self.analysis, capabilities, extents)
            else:
                plan = random_plan(self.analysis, capabilities, rng, extents)
            if number == 2:
                if any(g.snapshot for g in self.analysis.groups):
                    continue  # such a store has to own what it overwrites
                alone = (replace(g, instance=(), grouped=1, split=None) for g in plan.groups)
                plan = replace(plan, groups=tuple(alone))
            if plan not in seen:
                seen.append(plan)
                yield plan

    def program(self, plan: Plan) -> Program:
        """The verified program of a plan."""
        program = construct(self.kernel, plan, self.analysis)
        verify(program, self.kernel)
        return program


def built(kernel: Any, **constexprs: Any) -> Built:
    """Lower and analyse."""
    lowered = lower(kernel, constexprs)
    return Built(lowered, analyze(lowered))


def close(got: np.ndarray[Any, Any], wanted: Any, tolerance: float) -> bool:
    """Equal for integers; within a tolerance, NaN and infinities in the same places, for floats."""
    if got.dtype.kind in "biu":
        return bool(np.array_equal(got, np.broadcast_to(np.asarray(wanted), got.shape).astype(got.dtype)))
    wide = got.astype(np.float64)
    return bool(np.allclose(wide, wanted, rtol=tolerance, atol=tolerance, equal_nan=True))


Check = Callable[..., None]


@pytest.fixture
def differ() -> Check:
    """``differ(kernel, arguments, wanted)``: every evaluator and plan gives ``wanted``, within ``tolerance``."""

    def check(
        kernel: Any,
        arguments: Arguments,
        wanted: Mapping[str, Any],
        *,
        tolerance: float = 1e-5,
        count: int = PLANS,
        **constexprs: Any,
    ) -> None:
        taken = built(kernel, **constexprs)
        extents = taken.extents(arguments)
        _run(
            "the logical evaluator",
            arguments,
            wanted,
            tolerance,
            lambda given: evaluate(taken.kernel, list(given.values()), Adversary(np.random.default_rng(7))),
        )
        for plan in taken.plans(extents, count):
            program = taken.program(plan)

            def execute(given: Arguments, program: Program = program) -> None:
                views = {v.name: given[v.name] for v in taken.kernel.views}
                scalars = {n: given[n] for n in taken.scalars}
                physical.execute(program, views, scalars, extents, order=np.random.default_rng(5))

            _run(f"plan {plan.name}:\n{plan}", arguments, wanted, tolerance, execute)

    return check


def _run(
    who: str,
    arguments: Arguments,
    wanted: Mapping[str, Any],
    tolerance: float,
    execute: Callable[[Arguments], None],
) -> None:
    given = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
    with np.errstate(all="ignore"):
        execute(given)
    for name, value in wanted.items():
        assert close(given[name], value, tolerance), f"{name} is wrong by {who}\n{given[name]}\nnot\n{value}"


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(11)
