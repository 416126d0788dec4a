"""``while``: a loop of the whole instance, whose next condition is carried with the values it tests.

Where the condition differs between lanes, the loop runs while it holds on any; a lane whose own has failed is done.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from intent import kir
from intent import physical as ph
from intent.construct.alive import among_lanes, any_lane
from intent.construct.carried import Carries, Homes, NeedsDims, looped
from intent.construct.context import Context, rule
from intent.construct.emission import Scope
from intent.construct.fold import evaluated, yielded
from intent.construct.frame import Frame
from intent.construct.point import Point
from intent.types.dtypes import BOOL

At = tuple[Point, ...]
LANES = -1
"""The component of homes whose dims are those of ``alive``."""


@dataclass
class OpenWhile:
    """A while loop under construction. ``active`` is carried in front of the values, for each lane if they differ.

    ``least``: where control has come to it: in front of that it might not end. ``first`` and ``following``: what
    it is before the loop and in the next pass.
    """

    scope: Scope
    first: ph.Fragment
    least: Scope
    active: ph.Fragment
    args: list[ph.Fragment] = field(default_factory=list)
    following: ph.Fragment | None = None

    @property
    def alive(self) -> ph.Fragment | None:
        """Whether a lane is still in the loop; None if all are."""
        return None if self.active.uniform else self.active

    def close(
        self, c: Context, inits: tuple[ph.Fragment, ...], yields: tuple[ph.Fragment, ...]
    ) -> tuple[ph.Fragment, ...]:
        """End the body and place the loop; the results are the final carries."""
        assert self.following is not None
        c.emitter.close(self.scope)
        args = (self.active, *self.args)
        types = tuple((a.dtype, a.dims) for a in args)
        body = ph.Region(args=args, ops=tuple(self.scope.ops), yields=(self.following, *yields))
        test = c.emitter.open(isolated=True)
        tests = tuple(c.emitter.fragment(a.dtype, a.dims, test, a.name) for a in args)
        goes_on = any_lane(c, tests[0])
        c.emitter.close(test)
        condition = ph.Region(args=tests, ops=tuple(test.ops), yields=(goes_on,))
        payload: dict[str, Any] = {"inits": (self.first, *inits), "condition": condition, "body": body}
        return c.emitter.place(ph.While, (self.scope,), types, least=(self.least,), **payload)[1:]


def open_while(c: Context, op: kir.While, homes: Homes, frame: Frame) -> OpenWhile:
    """Evaluate the first condition and begin the body."""
    entry = frame.enter(op.condition, c.emitter.current, evaluated(c, op.inits, frame))
    test = c.scalar(op.condition.yields[0], entry)
    first = among_lanes(c, test, frame)
    if LANES in homes.dims or not test.fragment.uniform:
        first = _with_dims(c, first, homes.dims.setdefault(LANES, first.dims))
    else:
        first = any_lane(c, first)
    c.settle_dirty()
    scope = c.emitter.open()
    return OpenWhile(scope, first, frame.scope, c.emitter.fragment(BOOL, first.dims, scope, "active"))


def close_while(
    c: Context, op: kir.While, opened: OpenWhile, carries: Carries, body: Frame
) -> dict[int, ph.Fragment]:
    """Whether there is another pass, and with which values.

    Raises:
        NeedsDims: Its condition differs between more lanes than ``homes`` says.
    """
    after = body.enter(op.condition, opened.scope, yielded(c, op.body, body))
    test = c.scalar(op.condition.yields[0], after)
    if opened.alive is None:
        opened.following = _with_dims(c, test.fragment, ())
    else:
        still = c.emitter.pointwise("and", opened.active, test.fragment)
        opened.following = _with_dims(c, still, opened.active.dims)
    return carries.leave(op.body, body, opened.alive)


def _with_dims(c: Context, alive: ph.Fragment, dims: tuple[ph.Dim, ...]) -> ph.Fragment:
    """``alive`` in at least these lanes. Raises NeedsDims where it turns out to have others."""
    if set(alive.dims) - set(dims):
        raise NeedsDims(LANES, c.emitter.order.sort((*alive.dims, *dims)))
    return c.emitter.broadcast(alive, dims)


@rule(kir.While)
def while_loop(c: Context, op: kir.While, index: int, at: At, frame: Frame) -> Point:
    """The final value of one carry."""

    def build(homes: Homes) -> dict[int, ph.Fragment]:
        opened = open_while(c, op, homes, frame)
        carries = Carries(
            c, op.results, homes, opened, lambda k, home: c.evaluate(op.inits[k], home, frame).fragment, frame
        )
        return close_while(c, op, opened, carries, carries.enter(op.body, opened.alive))

    return looped(c, op, op.results, (index, at), frame, build)
