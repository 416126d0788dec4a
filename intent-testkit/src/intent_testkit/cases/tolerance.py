"""How far a result may be from the oracle, and why."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Tolerance:
    """A bound on ``|got - expected|``: ``atol + rtol * |expected| + ulps * ulp(expected)``.

    ``ulp`` is the spacing of the output's dtype at the expected value. ``reason`` says where the bound comes
    from; a bound without a reason cannot be written. Integers and bools are always compared exactly.
    """

    reason: str
    rtol: float = 0.0
    atol: float = 0.0
    ulps: float = 0.0

    def __post_init__(self) -> None:
        """Reject a bound whose origin nobody can check."""
        if not self.reason:
            raise ValueError("a tolerance states its reason")


EXACT = Tolerance(reason="the operation is exact, or correctly rounded, in the output's dtype")


def ulps(count: float, reason: str) -> Tolerance:
    """At most ``count`` units in the last place of the output's dtype."""
    return Tolerance(ulps=count, reason=reason)


def accumulated(terms: int, *, scale: float = 1.0, dtype: str = "f32", biased: bool = False) -> Tolerance:
    """The bound for a sum of up to ``terms`` values of size ``scale``, in any order, rounded to ``dtype``.

    Each addition errs by at most ``unit / 2`` (of rounding) times the partial sum. With random signs the k-th
    partial sum has size ``scale * sqrt(k)`` and the errors are independent: together about
    ``unit * scale * terms / sqrt(2)``, and the bound is 5.6 times that. With one sign (``biased``) the partial
    sum is ``scale * k`` and equal terms may err the same way every time: the bound is the worst case,
    ``unit * scale * terms**2 / 2``. Both hold for the worst order, one after the other, and stay far below what
    a narrower accumulator or tf32 factors would leave.
    """
    unit = 2.0**-53 if dtype == "f64" else 2.0**-24
    final = {"f16": 2.0**-11, "bf16": 2.0**-8}.get(dtype, unit)
    growth = 0.5 * terms**2 if biased else 4.0 * terms
    return Tolerance(
        rtol=4 * unit + final,
        atol=unit * scale * (growth + 4),
        reason=f"up to {terms} terms of size {scale} summed in f{64 if dtype == 'f64' else 32} in any order",
    )
