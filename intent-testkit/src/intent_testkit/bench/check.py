"""A contender's result against the reference, before it may be timed."""

from __future__ import annotations

from typing import Any

from intent_testkit.bench.contender import Call, Tensors, Workload


class WrongContender(AssertionError):
    """A contender's result is not the reference's."""


def check(
    torch: Any, workload: Workload, tensors: Tensors, call: Call, *, reference: Any, slack: float = 1.0
) -> float:
    """Fill the output with what the line says, call, and compare; the Euclidean relative error.

    Raises:
        WrongContender: NaN, a poisoned element, or an error above ``slack`` times the workload's bounds.
    """
    out = tensors["out"]
    # 8-bit floats do not reach the usual poison; their largest number is as unlikely.
    out.fill_(
        min(workload.initial, torch.finfo(out.dtype).max) if out.is_floating_point() else workload.initial
    )
    result = call()
    torch.cuda.synchronize()
    if tuple(result.shape) != tuple(reference.shape):
        raise WrongContender(f"shape {tuple(result.shape)}, expected {tuple(reference.shape)}")
    wide, reference = result.double(), reference.double()
    if not bool(torch.isfinite(wide).all()):
        raise WrongContender("the result holds NaN or infinity")
    difference = (wide - reference).abs_()
    largest = float(reference.abs().max())
    worst = float(difference.max()) / largest
    error = float(torch.linalg.vector_norm(difference) / torch.linalg.vector_norm(reference))
    if error > slack * workload.error or worst > slack * workload.worst:
        raise WrongContender(
            f"relative error {error:.2e} (bound {slack * workload.error:.0e}), worst element {worst:.2e} "
            f"of the largest (bound {slack * workload.worst:.0e})"
        )
    return error
