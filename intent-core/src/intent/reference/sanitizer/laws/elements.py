"""Laws of element-level combines: reduce, scan, scatter_reduce (spec: logical-program 5 and 6)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import BrokenLaw
from intent.reference.logical.lifted import LIFTABLE, Components
from intent.reference.logical.reduce import axes_first
from intent.reference.sanitizer.context import Context
from intent.reference.sanitizer.laws.compare import difference, shown
from intent.reference.sanitizer.laws.wide import Helper, helper
from intent.reference.sanitizer.places import places

Array = NDArray[Any]

__all__ = ["reduce_laws", "scan_laws", "scatter_laws"]

EXECUTIONS: Final = 6
"""How many executions of one operation are tested in a round; a loop may execute it very often."""
LANES: Final = 4096
SLOW_LANES: Final = 48
TRIPLES: Final = 8


@dataclass(frozen=True, kw_only=True, eq=False)
class Samples:
    """Values of one algebra, ``pool[component]`` of shape (count, lanes); the last may be the identity."""

    context: Context
    op: kir.Op
    name: str
    combine: Helper
    pool: Components
    captures: Sequence[Array]
    has_identity: bool

    def take(self, which: Array) -> Components:
        """One value per entry of ``which``."""
        return tuple(p[which] for p in self.pool)

    def join(self, a: Components, b: Components) -> Components:
        """``combine(a, b)`` at every point."""
        with self.context.machine.unobserved():
            return self.combine.lift(self.context.machine, (*a, *b), self.captures)

    def test(
        self, law: str, sides: dict[str, Components], values: dict[str, Components], *results: Components
    ) -> None:
        """Report the first element in which the two sides differ."""
        left, right = sides.values()
        at = difference(left, right, list(values.values()), results, self.combine.tolerance)
        if at is None:
            return
        text = {name: shown(value, at) for name, value in sides.items()}
        given = {name: shown(value, at) for name, value in values.items()}
        point = self.context.point
        self.context.found(
            self.op, lambda: BrokenLaw(self.name, law=law, sides=text, values=given, point=point), law
        )


def reduce_laws(context: Context, op: kir.Reduce) -> None:
    """Associativity, commutativity and identity of an author's combine."""
    if op.kind is not None or op.combine is None or not _due(context, op):
        return
    machine = context.machine
    parts = [axes_first(machine[v], op.axes) for v in op.operands]
    free = parts[0].shape[1:]
    identity = [np.broadcast_to(machine[v], free) for v in op.identity]
    samples = _samples(
        context, op, "I.reduce", op.combine, parts, identity, [machine[v] for v in op.captures]
    )
    if samples is not None:
        _associative(samples)
        _commutative(samples)
        _neutral(samples)


def scan_laws(context: Context, op: kir.Scan) -> None:
    """Associativity and identity; the order is kept."""
    if op.kind is not None or op.combine is None or not _due(context, op):
        return
    machine = context.machine
    parts = [np.moveaxis(machine[v], op.axis, 0) for v in op.operands]
    free = parts[0].shape[1:]
    identity = []
    for value in op.identity:
        given = machine[value]
        whole = given.ndim == parts[0].ndim and given.shape[op.axis] > 0
        identity.append(np.broadcast_to(np.moveaxis(given, op.axis, 0)[0] if whole else given, free))
    samples = _samples(context, op, "I.scan", op.combine, parts, identity, [machine[v] for v in op.captures])
    if samples is not None:
        _associative(samples)
        _neutral(samples)


def scatter_laws(context: Context, op: kir.ScatterReduce) -> None:
    """Associativity and commutativity over the values and what the target held (language decision 20)."""
    if op.combine is None or not _due(context, op):
        return
    machine = context.machine
    target, value = machine.resource(op.target), machine[op.value]
    lanes = places(machine, op.relation, target.shape, value.shape, op.valid)
    pool = np.concatenate([target[lanes.indices].reshape(-1), value[lanes.inside].reshape(-1)])
    samples = _samples(context, op, "I.scatter_reduce", op.combine, [pool], None, [])
    if samples is not None:
        _associative(samples)
        _commutative(samples)


def _due(context: Context, op: kir.Op) -> bool:
    done = context.tested.get(op.id, 0)
    context.tested[op.id] = done + 1
    return done < EXECUTIONS


def _samples(
    context: Context,
    op: kir.Op,
    name: str,
    region: kir.Region,
    parts: Sequence[Array],
    identity: Sequence[Array] | None,
    captures: Sequence[Array],
) -> Samples | None:
    """Elements at some places, partial results of them, and the identity."""
    count, generator = parts[0].shape[0], context.generator
    lanes = int(np.prod(parts[0].shape[1:], dtype=np.int64))
    if not count or not lanes:
        return None
    combine = helper(region)
    slow = not all(isinstance(o, LIFTABLE) for o in region.ops) or any(a.rank for a in region.args)
    limit = SLOW_LANES if slow else LANES
    chosen = np.arange(lanes) if lanes <= limit else generator.choice(lanes, limit, replace=False)
    places_ = generator.choice(count, min(count, 6), replace=False) if count > 6 else np.arange(count)
    flat = [p.reshape(count, lanes)[:, chosen] for p in parts]
    tensors = [a.rank > 0 for a in region.args[2 * len(parts) :]]
    held = [
        c if tensor or not c.ndim else np.broadcast_to(c, parts[0].shape[1:]).reshape(lanes)[chosen]
        for c, tensor in zip(captures, tensors, strict=True)
    ]
    pool: list[Array] = [combine.takes(f[places_], a) for f, a in zip(flat, region.args, strict=False)]
    pool = [p.astype(np.float64) if combine.wide and p.dtype.kind not in "bui" else p for p in pool]
    samples = Samples(
        context=context,
        op=op,
        name=name,
        combine=combine,
        pool=tuple(pool),
        captures=held,
        has_identity=False,
    )
    partial = samples.take(np.arange(1))
    for k in range(1, len(places_)):
        partial = samples.join(partial, samples.take(np.arange(k, k + 1)))
        pool = [np.concatenate([p, q]) for p, q in zip(pool, partial, strict=True)]
    if identity is not None:
        ends = [
            np.asarray(i).reshape(1, lanes)[:, chosen].astype(p.dtype)
            for i, p in zip(identity, pool, strict=True)
        ]
        pool = [np.concatenate([p, e]) for p, e in zip(pool, ends, strict=True)]
    return Samples(
        context=context, op=op, name=name, combine=combine, pool=tuple(pool), captures=held,
        has_identity=identity is not None,
    )  # fmt: skip


def _associative(samples: Samples) -> None:
    count = samples.pool[0].shape[0]
    which = samples.context.generator.integers(0, count, (3, TRIPLES))
    a, b, c = (samples.take(w) for w in which)
    first, last = samples.join(a, b), samples.join(b, c)
    sides = {
        "combine(combine(a, b), c)": samples.join(first, c),
        "combine(a, combine(b, c))": samples.join(a, last),
    }
    law = "combine(combine(a, b), c) == combine(a, combine(b, c))"
    samples.test(law, sides, {"a": a, "b": b, "c": c}, first, last)


def _commutative(samples: Samples) -> None:
    count = samples.pool[0].shape[0]
    which = samples.context.generator.integers(0, count, (2, 2 * TRIPLES))
    a, b = (samples.take(w) for w in which)
    sides = {"combine(a, b)": samples.join(a, b), "combine(b, a)": samples.join(b, a)}
    samples.test("combine(a, b) == combine(b, a)", sides, {"a": a, "b": b})


def _neutral(samples: Samples) -> None:
    """The identity meets itself too: lanes without elements are combined with each other."""
    count = samples.pool[0].shape[0]
    values, identity = samples.take(np.arange(count)), samples.take(np.full(count, count - 1))
    for law, joined in (
        ("combine(identity, x) == x", samples.join(identity, values)),
        ("combine(x, identity) == x", samples.join(values, identity)),
    ):
        samples.test(law, {law.split(" ==", maxsplit=1)[0]: joined, "x": values}, {"identity": identity})
