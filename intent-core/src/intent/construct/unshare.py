"""Regions that two operations were given become one region each: every fragment is defined once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import count
from typing import Any

from intent import physical as ph
from intent.physical.walk import regions_of


def unshare(body: ph.Region, first_id: int) -> tuple[ph.Region, int]:
    """``body`` with repeated combine regions renamed apart, and the first id that is free after it."""
    ids = count(first_id + 1)
    made = _Unsharing(set(), ids).region(body, {})
    return made, next(ids)


@dataclass
class _Unsharing:
    defined: set[int]
    ids: Iterator[int]

    def region(self, region: ph.Region, names: dict[int, ph.Fragment]) -> ph.Region:
        args = tuple(self._define(a, names) for a in region.args)
        ops = tuple(self._op(op, names) for op in region.ops)
        return replace(region, args=args, ops=ops, yields=tuple(names.get(y.id, y) for y in region.yields))

    def _define(self, fragment: ph.Fragment, names: dict[int, ph.Fragment]) -> ph.Fragment:
        if fragment.id not in self.defined:
            self.defined.add(fragment.id)
            return fragment
        names[fragment.id] = replace(fragment, id=next(self.ids))
        return names[fragment.id]

    def _op(self, op: ph.Op, names: dict[int, ph.Fragment]) -> ph.Op:
        if not names and not any(True for _ in regions_of(op)):
            self.defined.update(r.id for r in op.results)
            return op
        changed: dict[str, Any] = {}
        for f in fields(op):
            value = getattr(op, f.name)
            if isinstance(value, ph.Region):
                changed[f.name] = self.region(value, dict(names))
            elif f.name != "results":
                changed[f.name] = _renamed(value, names)
        results = tuple(self._define(r, names) for r in op.results)
        if any(r is not old for r, old in zip(results, op.results, strict=True)):
            changed["id"] = next(self.ids)
        return replace(op, **changed, results=results)


def _renamed(value: Any, names: dict[int, ph.Fragment]) -> Any:
    if isinstance(value, ph.Fragment):
        return names.get(value.id, value)
    if isinstance(value, tuple):
        return tuple(_renamed(v, names) for v in value)
    return value
