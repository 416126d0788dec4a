"""Frames: what the arguments of a KIR region stand for while its body is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from intent import physical as ph
from intent.construct.emission import Scope
from intent.construct.point import Point

Binding = Callable[[tuple[Point, ...]], Point]
"""Gives an argument's value at coordinates."""


@dataclass(frozen=True)
class Looped:
    """What a loop that was built yields: components, with home coordinates and the axes that are whole there."""

    results: dict[int, ph.Fragment]
    at: dict[int, tuple[Point, ...]]
    full: dict[int, frozenset[int]]


@dataclass(eq=False)
class Frame:
    """One instantiation of a KIR region.

    ``scope``: where its arguments live; nothing of the frame needs a deeper scope.
    ``active``: predicates of control and lanes under which the body runs. ``lanes``: dims of enclosing parallel
    points, which no reduction inside may reuse. ``least``: reads that rest on control must stay in this scope.
    """

    region: int
    parent: Frame | None
    scope: Scope
    bindings: dict[int, Binding] = field(default_factory=dict)
    memo: dict[object, tuple[Point, ...]] = field(default_factory=dict)
    loops: dict[int, list[Looped]] = field(default_factory=dict)
    active: frozenset[ph.Fragment] = frozenset()
    lanes: frozenset[ph.Dim] = frozenset()
    least: Scope | None = None

    def owner(self, region: int) -> Frame:
        """The frame of an enclosing region."""
        frame: Frame | None = self
        while frame is not None:
            if frame.region == region:
                return frame
            frame = frame.parent
        raise KeyError(region)


def constant_binding(point: Point) -> Binding:
    """An argument that is the same at every coordinate (a scalar)."""
    return lambda _coordinates: point
