"""Enumerations for Constexpr parameters (spec: kernel-and-host 4)."""

from __future__ import annotations

import enum

__all__ = ["Enum"]


class Enum(enum.Enum):
    """Base of closed sets of algorithm variants: ``class Activation(I.Enum): NONE = 0; RELU = 1``.

    Members can be Constexpr values and captured constants, and compared with ``==`` and ``is``. They have no
    arithmetic and are never run-time values.
    """
