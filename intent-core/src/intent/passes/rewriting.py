"""Rebuilding a program operation by operation, regions included."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from intent import physical as ph


def map_operations(program: ph.Program, change: Callable[[ph.Op], ph.Op]) -> ph.Program:
    """The program with every operation replaced by ``change(op)``, inner ones first; results must stay the same."""
    segments = tuple(replace(s, body=_region(s.body, change)) for s in program.segments)
    return replace(program, segments=segments)


def _region(region: ph.Region, change: Callable[[ph.Op], ph.Op]) -> ph.Region:
    return replace(region, ops=tuple(change(_inside(op, change)) for op in region.ops))


def _inside(op: ph.Op, change: Callable[[ph.Op], ph.Op]) -> ph.Op:
    inner: dict[str, Any] = {
        f.name: _region(v, change) for f in fields(op) if isinstance(v := getattr(op, f.name), ph.Region)
    }
    return replace(op, **inner) if inner else op
