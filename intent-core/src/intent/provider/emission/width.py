"""The integer type of an emitted index value."""

from __future__ import annotations

from enum import IntEnum


class Width(IntEnum):
    """Of an index value in the text.

    ``SMALL``: 32 bits, its static bounds fit. ``INDEX``: the text's own index type, 32 bits where the launch proves its
    bounds and 64 otherwise. ``LONG``: 64 bits always (data-derived or unbounded).
    """

    SMALL = 0
    INDEX = 1
    LONG = 2
