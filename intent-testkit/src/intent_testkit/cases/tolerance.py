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


def accumulated(terms: int, *, scale: float = 1.0, dtype: str = "f32") -> Tolerance:
    """A sum of up to ``terms`` products of magnitude ``scale``, in any order, then rounded to ``dtype``.

    The worst case of any order is ``terms * unit * sum(|t|)``; random signs and tree orders stay far below
    ``sqrt(terms)`` of it: the bound is ``4 * sqrt(terms) * unit * scale`` absolute plus the final rounding.
    """
    unit = 2.0**-53 if dtype == "f64" else 2.0**-24
    final = {"f16": 2.0**-11, "bf16": 2.0**-8}.get(dtype, unit)
    return Tolerance(
        rtol=4 * unit + final,
        atol=4 * (terms**0.5 + 4) * unit * scale,
        reason=f"up to {terms} terms of size {scale} summed in f{64 if dtype == 'f64' else 32} in any order",
    )
