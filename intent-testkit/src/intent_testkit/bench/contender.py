"""What is compared: a workload, its contenders, and what was measured of each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Tensors = Mapping[str, Any]
Call = Callable[[], Any]
Unit = Literal["GB/s", "TFLOP/s"]


@dataclass(frozen=True, kw_only=True)
class Contender:
    """One way to compute a workload.

    ``bind(tensors)`` returns a call without arguments that computes into, or returns, the output. ``ours``
    marks this project's providers; the rest are peers. ``slack`` multiplies the line's bounds for a peer that is
    known to compute more coarsely; the table shows its error.
    """

    name: str
    bind: Callable[[Tensors], Call]
    ours: bool = False
    slack: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Workload:
    """One line of the benchmark.

    ``make`` draws fresh inputs and the output tensor (key ``out``) on the GPU; ``reference`` computes the
    output in float64 (or exactly) from them. ``work`` is what one call must do at least: bytes moved (each
    input read once, each output written once) or floating-point operations. ``error`` bounds
    ``|out - ref| / |ref|`` in the Euclidean norm and ``worst`` bounds the largest element's error relative to
    the largest reference element. ``initial`` fills ``out`` before the check: poison, or 0 where a contender adds to
    what is there.
    """

    name: str
    make: Callable[[Any], Tensors]
    reference: Callable[[Tensors], Any]
    contenders: Callable[[tuple[str, ...]], list[Contender]]
    work: float
    unit: Unit
    error: float
    worst: float
    initial: float = 12345.0

    def rate(self, milliseconds: float) -> float:
        """Work per time in ``unit``."""
        scale = 1e6 if self.unit == "GB/s" else 1e9
        return self.work / milliseconds / scale


@dataclass(kw_only=True)
class Result:
    """What was measured of one contender on one workload; ``failure`` says why there is no time."""

    workload: str
    contender: str
    ours: bool
    unit: str
    first_call_s: float | None = None
    error: float | None = None
    milliseconds: float | None = None
    spread: float | None = None
    repetitions: int = 0
    rate: float | None = None
    share_of_ceiling: float | None = None
    ratio_to_best_peer: float | None = None
    failure: str | None = None
    notes: dict[str, Any] = field(default_factory=dict)
