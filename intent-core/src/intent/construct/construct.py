"""KIR and a plan in, a physical program out (spec: kir-to-gpu-program 4)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from intent import kir
from intent import physical as ph
from intent.construct import (
    access,
    contract,
    control,
    fold,
    histogram,
    once,
    pointwise,
    random,
    reduce,
    region_scan,
    scaled,
    scan,
    sparse,
    while_loop,
)
from intent.construct.analysis import Analysis, analyze
from intent.construct.apart import ReducedToo, stored_apart
from intent.construct.cleanup import remove_dead, remove_unread
from intent.construct.context import Context
from intent.construct.copied import ReadsAhead
from intent.construct.emission import DimOrder
from intent.construct.facts import Facts
from intent.construct.frame import Frame, constant_binding
from intent.construct.groups import Group
from intent.construct.parts import Share, checked
from intent.construct.plan import GroupPlan, Plan
from intent.construct.point import Point
from intent.construct.program_space import decode
from intent.construct.relocate import NotAtHome
from intent.construct.split import meet
from intent.construct.statements import Runner
from intent.construct.unshare import unshare
from intent.diagnostics import PlanError
from intent.physical.walk import walk
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import const
from intent.types.extent import scalar as scalar_extent

_RULES = (
    access,
    contract,
    control,
    fold,
    histogram,
    once,
    pointwise,
    random,
    reduce,
    region_scan,
    scaled,
    scan,
    sparse,
    while_loop,
)
"""Importing these registers the evaluation rules."""


def construct(kernel: kir.Kernel, plan: Plan, analysis: Analysis | None = None) -> ph.Program:
    """The physical program of ``kernel`` under ``plan``.

    Raises PlanError when the plan does not fit the kernel, NotSupportedYet for an operation that construction
    does not build yet. The last program is kept with the analysis: planning tries a plan before it is used.
    spec: kir-to-gpu-program 2 to 7.
    """
    analysis = analyze(kernel) if analysis is None else analysis
    what = (plan.groups, plan.guards)
    last = analysis.last
    if last is None or last[0] != what:
        analysis.last = last = (what, _constructed(kernel, plan, analysis))
    return replace(last[1], knobs=plan.knobs)


def _constructed(kernel: kir.Kernel, plan: Plan, analysis: Analysis) -> ph.Program:
    """The program, whatever the provider's settings are."""
    if len(plan.groups) != len(analysis.groups):
        raise PlanError(f"the plan has {len(plan.groups)} groups, the kernel {len(analysis.groups)}")
    views = {v.name: _view(v) for v in kernel.views}
    order = DimOrder()
    facts_known = analysis.facts
    segments: list[ph.Segment] = []
    guards: set[ph.Guard] = set()
    workspace: list[ph.Buffer] = []
    offset: Extent = const(0)
    next_id = 0
    for number, (group, group_plan) in enumerate(zip(analysis.groups, plan.groups, strict=True)):

        def begin(
            forced: frozenset[tuple[int, int]],
            copied: frozenset[int],
            first: int = next_id,
            chosen: GroupPlan = group_plan,
        ) -> Context:
            return Context(
                analysis,
                chosen,
                views,
                order,
                Facts(facts_known, analysis.values),
                plan.guards,
                first,
                forced,
                copied,
            )

        context, segment = _settled(begin, number, group, group_plan, offset)
        segments.append(segment)
        guards |= context.guards
        kept = {op.buffer for op in walk(segment.body) if isinstance(op, ph.BufferAlloc)}
        workspace += [buffer for buffer in context.workspace if buffer in kept]
        offset = offset + segment.length
        next_id = context.emitter.next_id
    params = tuple(
        views[p.name] if isinstance(p, kir.View) else ph.ScalarParam(name=p.name, dtype=p.value.dtype)
        for p in kernel.params
    )
    used = {d for s in segments for op in walk(s.body) for r in op.results for d in r.dims}
    used |= {d for s in segments for op in walk(s.body) if isinstance(op, ph.Store) for d in op.dims}
    return ph.Program(
        name=str(kernel.name),
        params=params,
        segments=tuple(segments),
        workspace=tuple(workspace),
        guards=tuple(sorted(guards, key=str)),
        conditions=kernel.conditions,
        dims=tuple(d for d in order.dims if d in used),
        span=kernel.span,
    )


def _view(view: kir.View) -> ph.View:
    return ph.View(
        name=view.name,
        dtype=view.dtype,
        shape=view.shape,
        mode=view.mode,
        strides=view.strides,
        alias=view.alias,
        noalias=view.noalias,
    )


def _settled(
    begin: Callable[[frozenset[tuple[int, int]], frozenset[int]], Context],
    number: int,
    group: Group,
    plan: GroupPlan,
    offset: Extent,
) -> tuple[Context, ph.Segment]:
    """The segment, built again as long as a value that was held already is wanted elsewhere, or a store reads ahead.

    Stores along a shared axis are for the last instance to arrive where reductions share that axis, too.
    """
    forced: frozenset[tuple[int, int]] = frozenset()
    copied: frozenset[int] = frozenset()
    apart = True
    for _ in range(64):
        context = begin(forced, copied)
        try:
            return context, _segment(context, number, group, plan, offset, apart=apart)
        except NotAtHome as wanted:
            if wanted.value is None:
                raise
            forced |= {(wanted.value, wanted.axis)}
        except ReadsAhead as ahead:
            copied |= {ahead.op}
        except ReducedToo:
            apart = False
    raise PlanError("the held values of a group have no settled home")


def _segment(
    c: Context, number: int, group: Group, plan: GroupPlan, offset: Extent, *, apart: bool
) -> ph.Segment:
    forms = dict(plan.collisions)
    group = group.in_order([op for op in group.collisions if forms.get(op) == "ordered"])
    known = {axis.label: axis for axis in group.axes}
    axes = []
    for label, block in plan.instance:
        if label not in known:
            raise PlanError(
                f"{label} is not an instance axis of group {number}; it has {', '.join(known) or 'none'}"
            )
        if block > 1 and known[label].single:
            raise PlanError(f"control depends on the point of {label}; its block must be 1, not {block}")
        axes.append(ph.SegmentAxis(label=label, extent=known[label].extent, block=block))
    length = const(1)
    for axis in axes:
        length = length * axis.programs
    teams, e = length, c.emitter
    local = e.fragment(INDEX, (), e.root, "program")
    frame = Frame(c.analysis.kernel.body.id, None, e.root)
    for param in c.analysis.kernel.scalars:
        fragment = e.emit(ph.Argument, ((param.value.dtype, ()),), parameter=param.name, name=param.name)[0]
        bound = scalar_extent(param.name) if param.value.dtype.is_integer else None
        frame.bindings[param.value.id] = constant_binding(Point(fragment, low=bound, high=bound))
    team = local
    if plan.split is not None:
        label, count = checked(plan.split)
        team, part = e.index(0), local
        if axes:
            team = e.pointwise("floordiv", local, e.index(count))
            part = e.pointwise("mod", local, e.index(count))
        c.share = Share(label=label, count=count, team=team, part=part, apart=apart)
        axes.append(ph.SegmentAxis(label=f"{label} parts", extent=const(count), block=1))
        length = length * count
    instance = decode(c, tuple(axes[:-1] if c.share else axes), team, plan.grouped, frame)
    Runner(c, group, instance).run(c.analysis.kernel.body, frame)
    parts = 1
    if c.share is not None and not stored_apart(c, c.share):
        meet(c, c.share, teams)
        parts = c.share.count
    live = remove_unread(remove_dead(ph.Region(args=(local,), ops=tuple(e.root.ops))))
    body, e.next_id = unshare(live, e.next_id)
    return ph.Segment(group=number, axes=tuple(axes), length=length, offset=offset, body=body, parts=parts)
