"""The kinds of things that intrinsics take and give, as names for signatures.

Values of kernels are typed by Intent's own front end, so for Python's checkers each kind is ``Any``; the
names say what an argument has to be.
"""

from __future__ import annotations

from typing import Any, TypeAlias

__all__ = ["Axes", "Buffer", "Helper", "Index", "Pairs", "Region", "Shape", "Value", "View"]

Value: TypeAlias = Any
"""A scalar or tensor value, a literal, or (where said) a record or tuple of values."""

View: TypeAlias = Any
"""A parameter declared with I.In, I.Out or I.InOut; where said also an I.buffer."""

Buffer: TypeAlias = Any
"""A kernel-local mutable buffer."""

Region: TypeAlias = Any
"""A domain, a subregion of a domain, or a ragged member region."""

Index: TypeAlias = Any
"""A subscript: one entry or a tuple of scalars, index tensors, domains, subregions, slices."""

Shape: TypeAlias = Any
"""A tuple of extents: non-negative ints, run-time integers, entries of a ``.shape``, domains."""

Axes: TypeAlias = Any
"""A constant axis, or a tuple of axes; negative ones count from the last."""

Pairs: TypeAlias = Any
"""A tuple of pairs (axis of lhs, axis of rhs)."""

Helper: TypeAlias = Any
"""A function decorated with @intent.fn; where said also I.add, I.maximum or I.minimum."""
