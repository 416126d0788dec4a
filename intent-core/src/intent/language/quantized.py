"""Block-quantized records and their dot product (Q4_K weights, Q8_K activations).

A record is a run of bytes for 256 logical elements, little endian, low bits first, without padding. Formats are
closed: they name a layout and its numbers, never a dtype or an instruction.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from intent.language.intrinsic import Namespace, intrinsic
from intent.language.kinds import Value
from intent.types import DType

__all__ = ["RecordFormat", "quant", "quantize", "quantized_dot"]


@dataclass(frozen=True, kw_only=True)
class RecordFormat:
    """The layout of one record: how many bytes hold its 256 elements."""

    name: str
    bytes: int

    def __repr__(self) -> str:
        return f"I.quant.{self.name}"


class Quant(Namespace):
    """Formats of block-quantized records."""

    name = "quant"

    q4_k: Final = RecordFormat(name="q4_k", bytes=144)
    """f16 scale and minimum (bytes 0, 2), eight 6-bit scales and minima packed in bytes 4 to 15, 256 4-bit values."""

    q8_k: Final = RecordFormat(name="q8_k", bytes=292)
    """f32 scale (byte 0), 256 signed bytes, sixteen i16 sums of 16 values each (byte 260)."""


quant = Quant()


@intrinsic("quantize")
def quantize(value: Value, *, format: Value) -> Value:  # noqa: A002 -- the published spelling
    """Records ``u8[G,292]`` of f32 values ``[G,256]``, each block scaled by its extreme value.

    The extreme is the value of largest magnitude, the lowest on a tie; ``inverse = -127 / extreme`` and the scale
    ``1 / inverse`` are rounded to f32, elements to the nearest integer, ties to even. A block of zeros gives zeros.
    Values that are not finite, or whose scale is not, are invalid input.

    Args:
        value: f32 values; one block of 256 in each row.
        format: ``I.quant.q8_k``.
    """


@intrinsic("quantized_dot")
def quantized_dot(lhs: Value, rhs: Value, *, lhs_format: Value, rhs_format: Value, acc_dtype: DType) -> Value:
    """The dot product of records ``u8[G,144]`` and ``u8[G,292]``: one f32 scalar.

    Inside a record sums of products are exact integers; scales are applied in f32, each step rounded; records are
    added in increasing order. Without records the result is +0.

    Args:
        lhs: weights.
        rhs: activations; their sums have to be those of their values.
        lhs_format: ``I.quant.q4_k``.
        rhs_format: ``I.quant.q8_k``.
        acc_dtype: ``I.f32``.
    """
