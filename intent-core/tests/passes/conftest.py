"""Programs of a kernel before and after every pass: verified, run on the same inputs, compared with an oracle."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest

from intent.construct import Plan, analyze, construct, resident, serial
from intent.frontend import lower
from intent.passes import PASSES, Permissions
from intent.physical import Loop, Op, Program
from intent.physical.verify import verify
from intent.physical.walk import walk
from intent.planning import default_plan
from intent.provider.registry import registry
from intent.reference import physical


@dataclass
class Stages:
    """The program as constructed, and after each pass in order."""

    programs: dict[str, Program]

    @property
    def first(self) -> Program:
        return self.programs["constructed"]

    @property
    def last(self) -> Program:
        return list(self.programs.values())[-1]

    def changed(self, name: str) -> bool:
        """Whether the pass did anything."""
        names = list(self.programs)
        return self.programs[name] is not self.programs[names[names.index(name) - 1]]

    def rerun(self, arguments: dict[str, Any], wanted: Mapping[str, Any], *, tolerance: float) -> None:
        """Run the last program on other arguments."""
        _run("all passes", self.last, arguments, wanted, tolerance)

    def outputs(self, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
        """What the program after a pass writes."""
        return executed(self.programs[name], arguments)

    def ops(self, kind: type[Op], after: str = "") -> list[Any]:
        """Operations of a kind after a pass (after all of them), in order."""
        program = self.programs[after] if after else self.last
        return [op for s in program.segments for op in walk(s.body) if isinstance(op, kind)]

    def loops(self, after: str = "") -> list[Loop]:
        return self.ops(Loop, after)


def blocked(
    kernel: Any, blocks: Mapping[str, int], inside: tuple[str, ...] = (), **constexprs: Any
) -> tuple[Any, Any, Plan]:
    """The kernel with a plan: instance axes in blocks, inner axes walked in blocks, the other ones at once.

    ``inside``: axes that would enter program space and are walked instead.
    """
    lowered = lower(kernel, constexprs)
    analysis = analyze(lowered)
    plan = default_plan(analysis, registry().get("reference").capabilities, None)
    groups = []
    for group in plan.groups:
        instance = tuple((label, blocks.get(label, 1)) for label, _ in group.instance if label not in inside)
        labels = dict.fromkeys((*analysis.inner, *inside))
        inner = tuple((label, serial(blocks[label]) if label in blocks else resident(32)) for label in labels)
        groups.append(replace(group, instance=instance, inner=inner, grouped=1))
    return lowered, analysis, replace(plan, groups=tuple(groups), guards=(), knobs=())


Run = Callable[..., Stages]


@pytest.fixture
def stages() -> Run:
    """``stages(kernel, blocks, arguments, wanted)``: every stage is legal and gives ``wanted`` within ``tolerance``."""

    def run(
        kernel: Any,
        blocks: Mapping[str, int],
        arguments: dict[str, Any],
        wanted: Mapping[str, Any],
        *,
        tolerance: float = 0.0,
        permissions: Permissions | None = None,
        inside: tuple[str, ...] = (),
        **constexprs: Any,
    ) -> Stages:
        lowered, analysis, plan = blocked(kernel, blocks, inside, **constexprs)
        found = dict(_stages(construct(lowered, plan, analysis), permissions or Permissions()))
        for name, program in found.items():
            verify(program, lowered)
            _run(name, program, arguments, wanted, tolerance)
        return Stages(found)

    return run


@pytest.fixture
def constructed() -> Callable[..., tuple[Program, Any]]:
    """``constructed(kernel, blocks)``: its program before all passes, and the kernel that it is of."""

    def build(kernel: Any, blocks: Mapping[str, int], **constexprs: Any) -> tuple[Program, Any]:
        lowered, analysis, plan = blocked(kernel, blocks, **constexprs)
        return construct(lowered, plan, analysis), lowered

    return build


def _stages(program: Program, permissions: Permissions) -> Iterator[tuple[str, Program]]:
    yield "constructed", program
    for name, run in PASSES:
        program = run(program, permissions)
        yield name, program


def executed(program: Program, arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments after a run on copies of them."""
    given = {n: v.copy() if isinstance(v, np.ndarray) else v for n, v in arguments.items()}
    views = {v.name: given[v.name] for v in program.views}
    scalars = {s.name: given[s.name] for s in program.scalars}
    extents = {n: v for n, v in scalars.items() if isinstance(v, int)}
    for view in program.views:
        for extent, size in zip(view.shape, given[view.name].shape, strict=True):
            if extent.const is None:
                extents[str(extent)] = size
    physical.execute(program, views, scalars, extents, order=np.random.default_rng(3), find_races=True)
    return given


def _run(
    name: str, program: Program, arguments: dict[str, Any], wanted: Mapping[str, Any], tolerance: float
) -> None:
    given = executed(program, arguments)
    for out, value in wanted.items():
        got = np.asarray(given[out], np.float64)
        error = f"'{out}' is wrong after {name}\n{got}\nnot\n{value}\n{program}"
        assert np.allclose(got, value, rtol=tolerance, atol=tolerance, equal_nan=True), error
        assert np.array_equal(np.isnan(got), np.isnan(np.broadcast_to(value, got.shape))), error


@pytest.fixture
def run() -> Callable[[Program, dict[str, Any]], dict[str, Any]]:
    """``run(program, arguments)``: the arguments after a run on copies of them."""
    return executed


@pytest.fixture
def relaxed() -> Permissions:
    return Permissions(relaxed=True)


@pytest.fixture
def rng() -> np.random.Generator:
    return np.random.default_rng(17)
