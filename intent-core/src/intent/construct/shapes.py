"""Matching the axes of two shapes with equal element counts."""

from __future__ import annotations

from intent.types import Extent
from intent.types.extent import const


def reshape_groups(old: tuple[Extent, ...], new: tuple[Extent, ...]) -> list[tuple[list[int], list[int]]]:
    """Split two shapes into runs of axes whose products are the same expression."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        left, right = [], []
        a, b = const(1), const(1)
        if i < len(old):
            left.append(i)
            a, i = old[i], i + 1
        if j < len(new):
            right.append(j)
            b, j = new[j], j + 1
        while a is not b and (i < len(old) or j < len(new)):
            if j == len(new) or (i < len(old) and _smaller(a, b)):
                left.append(i)
                a, i = a * old[i], i + 1
            else:
                right.append(j)
                b, j = b * new[j], j + 1
        groups.append((left, right))
    return groups


def _smaller(a: Extent, b: Extent) -> bool:
    if a.const is not None and b.const is not None:
        return a.const < b.const
    degree_a = max((len(m) for m, _ in a.terms), default=0)
    degree_b = max((len(m) for m, _ in b.terms), default=0)
    if degree_a != degree_b:
        return degree_a < degree_b
    return max((abs(k) for _, k in a.terms), default=0) < max((abs(k) for _, k in b.terms), default=0)
