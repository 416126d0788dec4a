"""Kernels, laid out in blocks, and small edits of their programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

import intent.physical as ph
from intent.construct import GroupPlan, Inner, Plan, analyze, construct, serial
from intent.frontend import lower
from intent.kir import Kernel
from intent.passes import Permissions
from intent.passes.narrowing import narrowing
from intent.physical.walk import walk
from intent.reference import physical
from intent.reference.logical import evaluate


@dataclass(frozen=True)
class Made:
    """A kernel and its program."""

    kernel: Kernel
    program: ph.Program

    def run(self, program: ph.Program, arguments: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What ``program`` leaves in the views. Races between instances are errors."""
        copies = {name: np.array(a) for name, a in arguments.items()}
        extents = {
            str(e): n
            for view in self.kernel.views
            for e, n in zip(view.shape, copies[view.name].shape, strict=True)
            if e.const is None
        }
        physical.execute(program, copies, {}, extents, find_races=True)
        return copies

    def meaning(self, arguments: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """What the kernel leaves in the views."""
        copies = {name: np.array(a) for name, a in arguments.items()}
        evaluate(self.kernel, [copies[p.name] for p in self.kernel.params])
        return copies


def made(
    source: Any,
    block: int = 4,
    inner: Inner | None = None,
    *,
    narrow: bool = False,
    split: tuple[str, int] | None = None,
) -> Made:
    """The program with all instance axes in blocks of ``block`` and all others walked as ``inner`` says.

    ``narrow``: after the pass that narrows ranges. ``split``: the axis that instances share, and how many do.
    """
    kernel = lower(source)
    analysis = analyze(kernel)
    groups = tuple(
        GroupPlan(
            instance=tuple((axis.label, 1 if axis.single else block) for axis in group.axes),
            inner=tuple((label, inner or serial(8)) for label in analysis.inner),
            split=split,
        )
        for group in analysis.groups
    )
    program = construct(kernel, Plan(groups=groups), analysis)
    return Made(kernel, narrowing(program, Permissions()) if narrow else program)


Edit = Callable[[ph.Op], "ph.Op | tuple[ph.Op, ...] | None"]


def edited(program: ph.Program, edit: Edit) -> ph.Program:
    """The program with ``edit(op)`` in place of every operation; a tuple splices, None leaves as it is."""
    return replace(program, segments=tuple(replace(s, body=_region(s.body, edit)) for s in program.segments))


def _region(region: ph.Region, edit: Edit) -> ph.Region:
    ops: list[ph.Op] = []
    for old in region.ops:
        inner = {
            f.name: _region(v, edit) for f in fields(old) if isinstance(v := getattr(old, f.name), ph.Region)
        }
        op = replace(old, **inner) if inner else old
        found = edit(op)
        ops += [op] if found is None else found if isinstance(found, tuple) else [found]
    return replace(region, ops=tuple(ops))


def replaced(op: ph.Op, values: dict[ph.Fragment, ph.Fragment]) -> ph.Op:
    """The operation with other operands, in its regions as well."""
    changes: dict[str, Any] = {}
    for f in fields(op):
        value = getattr(op, f.name)
        if f.name in ("results", "id", "origin", "span"):
            continue
        if isinstance(value, ph.Fragment):
            changes[f.name] = values.get(value, value)
        elif isinstance(value, tuple) and value and isinstance(value[0], ph.Fragment):
            changes[f.name] = tuple(values.get(v, v) for v in value)
        elif isinstance(value, ph.Region):
            changes[f.name] = ph.Region(
                args=value.args,
                ops=tuple(replaced(o, values) for o in value.ops),
                yields=tuple(values.get(v, v) for v in value.yields),
            )
    return replace(op, **changes)


def operations(program: ph.Program, node: type[ph.Op], **test: Any) -> list[Any]:
    """All operations of a class whose fields equal ``test``."""
    return [
        op
        for segment in program.segments
        for op in walk(segment.body)
        if isinstance(op, node) and all(getattr(op, k) == v for k, v in test.items())
    ]


def definition(program: ph.Program, value: ph.Fragment) -> ph.Op:
    """The operation that defines a value."""
    return next(op for s in program.segments for op in walk(s.body) if value in op.results)


def only(program: ph.Program, which: ph.Op, change: Callable[[Any], Any]) -> ph.Program:
    """The program with ``change`` made of one operation."""
    return edited(program, lambda op: change(op) if op.id == which.id else None)


def fresh(dtype: Any, dims: tuple[ph.Dim, ...] = (), number: int = 0) -> ph.Fragment:
    """A value that no program has."""
    return ph.Fragment(id=100_000 + number, dtype=dtype, dims=dims)


def constant(value: Any, dtype: Any, number: int = 0) -> ph.Constant:
    """A literal that no program has."""
    return ph.Constant(id=200_000 + number, results=(fresh(dtype, number=number),), value=value)
