"""Collecting the report of one compiled kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from intent.construct import Analysis, GroupPlan, Plan
from intent.explain import listing, scenes, storage, worksets
from intent.explain.emitted import emitted
from intent.explain.places import Places
from intent.explain.quantity import Environment, plain, quantity, value_of
from intent.explain.report import (
    VERSION,
    Assumption,
    Choice,
    Claim,
    Condition,
    Definition,
    Extent,
    Parameter,
    Report,
    Stage,
    Variant,
)
from intent.explain.work import work
from intent.kir.kernel import Kernel
from intent.physical import Guard, Program, ScalarParam, View
from intent.physical.apart import claims
from intent.provider import Provider, Source
from intent.types.extent import Scalar, Symbol, const

__all__ = ["Built", "collect"]


@dataclass(frozen=True, kw_only=True)
class Built:
    """What a report is about: one variant of a kernel for one provider.

    ``source`` is None when the provider cannot emit it, for the reason ``refusal``. ``env`` binds the extents of a
    launch. ``seconds`` is the time per stage; ``variants`` are the plans and programs that exist so far.
    """

    kernel: Kernel
    analysis: Analysis
    plan: Plan
    program: Program
    provider: Provider
    source: Source | None
    refusal: str | None
    env: Environment | None
    seconds: Mapping[str, float]
    variants: tuple[tuple[Plan, Program], ...]


def collect(built: Built) -> Report:
    """The report."""
    kernel, program, plan, env = built.kernel, built.program, built.plan, built.env
    places = Places(kernel, program)
    groups = worksets.groups(built.analysis, plan, places, env)
    apart = worksets.apart(built.analysis, places)
    segments = tuple(
        listing.segment(program, made, plan.groups[made.group].grouped, places, env)
        for made in program.segments
    )
    return Report(
        version=VERSION,
        kernel=program.name,
        provider=built.provider.name,
        provider_version=built.provider.version,
        constexprs=tuple(Definition(name=name, text=text) for name, text in kernel.constexprs),
        extents=tuple(_extents(env)),
        parameters=tuple(_parameter(p, env) for p in program.params),
        groups=groups,
        apart=apart,
        length=quantity(program.length, env),
        segments=segments,
        plan=_choices(plan),
        knobs=tuple(Extent(name=name, value=value) for name, value in program.knobs),
        buffers=tuple(storage.buffers(program, kernel, places, env)),
        repeated=tuple(storage.repeated(program, places)),
        conditions=tuple(_conditions(program, places, env)),
        assumptions=tuple(
            Assumption(kind=a.kind, text=a.detail, place=places.place(a.span)) for a in kernel.assumptions
        ),
        claims=tuple(_claims(program)),
        variants=tuple(
            Variant(
                plan=_choices(chosen),
                guards=tuple(plain(str(g)) for g in made.guards),
                current=made is program,
            )
            for chosen, made in built.variants
        ),
        work=work(program, env),
        stages=tuple(Stage(name=name, milliseconds=1e3 * value) for name, value in built.seconds.items()),
        emitted=emitted(built.source, built.refusal, program, places),
        lines=places.lines(),
        picture=scenes.picture(program, plan, env),
    )


def _claims(program: Program) -> Iterator[Claim]:
    """What is shown of the whole program. A claim that does not hold is the verifier's to report."""
    for claimed in claims(program):
        if claimed.outcome.proved:
            yield Claim(text=claimed.subject, answer="proved")
        elif claimed.at_launch:
            yield Claim(text=claimed.subject, answer="at the call")


def _extents(env: Environment | None) -> Iterator[Extent]:
    for atom, value in (env or {}).items():
        if isinstance(atom, Symbol | Scalar):
            yield Extent(name=atom.name, value=value)


def _parameter(made: View | ScalarParam, env: Environment | None) -> Parameter:
    size = const(made.dtype.bytes)
    if isinstance(made, ScalarParam):
        return Parameter(
            name=made.name,
            kind="scalar",
            dtype=made.dtype.name,
            shape=(),
            mode=None,
            strides=None,
            alias=None,
            noalias=False,
            bytes=quantity(size, env),
        )
    for e in made.shape:
        size = size * e
    strides = None if made.strides is None else tuple("?" if s is None else str(s) for s in made.strides)
    return Parameter(
        name=made.name,
        kind="view",
        dtype=made.dtype.name,
        shape=tuple(quantity(e, env) for e in made.shape),
        mode=made.mode,
        strides=strides,
        alias=made.alias,
        noalias=made.noalias,
        bytes=quantity(size, env),
    )


def _choices(plan: Plan) -> tuple[Choice, ...]:
    return tuple(
        choice
        for number, group in enumerate(plan.groups)
        for choice in (
            *(Choice(group=number, axis=a, mode="instance", size=size) for a, size in group.instance),
            *(Choice(group=number, axis=a, mode=i.mode, size=i.size) for a, i in group.inner),
            *(Choice(group=number, axis=a, mode="beside", size=n) for a, n in group.beside),
            *(Choice(group=number, axis=a, mode="split", size=n) for a, n in _splits(group)),
        )
    )


def _splits(group: GroupPlan) -> tuple[tuple[str, int], ...]:
    return () if group.split is None else (group.split,)


def _conditions(program: Program, places: Places, env: Environment | None) -> Iterator[Condition]:
    for guard in program.guards:
        yield Condition(
            kind="guard",
            text=plain(str(guard)),
            reason="this variant's guard; another variant runs otherwise",
            holds=_holds(guard, env),
            place=None,
        )
    for condition in program.conditions:
        lhs, rhs = value_of(condition.lhs, env), value_of(condition.rhs, env)
        yield Condition(
            kind="condition",
            text=plain(condition.text),
            reason=condition.reason,
            holds=None if condition.when or lhs is None or rhs is None else condition.holds(lhs, rhs),
            place=places.place(condition.span),
        )


def _holds(guard: Guard, env: Environment | None) -> bool | None:
    value = value_of(guard.extent, env)
    return None if value is None else guard.holds(value)
