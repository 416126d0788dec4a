"""Values of the emitted kernel's arguments for one invocation, and the choice of the index width."""

from __future__ import annotations

import math
import struct

from intent.physical.apart import offsets_fit
from intent.provider import Invocation
from intent.provider.emission import INT32_MAX, INT32_MIN
from intent.types.extent import Atom, Scalar, Symbol
from intent_provider_cutile.emit.signature import Parameter, Signature


def value_of(parameter: Parameter, invocation: Invocation) -> int | float | bool:
    """A stride in elements, an extent, or a scalar in the form in which it is passed."""
    if parameter.kind == "stride":
        return invocation.views[parameter.view].strides[parameter.axis]
    if parameter.kind == "extent":
        return invocation.extents[parameter.name]
    assert parameter.kind == "scalar", parameter.kind
    value = invocation.scalars[parameter.name]
    if parameter.dtype == "f64":
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return int(bits)
    if parameter.dtype == "u64":
        return int(value) - (1 << 64) if int(value) >> 63 else int(value)
    return value


def index_is_small(signature: Signature, invocation: Invocation) -> bool:
    """Whether every index value and every element offset of this launch fits 32 bits."""
    if not offsets_fit((view.shape, view.strides) for view in invocation.views.values()):
        return False
    scalars = [p for p in signature.parameters if p.index]
    if not all(INT32_MIN <= value_of(p, invocation) <= INT32_MAX for p in scalars):
        return False
    env = _environment(invocation)
    try:
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
