"""Frames: what the arguments of a KIR region stand for while its body is evaluated."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from intent import kir
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

    ``scope``: where its arguments live; nothing of the frame needs a deeper scope, and what rests on control having
    come here must not leave it. ``active``: predicates of control and lanes under which the body runs. ``lanes``: dims
    of enclosing parallel points, which no reduction inside may reuse.
    """

    region: int
    parent: Frame | None
    scope: Scope
    bindings: dict[int, Binding] = field(default_factory=dict)
    memo: dict[object, tuple[Point, ...]] = field(default_factory=dict)
    loops: dict[int, list[Looped]] = field(default_factory=dict)
    active: frozenset[ph.Fragment] = frozenset()
    lanes: frozenset[ph.Dim] = frozenset()

    def enter(
        self,
        region: kir.Region,
        scope: Scope,
        arguments: Iterable[Binding] = (),
        *,
        under: frozenset[ph.Fragment] = frozenset(),
        lanes: Iterable[ph.Dim] = (),
    ) -> Frame:
        """The frame of a region inside, built in ``scope``, its arguments bound in order.

        ``under``: predicates that the region is under, beside those around. ``lanes``: those of a parallel point.
        """
        return Frame(
            region.id,
            self,
            scope,
            bindings={a.id: binding for a, binding in zip(region.args, arguments, strict=True)},
            active=self.active | under,
            lanes=self.lanes.union(lanes),
        )

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
