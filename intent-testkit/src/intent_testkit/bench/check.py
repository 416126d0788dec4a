"""A contender's result against the reference, before it may be timed."""

from __future__ import annotations

from typing import Any

from intent_testkit.bench.contender import Call, Tensors, Workload

POISON = 12345.0


class WrongContender(AssertionError):
    """A contender's result is not the reference's."""


def check(torch: Any, workload: Workload, tensors: Tensors, call: Call, reference: Any) -> float:
    """Poison the output, call, and compare; the Euclidean relative error.

    Raises:
        WrongContender: NaN, a poisoned element, or an error above the workload's bounds.
    """
    tensors["out"].fill_(POISON)
    result = call()
    torch.cuda.synchronize()
    if tuple(result.shape) != tuple(reference.shape):
        raise WrongContender(f"shape {tuple(result.shape)}, expected {tuple(reference.shape)}")
    wide = result.double()
    if not bool(torch.isfinite(wide).all()):
        raise WrongContender("the result holds NaN or infinity")
    difference = (wide - reference).abs_()
    largest = float(reference.abs().max())
    worst = float(difference.max()) / largest
    error = float(torch.linalg.vector_norm(difference) / torch.linalg.vector_norm(reference))
    if error > workload.error or worst > workload.worst:
        raise WrongContender(
            f"relative error {error:.2e} (bound {workload.error:.0e}), worst element {worst:.2e} "
            f"of the largest (bound {workload.worst:.0e})"
        )
    return error
