"""``while``: a uniform loop whose next condition is carried with the values it tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.carried import Carries, Homes, looped
from intent.construct.context import Context, rule
from intent.construct.emission import Scope
from intent.construct.fold import evaluated, yielded
from intent.construct.frame import Frame
from intent.construct.point import Point
from intent.diagnostics import PlanError
from intent.types.dtypes import BOOL

At = tuple[Point, ...]


@dataclass
class OpenWhile:
    """A while loop under construction. ``active`` is carried in front of the values.

    ``least``: where control has come to it: in front of that it might not end.
    """

    scope: Scope
    first: ph.Fragment
    least: Scope
    args: list[ph.Fragment] = field(default_factory=list)
    following: ph.Fragment | None = None

    def close(
        self, c: Context, inits: tuple[ph.Fragment, ...], yields: tuple[ph.Fragment, ...]
    ) -> tuple[ph.Fragment, ...]:
        """End the body and place the loop; the results are the final carries."""
        assert self.following is not None
        active = c.emitter.fragment(BOOL, (), self.scope, "active")
        tests = [c.emitter.fragment(a.dtype, a.dims, self.scope, a.name) for a in (active, *self.args)]
        c.emitter.close(self.scope)
        condition = ph.Region(args=tuple(tests), ops=(), yields=(tests[0],))
        body = ph.Region(
            args=(active, *self.args), ops=tuple(self.scope.ops), yields=(self.following, *yields)
        )
        types = tuple((a.dtype, a.dims) for a in (active, *self.args))
        payload: dict[str, Any] = {"inits": (self.first, *inits), "condition": condition, "body": body}
        return c.emitter.place(ph.While, (self.scope,), types, least=(self.least,), **payload)[1:]


def open_while(c: Context, op: kir.While, frame: Frame) -> OpenWhile:
    """Evaluate the first condition and begin the body."""
    entry = frame.enter(op.condition, c.emitter.current, evaluated(c, op.inits, frame))
    first = uniform_condition(c, op, c.scalar(op.condition.yields[0], entry))
    c.settle_dirty()
    return OpenWhile(c.emitter.open(), first, frame.scope)


def uniform_condition(c: Context, op: kir.While, point: Point) -> ph.Fragment:
    """The condition, which all lanes must share."""
    del c
    if not point.fragment.uniform:
        raise PlanError(
            f"the condition of a while loop differs between the lanes {point.fragment.dims}", span=op.span
        )
    return point.fragment


@rule(kir.While)
def while_loop(c: Context, op: kir.While, index: int, at: At, frame: Frame) -> Point:
    """The final value of one carry."""

    def build(homes: Homes) -> dict[int, ph.Fragment]:
        opened = open_while(c, op, frame)
        carries = Carries(
            c, op.results, homes, opened, lambda k, home: c.evaluate(op.inits[k], home, frame).fragment, frame
        )
        body = frame.enter(op.body, opened.scope, map(carries.binding, range(len(op.results))))
        following = frame.enter(op.condition, opened.scope, yielded(c, op.body, body))
        opened.following = uniform_condition(c, op, c.scalar(op.condition.yields[0], following))
        return carries.finish(lambda k, home: c.evaluate(op.body.yields[k], home, body).fragment)

    return looped(c, op, op.results, (index, at), frame, build)
