"""An axis that several instances store along: each walks a part of it, and nothing has to be put together.

An axis of which only data says how long it is stays inside the instances, and those may be few. Members of a store are
independent of each other, so that parts of them may belong to different instances (spec: kir-to-gpu-program 2); the
mapping follows from launch-visible values and the point's own range (4). Every effect of the group has to be such a
store: all else would happen once for each part.
"""

from __future__ import annotations

from collections import Counter

from intent import kir
from intent import physical as ph
from intent.construct.context import Context
from intent.construct.parts import Share
from intent.diagnostics import PlanError
from intent.physical.walk import walk


def may_store_apart(c: Context, op: kir.Store | kir.ScatterReduce | kir.Atomic) -> bool:
    """Whether members of the write may belong to different instances: each of its elements is written once.

    In a loop around it, a later pass may write what another member wrote in an earlier one.
    """
    if c.share is None or not c.share.apart:
        return False
    return (
        isinstance(op, kir.Store) and isinstance(op.target, kir.View) and c.emitter.current is c.emitter.root
    )


class ReducedToo(PlanError):
    """Both a reduction and stores are made of parts: the stores need the reduction as a whole, or come with it."""


def stored_apart(c: Context, share: Share) -> bool:
    """Whether the instances of a team share stores along the axis instead of reductions.

    Raises:
        ReducedToo: They share reductions, too.
        PlanError: They share some of the group's effects, and others not, or need what the others write.
    """
    if not share.stores:
        return False
    if share.states:
        raise ReducedToo(f"a reduction over {share.label} and stores along it are not shared out together")
    if share.others:
        raise PlanError(f"an effect that does not run along {share.label} would happen in every part of it")
    ops = list(walk(ph.Region(args=(), ops=tuple(c.emitter.root.ops))))
    stores = [op.target for op in ops if isinstance(op, ph.Store)]
    written = Counter(view.memory for view in stores if isinstance(view, ph.View))
    if any(count > 1 for count in written.values()):
        raise PlanError("a part of one store may write what another part of an earlier store wrote")
    for op in ops:
        if isinstance(op, ph.Load) and op.source.memory in written:
            raise PlanError("the parts of a store read what the others write", span=op.span)
    return True
