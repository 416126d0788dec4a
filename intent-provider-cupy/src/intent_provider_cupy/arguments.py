"""Values of the emitted kernel's arguments for one invocation, and the layout that they have."""

from __future__ import annotations

import numpy as np

from intent.provider import Invocation
from intent.provider.emission import value_of
from intent.types.dtypes import BY_NAME
from intent_provider_cupy.emit.interface import Layout, Parameter, Signature, foldable


def packed(parameter: Parameter, value: bool | int | float, *, small: bool) -> bytes:
    """The argument as the kernel's C++ type has it in memory."""
    if parameter.kind in ("view", "buffer"):
        return int(value).to_bytes(8, "little")
    if parameter.index:
        return int(value).to_bytes(4 if small else 8, "little", signed=True)
    with np.errstate(over="ignore"):
        return np.asarray(value).astype(BY_NAME[parameter.dtype].numpy).tobytes()


def layout_of(signature: Signature, invocation: Invocation) -> Layout:
    """What a build for this invocation may rely on."""
    small = signature.small(invocation)
    ones = frozenset(p.emitted for p in foldable(signature) if value_of(p, invocation) == 1)
    divisors = tuple((p.divisor, _step(p, invocation)) for p in signature.parameters if p.divisor)
    return Layout(small=small, ones=ones, divisors=divisors)


def _step(parameter: Parameter, invocation: Invocation) -> int:
    """The greatest step of the parameter that divides its value, or 1."""
    value = int(value_of(parameter, invocation))
    return max((step for step in parameter.steps if value % step == 0), default=1)
