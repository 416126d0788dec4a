"""Who reads each value of a program."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from intent import physical as ph
from intent.physical.walk import operands_of, regions_of, walk

Users = dict[int, list[ph.Op | None]]


def users_of(program: ph.Program) -> Users:
    """The readers of each value, by its id; None stands for the end of a region."""
    return _users(segment.body for segment in program.segments)


def users_in(region: ph.Region) -> Users:
    """The readers of each value in a region and in the ones inside; its own end is one of them."""
    users = _users([region])
    for f in region.yields:
        users[f.id].append(None)
    return users


def _users(regions: Iterable[ph.Region]) -> Users:
    users: Users = defaultdict(list)
    for region in regions:
        for op in walk(region):
            for f in operands_of(op):
                users[f.id].append(op)
            for inner in regions_of(op):
                for f in inner.yields:
                    users[f.id].append(None)
    return users
