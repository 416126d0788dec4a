"""Counter-based random numbers: Philox4x32-10, pure and stateless (spec: logical-program 10)."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import WrongDType
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.values import FrontValue, Literal, Tensor
from intent.kir import RandomBits
from intent.types.dtypes import F32, I64, U32, U64

__all__ = ["LOWERINGS"]

_SPARE_BITS: Final = 8
"""An f32 holds 24 bits: the lowest 8 of a word are dropped."""


def _bits(call: Call) -> Tensor:
    seed, counter = (_word(call, parameter) for parameter in ("seed", "counter"))
    seed, counter = call.builder.broadcast(seed, counter, what=call.what)
    value = call.builder.emit_one(RandomBits, U32, seed.shape, seed=seed.value, counter=counter.value)
    return Tensor(value=value)


def _word(call: Call, parameter: str) -> Tensor:
    """Seed or counter in 64 bits: any integer dtype is taken (language decision 3)."""
    tensor = call.builder.materialize(call.front(parameter), I64, call.what)
    if not tensor.dtype.is_integer:
        found = {call.text(parameter): tensor.dtype}
        raise WrongDType(
            f"{parameter}= of {call.what}", expected="an integer", found=found, span=call.builder.span
        )
    return tensor if tensor.dtype is U64 else call.builder.cast(tensor, I64)


def _uniform(call: Call) -> FrontValue:
    """``(bits >> 8) * 2**-24`` in f32; other float dtypes are casts of it (language decision 22)."""
    dtype = call.some_dtype("dtype")
    if not dtype.is_float:
        raise WrongDType(call.what, expected="a float", found={"dtype": dtype}, span=call.builder.span)
    kept = call.builder.pointwise("shr", _bits(call), Literal(value=_SPARE_BITS))
    unit = call.builder.pointwise("mul", call.builder.cast(kept, F32), Literal(value=2.0**-24))
    return call.builder.cast(unit, dtype)


LOWERINGS: Final[dict[str, Lower]] = {"random.bits": _bits, "random.uniform": _uniform}
