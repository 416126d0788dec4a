"""Who reads each value of a program."""

from __future__ import annotations

from collections import defaultdict

from intent import physical as ph
from intent.physical.walk import operands_of, regions_of, walk

Users = dict[int, list[ph.Op | None]]


def users_of(program: ph.Program) -> Users:
    """The readers of each value, by its id; None stands for the end of a region."""
    users: Users = defaultdict(list)
    for segment in program.segments:
        for op in walk(segment.body):
            for f in operands_of(op):
                users[f.id].append(op)
            for region in regions_of(op):
                for f in region.yields:
                    users[f.id].append(None)
    return users
