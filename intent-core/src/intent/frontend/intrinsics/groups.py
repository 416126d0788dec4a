"""What a contraction with plain scales means, written in the language itself."""

from __future__ import annotations

import intent.language as I
from intent.language.definitions import fn
from intent.language.kinds import Value

__all__ = ["contract_scaled_groups"]


@fn
def contract_scaled_groups(lhs: Value, lhs_scale: Value, rhs: Value, rhs_scale: Value, acc: Value) -> Value:
    """lhs[M, G, C] * lhs_scale[M, G] times rhs[G, C, N] * rhs_scale[N, G]: acc[M, N], groups added in order."""
    rows, groups = lhs.shape[0], lhs.shape[1]
    result = I.zeros((rows, rhs.shape[2]), acc)
    for group in I.domain(0, groups):
        product = I.contract(lhs[:, group, :], rhs[group, :, :], reduce=((1, 0),), acc_dtype=acc)
        result = result + product * (lhs_scale[:, group][:, None] * rhs_scale[:, group][None, :])
    return result
