"""Whether the points of a kernel that the front end refuses really meet in one element.

The front end refuses what certainly meets where a loop has a few points; the extents of a program may be too small for
that, and its data may not take the branch that the loop stands in. So the kernel's text also runs as Python at
larger extents and on other data, and every element remembers who used it.
"""

from __future__ import annotations

from collections.abc import Iterator
from types import CodeType
from typing import Final

import numpy as np

from intent_testkit.fuzz.eager import Conflict, Invalid, run_eagerly
from intent_testkit.fuzz.kinds import Extents, Program, draw, evaluate

SIZES: Final = (3, 4, 6)
"""Extents at which three points of every loop exist; later symbols are larger by one each."""
DRAWS: Final = 16
"""How often data is drawn at the same extents."""


def points_meet(program: Program, code: CodeType, outs: frozenset[str]) -> bool:
    """Whether two points of a parallel loop reach one element, which one of them writes, at some extents and data.

    ``code`` and ``outs`` are those of :func:`run_eagerly`.
    """
    for extents in (*program.extents, *_larger(program)):
        for seed in range(DRAWS):
            values = draw(program, extents, np.random.default_rng(seed))
            try:
                run_eagerly(code, program.name, values, outs)
            except Conflict:
                return True
            except Invalid:
                continue
    return False


def _larger(program: Program) -> Iterator[Extents]:
    """Extents of a few elements each; symbols that are equal everywhere stay so, and formulas hold."""
    formulas = dict(program.formulas)
    for size in SIZES:
        kinds: dict[tuple[int, ...], int] = {}
        extents: dict[str, int] = {}
        for name in program.extents[0]:
            if name not in formulas:
                drawn = tuple(e[name] for e in program.extents)
                extents[name] = kinds.setdefault(drawn, size + len(kinds))
        for name, formula in program.formulas:
            extents[name] = evaluate(formula, extents)
        yield {name: extents[name] for name in program.extents[0]}
