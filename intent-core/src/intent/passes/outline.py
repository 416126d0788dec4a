"""What an operation computes, whatever ids its own regions use: equal outlines are equal computations."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from intent import physical as ph


def outline(op: ph.Op) -> object:
    """The operation's kind, result types and fields; values of its own regions are numbered from the beginning."""
    return _Outline().op(op)


class _Outline:
    def __init__(self) -> None:
        self._local: dict[int, int] = {}

    def op(self, op: ph.Op) -> object:
        parts = tuple(
            (f.name, self._field(getattr(op, f.name)))
            for f in fields(op)
            if f.name not in ("id", "results", "origin", "span")
        )
        return (type(op), tuple((r.dtype, r.dims) for r in op.results), parts)

    def _field(self, value: Any) -> object:
        match value:
            case ph.Fragment():
                local = self._local.get(value.id)
                return ("%", value.id) if local is None else ("local", local)
            case ph.Region():
                return self._region(value)
            case tuple():
                return tuple(map(self._field, value))
            case float():
                return repr(value)
        return value

    def _region(self, region: ph.Region) -> object:
        self._define(region.args)
        ops = []
        for op in region.ops:
            ops.append(self.op(op))
            self._define(op.results)
        types = tuple((a.dtype, a.dims) for a in region.args)
        return (types, tuple(ops), tuple(map(self._field, region.yields)))

    def _define(self, values: tuple[ph.Fragment, ...]) -> None:
        for value in values:
            self._local[value.id] = len(self._local)
