"""Counter-based random numbers: Philox4x32-10, equal on every target (spec: logical-program 10).

Counter ``c`` selects word ``c % 4`` of block ``c // 4``; the key is the low and high half of ``seed``.
"""

from __future__ import annotations

from intent.language import dtypes
from intent.language.intrinsic import Namespace, intrinsic
from intent.language.kinds import Value
from intent.types import DType

__all__ = ["random"]


@intrinsic("random.bits", logical_counter="counter")
def random_bits(seed: Value, counter: Value) -> Value:
    """32 random bits for each counter: a u32 of the counter's shape. ``logical_counter=`` means the same.

    Args:
        seed: an integer scalar.
        counter: an integer scalar or tensor.

    Raises:
        WrongDType.

    spec: logical-program 10
    """


@intrinsic("random.uniform", logical_counter="counter")
def random_uniform(seed: Value, counter: Value, dtype: DType = dtypes.f32) -> Value:
    """A number in [0, 1) for each counter: ``(bits >> 8) * 2**-24`` in f32."""


class Random(Namespace):
    """Stateless random numbers."""

    name = "random"
    bits = random_bits
    uniform = random_uniform


random = Random()
