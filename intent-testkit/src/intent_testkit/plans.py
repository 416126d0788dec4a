"""Logical kernels, plans and programs of a case. The one file that knows how core makes them.

Nothing here has a fallback: the program that is built is the program of the plan that was asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np

from intent.construct import Analysis, GroupPlan, Inner, Plan, analyze, construct, resident, serial
from intent.frontend import lower
from intent.kir import Kernel
from intent.passes import PASSES, Permissions
from intent.physical import Guard, Program
from intent.physical.verify import Meanings, verify
from intent.planning import default_plan, minimal_plan, random_plan
from intent.planning.legal import bound_of, divisible, legal, must_be_whole, power_of_two, size_of
from intent.planning.sharing import shareable, with_split
from intent.provider import Capabilities
from intent.provider.registry import registry
from intent.reference import physical
from intent.reference.logical import Adversary, Choices
from intent.reference.logical import evaluate as evaluate_logical
from intent.types.extent import Scalar, Symbol, const
from intent_testkit.cases.case import Case, ScalarSpec
from intent_testkit.cases.draw import Extents
from intent_testkit.index_bounds import within_bounds

# Blocks of instance axes, the axis that stays inside, and how inner axes are walked (None: at once).
_WAYS: Final[tuple[tuple[int, int | None, Inner | None], ...]] = (
    (4, None, serial(1)),
    (1, None, None),
    (4, 0, serial(1)),
    (2, -1, serial(4)),
    (1, 0, None),
)
_NO_GUARD: Final = Guard(kind="divisible", extent=const(1), bound=1)
# Random plans repeat themselves on kernels with one short axis; there are never more tries than this.
_TRIES = 40


class Compiled:
    """A case taken apart: its logical kernel, the analysis, plans for extents, programs for plans."""

    def __init__(
        self, case: Case, capabilities: Capabilities | None = None, *, kernel: Kernel | None = None
    ) -> None:
        self.case = case
        self.kernel = kernel or lower(case.kernel, dict(case.constexprs))
        self.analysis: Analysis = analyze(self.kernel)
        self.meanings = Meanings(self.kernel)
        self.capabilities = capabilities or registry().get("reference").capabilities

    def minimal(self, extents: Extents | None = None) -> Plan:
        """The spec's initial program."""
        return minimal_plan(self.analysis, self.capabilities, extents and self.named(extents))

    def default(self, extents: Extents) -> Plan:
        """The plan used when nothing is said."""
        return default_plan(self.analysis, self.capabilities, self.named(extents))

    def random(self, extents: Extents, rng: np.random.Generator, count: int) -> Iterator[Plan]:
        """Up to ``count`` random plans that differ from each other and from the minimal one.

        Fewer only where the kernel has no axis to lay out in another way.
        """
        seen = {self.minimal(extents)}
        for _ in range(_TRIES):
            if len(seen) > count:
                return
            plan = random_plan(self.analysis, self.capabilities, rng, self.named(extents))
            if plan not in seen:
                seen.add(plan)
                yield plan

    def systematic(self, extents: Extents) -> Iterator[Plan]:
        """Plans that between them lay out every axis in every way: what random plans may leave out.

        All instance blocks 1 or 4; the first, the last or no axis kept inside; inner axes element by element, in
        blocks of 4 or at once; programs grouped; every guard that holds. Colliding writes in every form. Every
        reduction that instances can share, in three parts and in two.
        """
        for block, kept, how in _WAYS:
            yield self._laid_out(extents, block, kept, how, self.capabilities)
        if any(group.collisions for group in self.analysis.groups):
            exchanges = frozenset(a for a in self.capabilities.atomics if a[0] == "compare_exchange")
            for atomics in (exchanges, frozenset[tuple[str, str]]()):
                less = replace(self.capabilities, atomics=atomics)
                yield minimal_plan(self.analysis, less, self.named(extents))
                yield self._laid_out(extents, 4, None, serial(4), less)

        yield from self.shared(extents)

    def shared(self, extents: Extents) -> Iterator[Plan]:
        """Plans in which several instances share one reduction, or the members of a store, for each that can be."""
        bases = (
            (3, self._laid_out(extents, 1, None, serial(2), self.capabilities)),
            (2, self._laid_out(extents, 4, None, serial(4), self.capabilities)),
            (3, self.default(extents)),
        )
        for number, group in enumerate(self.analysis.groups):
            for count, plan in bases:
                for label in sorted(shareable(self.analysis, group, plan.groups[number])):
                    split = with_split(plan, number, label, count, self.analysis)
                    if split is not None:
                        planes = self.capabilities.planes > 0
                        yield replace(split, peel=self.capabilities.plans.shared_peel, planes=planes)

    def _laid_out(
        self, extents: Extents, block: int, kept: int | None, how: Inner | None, capabilities: Capabilities
    ) -> Plan:
        named, analysis = dict(self.named(extents)), self.analysis
        whole = must_be_whole(analysis)
        guards: set[Guard] = set()
        inner = []
        for label, axis in sorted(analysis.inner.items()):
            size = bound_of(analysis, label, named, 64)
            if label in whole or (how is None and axis.extent.launch_visible):
                inner.append((label, resident(power_of_two(size))))
                continue
            chosen = how or serial(4)
            inner.append((label, chosen))
            guards.add(divisible(axis.extent, chosen.size, size) or _NO_GUARD)
        groups = []
        for group in analysis.groups:
            axes = list(group.axes)
            walked = dict(inner)
            if kept is not None and axes and not group.snapshot:
                own = axes.pop(kept)
                if own.single:
                    walked[own.label] = serial(1)  # control depends on the point
            instance = tuple((a.label, 1 if a.single else block) for a in axes)
            for a in axes:
                guards.add(divisible(a.extent, block, size_of(a.extent, named, 64)) or _NO_GUARD)
            groups.append(
                GroupPlan(instance=instance, inner=tuple(walked.items()), grouped=2 if len(axes) > 1 else 1)
            )
        guards.discard(_NO_GUARD)
        plan = Plan(groups=tuple(groups), guards=tuple(sorted(guards, key=str)), name="systematic")
        return legal(plan, analysis, capabilities)

    def program(self, plan: Plan) -> Program:
        """The program of exactly this plan, verified, also after every pass that changes it."""
        program = made = self.constructed(plan)
        verify(program, self.kernel, self.meanings)
        for _, run in PASSES:
            before, made = made, run(made, Permissions())
            if made != before:
                verify(made, self.kernel, self.meanings)
        return program

    def constructed(self, plan: Plan) -> Program:
        """The program of exactly this plan, not verified."""
        return construct(self.kernel, plan, self.analysis)

    def environment(self, extents: Extents) -> dict[Any, int]:
        """Values of the symbols and integer scalars, as extents bind them."""
        scalars = {name: value for name, value in self.named(extents).items() if name not in extents}
        return {Symbol(n): v for n, v in extents.items()} | {Scalar(n): v for n, v in scalars.items()}

    def named(self, extents: Extents) -> dict[str, int]:
        """The extents and the integer scalars by name."""
        integers = {
            spec.name: int(spec.of(extents))
            for spec in self.case.parameters
            if isinstance(spec, ScalarSpec) and spec.dtype.startswith(("i", "u"))
        }
        return {**extents, **integers}

    def run_logical(self, arguments: Sequence[Any], adversary: np.random.Generator | None = None) -> None:
        """The logical evaluator; ``adversary`` chooses at random where the language leaves a choice."""
        choices: Choices = Choices() if adversary is None else Adversary(adversary)
        evaluate_logical(self.kernel, arguments, choices)

    def run_physical(
        self, program: Program, named: Mapping[str, Any], extents: Extents, order: np.random.Generator
    ) -> None:
        """The physical evaluator, instances in random order and batches of random size; indices within bounds."""
        views = {spec.name: named[spec.name] for spec in self.case.views}
        scalars = {name: value for name, value in named.items() if name not in views}
        watch = within_bounds(program, self.environment(extents))
        physical.execute(program, views, scalars, self.named(extents), order=order, watch=watch)


def violated(program: Program, compiled: Compiled, extents: Extents) -> list[str]:
    """The guards of a program that do not hold for these extents, as text."""
    environment = compiled.environment(extents)
    return [str(guard) for guard in program.guards if not guard.holds(guard.extent.evaluate(environment))]
