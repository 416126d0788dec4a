"""A plan: how one kernel is laid out on a GPU, as plain data. Meaning never depends on it.

Every plan goes through the same construction and the same verifier; the minimal plan (every block 1) is the
spec's initial program (spec: kir-to-gpu-program 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from intent import kir
from intent.physical import Guard

Form = Literal["native", "exchange", "ordered"]
"""How a colliding write is made. ``native``: by one atomic of the target. ``exchange``: read, combine and
compare-and-swap until nobody came between. ``ordered``: one after the other by the only owner of the element."""


@dataclass(frozen=True, kw_only=True)
class Inner:
    """How an axis is traversed inside an instance.

    ``serial``: an ordered loop over blocks of ``size`` lanes (1: one element at a time).
    ``resident``: all members at once in ``size`` lanes; guarded by extent <= size.
    """

    mode: Literal["serial", "resident"]
    size: int = 1

    def __str__(self) -> str:
        return f"{self.mode}({self.size})"


def usually_native(op: kir.ScatterReduce | kir.Atomic) -> bool:
    """Whether GPUs usually have one atomic for this collision."""
    if isinstance(op, kir.Atomic):
        return True
    if op.kind is None:
        return False
    wide = op.target.dtype.name in ("i32", "i64", "u32", "u64")
    return wide or (op.kind == "sum" and op.target.dtype.name in ("f32", "f64", "f16", "bf16"))


def serial(block: int = 1) -> Inner:
    """An ordered loop over blocks of ``block`` lanes."""
    return Inner(mode="serial", size=block)


def resident(size: int) -> Inner:
    """The whole axis in one fragment of ``size`` lanes."""
    return Inner(mode="resident", size=size)


@dataclass(frozen=True, kw_only=True)
class GroupPlan:
    """The plan of one execution group.

    ``instance``: block per axis label that enters program space, in program order (outermost first).
    ``inner``: traversal per axis label inside an instance; labels not listed are ``serial(1)``.
    ``grouped``: with two or more instance axes, programs walk the last two in groups of this many blocks of the
    first of them (1: row-major).
    ``collisions``: the form of each colliding write and atomic by its KIR operation; what is not listed is native
    where GPUs usually have the atomic, else an exchange.
    ``split``: the label of an axis that is walked in order, and among how many instances the reductions over it are
    shared out; the last of them to arrive combines what all know, and does the rest. Stores along the axis are shared
    out without more ado, where the group has no other effect.
    ``beside``: blocks in which reductions and contractions walk a resident axis where lanes of its class are in use
    already, as those of a result that runs along it, too; not listed: all members at once there, too.
    """

    instance: tuple[tuple[str, int], ...] = ()
    inner: tuple[tuple[str, Inner], ...] = ()
    grouped: int = 1
    collisions: tuple[tuple[int, Form], ...] = ()
    split: tuple[str, int] | None = None
    beside: tuple[tuple[str, int], ...] = ()

    def block(self, label: str) -> int | None:
        """The block of an instance axis, or None when the axis stays inside."""
        return dict(self.instance).get(label)

    def traversal(self, label: str) -> Inner:
        """How the axis is traversed inside."""
        return dict(self.inner).get(label, Inner(mode="serial"))

    def traversal_beside(self, label: str) -> Inner:
        """The same where lanes of the axis's class are in use already."""
        block = dict(self.beside).get(label)
        return self.traversal(label) if block is None else Inner(mode="serial", size=block)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Plans per group, launch-visible guards to build on, and provider knobs (never meaning).

    ``online``: normalisations take their online form where the author permits it. ``peel``: blocks on which masks hold
    everywhere are walked apart, without masks. ``planes``: loops that only count, into bins that are few enough for the
    target, do so in bit planes.
    """

    groups: tuple[GroupPlan, ...]
    guards: tuple[Guard, ...] = ()
    knobs: tuple[tuple[str, int], ...] = ()
    online: bool = True
    peel: bool = True
    planes: bool = False
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        lines = []
        for n, g in enumerate(self.groups):
            axes = [f"{label}=instance({block})" for label, block in g.instance]
            axes += [f"{label}={inner}" for label, inner in g.inner]
            order = f" grouped({g.grouped})" if g.grouped > 1 else ""
            order += "".join(f" {label} beside({block})" for label, block in g.beside)
            order += "" if g.split is None else f" {g.split[0]} split({g.split[1]})"
            order += "".join(f" collision%{op}={form}" for op, form in g.collisions if form != "native")
            lines.append(f"group {n}: {' '.join(axes) or 'one instance'}{order}")
        if self.guards:
            lines.append("guards: " + ", ".join(map(str, self.guards)))
        if self.knobs:
            lines.append("knobs: " + ", ".join(f"{k}={v}" for k, v in self.knobs))
        if not self.online:
            lines.append("normalisations: in two passes")
        if not self.peel:
            lines.append("loops: masked throughout")
        if self.planes:
            lines.append("histograms: in bit planes")
        return "\n".join(lines)


def knobs(values: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Knobs in canonical order."""
    return tuple(sorted(values.items()))
