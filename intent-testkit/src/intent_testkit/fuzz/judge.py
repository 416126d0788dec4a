"""One kernel through every evaluator and several plans; the first disagreement, if any."""

from __future__ import annotations

import itertools
import linecache
import os
import re
import traceback
import warnings
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final

import numpy as np

import intent
from intent import kir
from intent.construct import Analysis, Plan, analyze, construct
from intent.diagnostics import CollidingWrites, ConflictingAccess, OverlappingViews
from intent.frontend import lower
from intent.physical.verify import verify
from intent.planning import default_plan, minimal_plan, random_plan
from intent.provider.registry import registry
from intent.reference import physical
from intent.reference.logical import Adversary, Choices, evaluate
from intent.types.dtypes import BY_NAME
from intent.types.extent import Scalar, Symbol
from intent_testkit.fuzz.eager import FILE, Conflict, Invalid, run_eagerly
from intent_testkit.fuzz.kinds import Extents, Param, Program, draw, overlaid
from intent_testkit.fuzz.placing import Placed, shared_pair
from intent_testkit.fuzz.plans import hostile_plan, sharing_plan
from intent_testkit.fuzz.refused import points_meet

_FILES: Final = itertools.count()
IMPORTS: Final = "import intent\nimport intent.language as I\n"


@dataclass(kw_only=True)
class Failure:
    """What went wrong: the stage that disagreed or raised, and everything needed to see it again."""

    stage: str
    kind: str
    detail: str
    program: Program
    extents: Extents
    plan: Plan | None = None
    arguments: dict[str, Any] = field(default_factory=dict)
    layout: str = ""

    @property
    def signature(self) -> tuple[str, str]:
        """What a smaller program must still show to be the same failure."""
        return (self.stage.split()[0], self.kind)


@dataclass(frozen=True, kw_only=True)
class Options:
    """How much is tried on one kernel."""

    random_plans: int = 3
    adversaries: int = 2
    providers: tuple[str, ...] = ()
    provider_plans: int = 2
    plan: Plan | None = None
    """Only this plan, in place of all."""


class Stop(Exception):
    """Carries a failure out of the stages."""

    def __init__(self, failure: Failure) -> None:
        self.failure = failure


def _quiet(source: str) -> Any:
    """The text as Python; shrinking makes texts that Python finds odd."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compile(source.replace(IMPORTS, "\n\n", 1), FILE, "exec", dont_inherit=True)


def define(source: str, name: str) -> Any:
    """The kernel of a module's text."""
    file = f"<fuzz {next(_FILES)}>"
    linecache.cache[file] = (len(source), None, source.splitlines(keepends=True), file)
    namespace: dict[str, Any] = {"__name__": "fuzzed"}
    exec(compile(source, file, "exec", dont_inherit=True), namespace)  # noqa: S102 -- the text is the fuzzer's own
    return namespace[name]


class Judge:
    """The stages of one program."""

    def __init__(self, program: Program, options: Options) -> None:
        self.program = program
        self.options = options
        self.eager = _quiet(program.source)
        self.outs = frozenset(p.name for p in program.params if p.role == "out")
        self.rng = np.random.default_rng(zlib.crc32(program.source.encode()))
        self.where: dict[str, Any] = {}
        self.made: list[tuple[str, Plan, Any]] = []

    def run(self) -> Failure | None:
        """The first failure. Raises Invalid when the program has no meaning."""
        try:
            wanted = [self._wanted(extents) for extents in self.program.extents]
            kernel, analysis = self._stage("front end", self._analyse)
            for extents, (values, result) in zip(self.program.extents, wanted, strict=True):
                self.where = {"extents": extents, "arguments": values}
                self._logical(kernel, values, result)
                self._check(kernel, values)
                self._again(extents, values, result)
                if extents not in self.program.extents[2:]:
                    self._plans(kernel, analysis, extents, values, result)
                if self.options.plan is None:
                    self._shared(extents, values)
            for name in self.options.providers:
                self._provider(name, analysis, wanted)
        except Stop as stop:
            return stop.failure
        return None

    def _wanted(self, extents: Extents) -> tuple[dict[str, Any], dict[str, Any]]:
        values = draw(
            self.program, extents, np.random.default_rng(zlib.crc32(repr(sorted(extents.items())).encode()))
        )
        result = self._copied(values)
        run_eagerly(self.eager, self.program.name, result, self.outs)
        return values, result

    def _copied(self, values: dict[str, Any]) -> dict[str, Any]:
        copies = {k: v.copy() if isinstance(v, np.ndarray) else v for k, v in values.items()}
        return overlaid(self.program, copies)

    def _analyse(self) -> tuple[kir.Kernel, Analysis]:
        self.definition = define(self.program.source, self.program.name)
        try:
            kernel = lower(self.definition)
        except (CollidingWrites, ConflictingAccess) as error:
            if points_meet(self.program, self.eager, self.outs):
                raise Conflict("parallel points conflict at other extents or on other data") from error
            raise
        return kernel, analyze(kernel)

    def _logical(self, kernel: kir.Kernel, values: dict[str, Any], result: dict[str, Any]) -> None:
        for number in range(1 + self.options.adversaries):
            choices = Adversary(self.rng) if number else Choices()
            got = self._copied(values)
            self._stage("logical", partial(evaluate, kernel, list(got.values()), choices))
            self._same("logical", got, result)

    def _check(self, kernel: kir.Kernel, values: dict[str, Any]) -> None:
        """The sanitizer has nothing to say about a program that has a meaning (now and then)."""
        if self.options.plan is not None or self.rng.random() > 0.3:
            return
        given = [v if isinstance(v, np.ndarray) else v.item() for v in values.values()]
        found = self._stage("check", partial(intent.check, kernel, *given))
        if found:
            self._fail("check", "reports", str(found))

    def _plans(
        self,
        kernel: kir.Kernel,
        analysis: Analysis,
        extents: Extents,
        values: dict[str, Any],
        result: dict[str, Any],
    ) -> None:
        capabilities = registry().get("reference").capabilities
        named = self._named(extents, values)
        for stage, plan in self._chosen(analysis, capabilities, named):
            self.where["plan"] = plan
            made = self._stage(f"construct {stage}", partial(construct, kernel, plan, analysis))
            self._stage(f"verify {stage}", partial(verify, made, kernel))
            broken = _violated(made, extents, named)
            if broken:
                self._fail(f"guards {stage}", "violated", broken)
            self._execute(f"physical {stage}", made, values, result, named)
            self.made.append((stage, plan, made))
        self.where.pop("plan", None)
        self.where.pop("layout", None)

    def _execute(
        self, stage: str, made: Any, values: dict[str, Any], result: dict[str, Any], named: dict[str, int]
    ) -> None:
        placed = self._placed(values)
        scalars = {k: v for k, v in values.items() if k not in placed.arrays}
        run = partial(physical.execute, made, placed.arrays, scalars, named, order=self.rng, find_races=True)
        self._stage(stage, run)
        self._judge(stage, placed, result)

    def _again(self, extents: Extents, values: dict[str, Any], result: dict[str, Any]) -> None:
        """Programs made for other extents, where their guards hold for these."""
        named = self._named(extents, values)
        for number in self.rng.permutation(len(self.made))[:2]:
            stage, plan, made = self.made[int(number)]
            if not _violated(made, extents, named):
                self.where["plan"] = plan
                self._execute(f"physical {stage} of other extents", made, values, result, named)

    def _placed(self, values: dict[str, Any]) -> Placed:
        placed = Placed.random(self.program, values, self.rng)
        self.where["layout"] = placed.variant
        return placed

    def _judge(self, stage: str, placed: Placed, result: dict[str, Any]) -> None:
        self._stage(stage, placed.check)
        self._same(stage, placed.arrays, result)

    def _shared(self, extents: Extents, values: dict[str, Any]) -> None:
        """An Out or InOut that is the very array of an In: the In means what it held before, or the call is refused."""
        pair = shared_pair(self.program, self.rng)
        if pair is None or self.rng.random() < 0.5:
            return
        self.where["layout"] = f"{pair[0]} and {pair[1]} are one array"
        wanted, got = self._copied(values), self._copied(values)
        wanted[pair[1]], got[pair[1]] = wanted[pair[0]].copy(), got[pair[0]]
        run_eagerly(self.eager, self.program.name, wanted, self.outs - {pair[1]})
        try:
            self._launch("reference", None, got)
        except OverlappingViews:
            return
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is the finding
            self._fail("shared", type(error).__name__, _text(error))
        wanted[pair[0]] = wanted[pair[1]]
        self._same("shared", got, wanted)

    def _named(self, extents: Extents, values: dict[str, Any]) -> dict[str, int]:
        """Symbols and integer scalars by name."""
        scalars = [p.name for p in self.program.params if p.role == "scalar"]
        return {**extents, **{k: int(values[k]) for k in scalars if values[k].dtype.kind in "iu"}}

    def _chosen(
        self, analysis: Analysis, capabilities: Any, named: dict[str, int]
    ) -> Iterator[tuple[str, Plan]]:
        seen: set[Plan] = set()
        if self.options.plan is not None:
            yield self.options.plan.name or "random", self.options.plan
            return
        count = self.options.random_plans
        drawn = partial(random_plan, analysis, capabilities, self.rng, named)
        provoking = partial(self._provoking, analysis, capabilities, named)
        makers: list[tuple[str, Callable[[], Plan]]] = [
            ("minimal", partial(minimal_plan, analysis, capabilities, named)),
            ("default", partial(default_plan, analysis, capabilities, named)),
            *[("random", drawn)] * (count - count // 3),
            *[("hostile", provoking)] * (count // 3),
        ]
        for stage, make in makers:
            plan = self._stage(f"planning {stage}", make)
            if plan not in seen:
                seen.add(plan)
                yield stage, plan

    def _provoking(self, analysis: Analysis, capabilities: Any, named: dict[str, int]) -> Plan:
        plan = hostile_plan(analysis, capabilities, self.rng, named)
        return sharing_plan(plan, analysis, self.rng) if self.rng.random() < 0.6 else plan

    def _provider(
        self, name: str, analysis: Analysis, wanted: list[tuple[dict[str, Any], dict[str, Any]]]
    ) -> None:
        capabilities = registry().get(name).capabilities
        with emulating():
            for extents, (values, result) in zip(self.program.extents, wanted, strict=True):
                if (
                    not all(extents.values())
                    and extents is not self.program.extents[0]
                    and self.rng.random() < 0.5
                ):
                    continue
                self.where = {"extents": extents, "arguments": values}
                named = self._named(extents, values)
                more = self.options.provider_plans - 1
                plans: list[Plan | None] = [None]
                drawn = [random_plan(analysis, capabilities, self.rng, named) for _ in range(more)]
                plans += [sharing_plan(plan, analysis, self.rng) for plan in drawn]
                for plan in plans:
                    self.where["plan"] = plan
                    placed = self._placed(values)
                    got = {k: placed.arrays.get(k, v) for k, v in values.items()}
                    stage = f"{name} {'default' if plan is None else 'random'}"
                    self._stage(stage, partial(self._launch, name, plan, got))
                    self._judge(stage, placed, result)

    def _launch(self, provider: str, plan: Plan | None, got: dict[str, Any]) -> None:
        artifact = intent.compile(self.definition, provider=provider, plan=plan)
        artifact(*[v if v.ndim or isinstance(v, np.ndarray) else v.item() for v in got.values()])

    # -- verdicts ----------------------------------------------------------------------------------------------

    def _stage(self, stage: str, action: Callable[[], Any]) -> Any:
        try:
            return action()
        except Invalid:
            raise
        except Exception as error:  # noqa: BLE001 -- whatever it is, it is the finding
            kind = type(error).__name__
            said = re.sub(r"<fuzz \d+>:\d+:\d+:|'[^']*'|[%@]?\w*\d\w*|\n.*", "", str(error), flags=re.DOTALL)
            self._fail(stage, f"{kind}: {said.strip()}"[:150], _text(error))

    def _same(self, stage: str, got: dict[str, Any], wanted: dict[str, Any]) -> None:
        for param in self.program.views:
            problem = difference(param, got[param.name], wanted[param.name])
            if problem:
                self._fail(stage, "differs", problem)

    def _fail(self, stage: str, kind: str, detail: str) -> None:
        where = {"extents": self.program.extents[0], **self.where}
        raise Stop(Failure(stage=stage, kind=kind, detail=detail, program=self.program, **where))


def difference(param: Param, got: Any, wanted: Any) -> str:
    """The first element that differs, as text; an Out element that nobody writes keeps what it held."""
    a, b = np.asarray(got), np.asarray(wanted)
    if BY_NAME[param.dtype].is_float:
        a, b = a.astype(np.float64), b.astype(np.float64)
        bad = ~((a == b) | (np.isnan(a) & np.isnan(b)))
    else:
        bad = a != b
    if not bad.any():
        return ""
    place = tuple(int(p) for p in np.argwhere(bad)[0])
    return f"{param.name}{list(place)} is {a[place]}, not {b[place]} ({int(bad.sum())} of {bad.size} elements differ)"


def _violated(made: Any, extents: Extents, named: dict[str, int]) -> str:
    environment: dict[Any, int] = {Symbol(n): v for n, v in extents.items()}
    environment |= {Scalar(n): v for n, v in named.items() if n not in extents}
    return ", ".join(str(g) for g in made.guards if not g.holds(g.extent.evaluate(environment)))


def _text(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    deepest = frames[-1]
    return f"{error}\n  raised at {deepest.filename.split('/src/')[-1]}:{deepest.lineno} in {deepest.name}"


@contextmanager
def emulating() -> Iterator[None]:
    """GPU providers run their source on the CPU."""
    before = os.environ.get("INTENT_EXECUTION")
    os.environ["INTENT_EXECUTION"] = "emulate"
    try:
        yield
    finally:
        if before is None:
            os.environ.pop("INTENT_EXECUTION", None)
        else:
            os.environ["INTENT_EXECUTION"] = before


def judge(program: Program, options: Options = Options()) -> Failure | None:
    """The first failure of a program, or None. Raises Invalid when it has no meaning."""
    return Judge(program, options).run()
