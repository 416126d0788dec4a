"""The sanitizer behind ``intent.check``: the logical evaluator in checking mode (spec: logical-program 3, 5, 9, 10).

One file per family of violations; each says in its docstring what it finds and what it does not.
"""

from __future__ import annotations

from intent.reference.sanitizer.check import check_kernel
from intent.reference.sanitizer.report import Report

__all__ = ["Report", "check_kernel"]
