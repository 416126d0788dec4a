"""Values of the emitted kernel's arguments for one invocation, in the form in which launches pass them."""

from __future__ import annotations

import struct

from intent.provider import Invocation, emission
from intent_provider_cutile.emit.signature import Parameter


def value_of(parameter: Parameter, invocation: Invocation) -> int | float | bool:
    """A stride in elements, an extent, or a scalar in the form in which it is passed."""
    value = emission.value_of(parameter, invocation)
    if parameter.kind != "scalar":
        return value
    if parameter.dtype == "f64":
        (bits,) = struct.unpack("<q", struct.pack("<d", value))
        return int(bits)
    if parameter.dtype == "u64":
        return int(value) - (1 << 64) if int(value) >> 63 else int(value)
    return value
