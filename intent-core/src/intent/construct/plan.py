"""A plan: how one kernel is laid out on a GPU, as plain data. Meaning never depends on it.

Every plan goes through the same construction and the same verifier; the minimal plan (every block 1) is the
spec's initial program (spec: kir-to-gpu-program 4).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from intent.physical import Guard


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
    """

    instance: tuple[tuple[str, int], ...] = ()
    inner: tuple[tuple[str, Inner], ...] = ()
    grouped: int = 1

    def block(self, label: str) -> int | None:
        """The block of an instance axis, or None when the axis stays inside."""
        return dict(self.instance).get(label)

    def traversal(self, label: str) -> Inner:
        """How the axis is traversed inside."""
        return dict(self.inner).get(label, Inner(mode="serial"))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Plans per group, launch-visible guards to build on, and provider knobs (never meaning)."""

    groups: tuple[GroupPlan, ...]
    guards: tuple[Guard, ...] = ()
    knobs: tuple[tuple[str, int], ...] = ()
    name: str = field(default="", compare=False)

    def __str__(self) -> str:
        lines = []
        for n, g in enumerate(self.groups):
            axes = [f"{label}=instance({block})" for label, block in g.instance]
            axes += [f"{label}={inner}" for label, inner in g.inner]
            order = f" grouped({g.grouped})" if g.grouped > 1 else ""
            lines.append(f"group {n}: {' '.join(axes) or 'one instance'}{order}")
        if self.guards:
            lines.append("guards: " + ", ".join(map(str, self.guards)))
        if self.knobs:
            lines.append("knobs: " + ", ".join(f"{k}={v}" for k, v in self.knobs))
        return "\n".join(lines)


def knobs(values: Mapping[str, int]) -> tuple[tuple[str, int], ...]:
    """Knobs in canonical order."""
    return tuple(sorted(values.items()))
