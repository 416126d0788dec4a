"""Why statements share an execution group or not, and why an axis stays inside the instances.

Grouping records one of these where it decides; :mod:`intent.explain` puts them into words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from intent.types import Extent


@dataclass(frozen=True, kw_only=True, slots=True)
class Joined:
    """Two statements (ids of KIR operations) share a group (spec: kir-to-gpu-program 3).

    ``memory``: both use what ``names`` lists (alias classes) and one of them writes it. ``result``: one uses what
    the other's effect yields. ``producer``: both need a value that is worth computing once. ``reads``: both read the
    same elements of the inputs ``names``, over the same instances.
    """

    first: int
    second: int
    because: Literal["memory", "result", "producer", "reads"]
    names: tuple[str, ...] = ()
    producers: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Apart:
    """Two statements have something in common and still need not share a group.

    ``disjoint``: their writes to what ``names`` lists go to ranges of which one ends before the other begins, or
    are reductions of one kind, which commute. ``no axis``: they share producers, but no axis to be instances of.
    """

    first: int
    second: int
    because: Literal["disjoint", "no axis"]
    names: tuple[str, ...] = ()
    producers: tuple[int, ...] = ()


Dependence = Literal["collision", "aliases", "same element", "read in front"]
"""``collision``: a write that no atomic performs may meet another's element. ``aliases``: two views of one alias
group. ``same element``: instances may touch one element, one of them writing. ``read in front``: a read in front of
the loop may see what a point writes."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Refused:
    """An axis of statement ``statement`` that does not enter program space.

    ``uncommon``: not every statement of the group has it. ``run time``: its extent is not known before the launch.
    """

    statement: int
    label: str
    extent: Extent
    because: Dependence | Literal["uncommon", "run time"]
