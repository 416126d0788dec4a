"""Evaluator of physical programs: many program instances at once, one numpy axis per lane dim.

It shares no operator table with the evaluator of the logical IR.
"""

from __future__ import annotations

from intent.reference.physical.execute import execute

__all__ = ["execute"]
