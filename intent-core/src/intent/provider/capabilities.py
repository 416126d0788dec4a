"""What a provider's target can do; planning and the expand passes are driven by it."""

from __future__ import annotations

from dataclasses import dataclass, field

from intent.provider.plan_table import PlanTable


@dataclass(frozen=True, kw_only=True)
class Capabilities:
    """Facts about a target language.

    ``dtypes``: element types of views. ``power_of_two``: lane dims must have power-of-two sizes.
    ``max_lanes``: most elements of one fragment (programs with more are refused before they are emitted).
    ``dot_minimum``: least (m, n, k) of a native matrix product. ``dot_dtypes``: (operand, accumulator) dtype names
    of native products. ``functions``: pointwise functions spelled natively (others are expanded by core).
    ``histogram``: most bins of a native histogram (core counts more by atomics). ``planes``: most bins
    that loops count in bit planes, in registers, before they go there. ``atomics``: (kind, dtype) pairs.
    ``grid_limit``: most programs.
    ``preference``: of several providers that could run, the greatest is the default one; ties go by name.
    ``plans``: tile shapes and settings that its compiler likes.
    """

    dtypes: frozenset[str]
    power_of_two: bool = True
    max_lanes: int = 1 << 20
    dot_minimum: tuple[int, int, int] = (1, 1, 1)
    dot_dtypes: frozenset[tuple[str, str]] = frozenset()
    functions: frozenset[str] = frozenset()
    histogram: int = 0
    planes: int = 0
    atomics: frozenset[tuple[str, str]] = frozenset()
    grid_limit: int = (1 << 31) - 1
    needs_gpu: bool = True
    preference: int = 0
    plans: PlanTable = field(default_factory=PlanTable)
