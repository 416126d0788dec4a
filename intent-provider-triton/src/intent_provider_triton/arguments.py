"""Values of the emitted kernel's arguments for one invocation, and the choice of the index width."""

from __future__ import annotations

import math

from intent.physical.apart import offsets_fit
from intent.provider import Invocation
from intent.provider.emission import INT32_MAX, INT32_MIN
from intent.types.extent import Atom, Scalar, Symbol
from intent_provider_triton.emit.signature import Parameter, Signature


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


def index_is_small(signature: Signature, invocation: Invocation) -> bool:
    """Whether every index value and every element offset of this launch fits 32 bits."""
    if not offsets_fit((view.shape, view.strides) for view in invocation.views.values()):
        return False
    env = _environment(invocation)
    try:
        if any(extent.evaluate(env) < 0 for extent in signature.signs):
            return False
        return all(
            fact.low.evaluate(env) >= INT32_MIN and fact.high.evaluate(env) <= INT32_MAX
            for fact in signature.facts
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
