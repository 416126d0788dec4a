"""Which plans exist for a kernel, and which one is used when nothing is said."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from intent import kir
from intent.construct import Analysis, Plan, analyze
from intent.planning.collisions import formed
from intent.planning.default import default
from intent.planning.legal import legal
from intent.planning.minimal import minimal
from intent.planning.random_plans import random_plan as _random
from intent.provider import Capabilities


def _analysis(kernel: kir.Kernel | Analysis) -> Analysis:
    return kernel if isinstance(kernel, Analysis) else analyze(kernel)


def default_plan(
    kernel: kir.Kernel | Analysis, capabilities: Capabilities, extents: Mapping[str, int] | None = None
) -> Plan:
    """The default plan for the call's extents (symbol and scalar names to values)."""
    return default(_analysis(kernel), capabilities, extents)


def minimal_plan(
    kernel: kir.Kernel | Analysis, capabilities: Capabilities, extents: Mapping[str, int] | None = None
) -> Plan:
    """The spec's initial program."""
    return minimal(_analysis(kernel), capabilities, extents)


def random_plan(
    kernel: kir.Kernel | Analysis,
    capabilities: Capabilities,
    rng: np.random.Generator,
    extents: Mapping[str, int] | None = None,
) -> Plan:
    """A random legal plan that fits ``extents``."""
    return _random(_analysis(kernel), capabilities, rng, extents)


__all__ = ["default_plan", "formed", "legal", "minimal_plan", "random_plan"]
