"""Values of the emitted kernel's arguments for one invocation, and the layout that they have."""

from __future__ import annotations

import math

import numpy as np

from intent.physical.apart import offsets_fit
from intent.provider import Invocation
from intent.types.dtypes import BY_NAME
from intent.types.extent import Atom, Scalar, Symbol
from intent_provider_cupy.emit.interface import Layout, Parameter, Signature, foldable

_INT32_MIN, _INT32_MAX = -(1 << 31), (1 << 31) - 1


def value_of(parameter: Parameter, invocation: Invocation) -> int | float | bool:
    """The argument's value: an address, a stride in elements, an extent or a scalar."""
    if parameter.kind == "view":
        return invocation.views[parameter.view].pointer
    if parameter.kind == "stride":
        return invocation.views[parameter.view].strides[parameter.axis]
    if parameter.kind == "extent":
        return invocation.extents[parameter.name]
    if parameter.kind == "scalar":
        return invocation.scalars[parameter.name]
    assert invocation.workspace is not None
    assert invocation.workspace_offsets is not None
    return invocation.workspace.pointer + invocation.workspace_offsets[parameter.buffer]


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
    small = index_is_small(signature, invocation)
    ones = frozenset(p.emitted for p in foldable(signature) if value_of(p, invocation) == 1)
    divisors = tuple((p.divisor, _step(p, invocation)) for p in signature.parameters if p.divisor)
    return Layout(small=small, ones=ones, divisors=divisors)


def _step(parameter: Parameter, invocation: Invocation) -> int:
    """The greatest step of the parameter that divides its value, or 1."""
    value = int(value_of(parameter, invocation))
    return max((step for step in parameter.steps if value % step == 0), default=1)


def index_is_small(signature: Signature, invocation: Invocation) -> bool:
    """Whether every index value and every element offset of this launch fits 32 bits."""
    if not offsets_fit((view.shape, view.strides) for view in invocation.views.values()):
        return False
    env = _environment(invocation)
    values = [value_of(p, invocation) for p in signature.parameters if p.index]
    if not all(_INT32_MIN <= value <= _INT32_MAX for value in values):
        return False
    try:
        if any(extent.evaluate(env) < 0 for extent in signature.signs):
            return False
        return all(
            low.evaluate(env) >= _INT32_MIN and high.evaluate(env) <= _INT32_MAX
            for low, high in signature.facts
        )
    except ZeroDivisionError:  # a bound of a segment that has no programs in this launch
        return False


def _environment(invocation: Invocation) -> dict[Atom, int]:
    """Symbols and integer scalars by name."""
    env: dict[Atom, int] = {Symbol(name): value for name, value in invocation.extents.items()}
    env.update(
        {Scalar(name): int(value) for name, value in invocation.scalars.items() if math.isfinite(value)}
    )
    env.update({Scalar(name): value for name, value in invocation.extents.items()})
    return env
