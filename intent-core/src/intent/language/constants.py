"""Constants of the language: plain Python numbers, typed by their context like any literal."""

from __future__ import annotations

import math
from typing import Final

__all__ = ["LOG2E", "inf"]

inf: Final = math.inf
"""Positive infinity; write ``-I.inf`` for the negative one."""

LOG2E: Final = math.log2(math.e)
"""The logarithm of e to base two: ``exp(x) == exp2(x * LOG2E)``."""
