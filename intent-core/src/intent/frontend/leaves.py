"""Leaves of the value graph: constants and literals, extents as values, coordinates of domains."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from intent.diagnostics import LiteralNotRepresentable, SliceExtentObserved, WrongDType, WrongKind
from intent.frontend.emission import Emitter
from intent.frontend.values import (
    BufferRef,
    Domain,
    ExtentRef,
    FrontValue,
    Leaf,
    Literal,
    Tensor,
    ViewRef,
)
from intent.kir import Broadcast, Cast, Constant, DomainID, ExtentValue, Iota, Value
from intent.types import DType, Extent
from intent.types.dtypes import BOOL, F64, I64, INDEX
from intent.types.extent import Call, Dyn, Symbol, const, dyn


def default_dtype(value: float) -> DType:
    """The dtype of a literal without context: bool, i64 or f64."""
    if isinstance(value, bool):
        return BOOL
    return I64 if isinstance(value, int) else F64


def rounded(value: float, dtype: DType) -> float:
    """The nearest value of a float dtype, as a Python float."""
    with np.errstate(over="ignore"):
        return float(dtype.numpy.type(value))


def representable(value: float, dtype: DType) -> bool:
    """Whether a literal may take ``dtype``: same kind, in range, and for an int given to a float exactly."""
    if isinstance(value, bool) or dtype.kind == "bool":
        return isinstance(value, bool) and dtype.kind == "bool"
    if dtype.is_integer:
        return isinstance(value, int) and dtype.minimum <= value <= dtype.maximum
    try:
        nearest = rounded(float(value), dtype)
    except OverflowError:
        return False
    if isinstance(value, int):
        return nearest == value
    return math.isnan(nearest) == math.isnan(value) and math.isinf(nearest) == math.isinf(value)


class Leaves(Emitter):
    """Constants, extents and coordinates; each exists once per frame that needs it."""

    # -- literals

    def constant(self, value: float, dtype: DType) -> Tensor:
        """A scalar of ``dtype`` (emitted once). Raises LiteralNotRepresentable."""
        if not representable(value, dtype):
            raise LiteralNotRepresentable(value, dtype, span=self.span)
        if dtype.is_float:
            value = rounded(float(value), dtype)
        key = (Constant, dtype, repr(value))
        result = self.consed(key, self.base, Constant, dtype, value=value)
        return Tensor(value=result, extent=const(int(value)) if dtype.is_integer else None)

    # -- axes of extent 1

    def peel(self, value: Value) -> tuple[Value, tuple[int, ...]]:
        """``value`` without the axes of extent 1 that a Broadcast added: the inner value and where its axes stand."""
        op = self.defs.get(value.id)
        if not isinstance(op, Broadcast):
            return value, tuple(range(value.rank))
        added = (e for k, e in enumerate(value.shape) if k not in op.axes)
        same = (op.value.shape[k] is value.shape[a] for k, a in enumerate(op.axes))
        if any(e.const != 1 for e in added) or not all(same):
            return value, tuple(range(value.rank))
        inner, axes = self.peel(op.value)
        return inner, tuple(op.axes[a] for a in axes)

    def spread(self, tensor: Tensor, axes: tuple[int, ...], shape: tuple[Extent, ...]) -> Tensor:
        """Axis k of ``tensor`` as axis ``axes[k]`` of ``shape`` (strictly increasing), repeated along the others."""
        value, inner = self.peel(tensor.value)
        axes = tuple(axes[k] for k in inner)
        if value.shape == shape:
            return Tensor(value=value, weak=tensor.weak)
        result = self.emit_one(Broadcast, tensor.dtype, shape, value=value, axes=axes)
        return Tensor(value=result, weak=tensor.weak)

    # -- extents

    def extent_value(self, extent: Extent) -> Tensor:
        """The index scalar of an extent (emitted once). Raises SliceExtentObserved for an opaque slice extent."""
        if extent.const is not None:
            return self.constant(extent.const, INDEX)
        for atom in extent.atoms():
            if isinstance(atom, Dyn) and atom in self.opaque:
                helper = self.purity.helper if self.purity else "summarize"
                raise SliceExtentObserved(helper, use="the extent of the slice as a number", span=self.span)
        result = self.consed(
            (ExtentValue, extent), self.depth_of((), (extent,)), ExtentValue, INDEX, extent=extent
        )
        return Tensor(value=result, extent=extent)

    def index(self, front: FrontValue, what: str = "an index") -> Tensor:
        """``front`` as an index-typed tensor: any integer dtype is promoted (language decision 3).

        ``what`` names the place in errors. Raises WrongDType for bools and floats, WrongKind for non-data.
        """
        if isinstance(front, Literal):
            if isinstance(front.value, bool) or not isinstance(front.value, int):
                raise WrongDType(what, expected="an integer", found={"it": front.describe()}, span=self.span)
            return self.constant(front.value, INDEX)
        if isinstance(front, ExtentRef):
            return self.extent_value(front.extent)
        if isinstance(front, Domain):
            return self.indices(front)
        tensor = self.data(front, what)
        if tensor.again is not None and tensor.dtype.is_integer:
            tensor = tensor.again(INDEX)
        if tensor.dtype is INDEX:
            return tensor
        if not tensor.dtype.is_integer:
            raise WrongDType(what, expected="an integer", found={"it": tensor.describe()}, span=self.span)
        value, axes = self.peel(tensor.value)
        key, depth = (Cast, value.id, INDEX), self.depth_of((value,))
        result = self.consed(key, depth, Cast, INDEX, value.shape, value=value)
        if value is not tensor.value:
            return self.spread(Tensor(value=result), axes, tensor.shape)
        if tensor.extent is not None:
            return Tensor(value=result, extent=self._unwrapped(tensor))
        return Tensor(value=result, extent=dyn(result.id) if not tensor.shape else None)

    def _unwrapped(self, tensor: Tensor) -> Extent | None:
        """The polynomial of a fixed-width integer, under conditions that no intermediate wraps."""
        if tensor.extent is None or not tensor.extent.launch_visible:
            return None
        for extent, dtype in tensor.ranges:
            if not self.nonnegative(extent - dtype.minimum):
                self.condition(
                    "at_least", extent, const(dtype.minimum), f"{dtype} arithmetic that forms an extent"
                )
            self.condition(
                "at_least", const(dtype.maximum), extent, f"{dtype} arithmetic that forms an extent"
            )
        return tensor.extent

    def extent_of(self, front: FrontValue, what: str = "an extent") -> Extent:
        """An integer scalar as an extent: symbolic where known, else the run-time value of an SSA value."""
        if isinstance(front, Literal) and isinstance(front.value, int) and not isinstance(front.value, bool):
            return const(front.value)
        if isinstance(front, ExtentRef):
            return front.extent
        tensor = self.index(front, what)
        if tensor.shape:
            raise WrongKind(what, expected="an integer scalar", found=tensor.describe(), span=self.span)
        return tensor.extent if tensor.extent is not None else dyn(tensor.value.id)

    def nonnegative(self, extent: Extent) -> bool:
        """Whether an extent is provably at least 0, from symbols being so and from loop bounds."""
        return self._nonnegative(extent, 4)

    def _nonnegative(self, extent: Extent, fuel: int) -> bool:
        if extent.const is not None:
            return extent.const >= 0
        if all(k > 0 and all(self._atom_nonnegative(a, fuel) for a in m) for m, k in extent.terms if m):
            return all(k >= 0 for m, k in extent.terms if not m)
        if not fuel:
            return False
        for monomial, k in extent.terms:
            if len(monomial) != 1 or not isinstance(monomial[0], Dyn):
                continue
            atom = monomial[0]
            low, high = self.bounds.get(atom.value, (None, None))
            edge = low if k > 0 else high - 1 if high is not None else None
            if edge is not None and self._nonnegative(extent.substitute({atom: edge}), fuel - 1):
                return True
        return False

    def _atom_nonnegative(self, atom: object, fuel: int) -> bool:
        if isinstance(atom, Symbol):
            return True
        if isinstance(atom, Dyn):
            low = self.bounds.get(atom.value, (None, None))[0]
            return low is not None and fuel > 0 and self._nonnegative(low, fuel - 1)
        if isinstance(atom, Call) and fuel > 0:
            if atom.op == "max":
                return any(self._nonnegative(a, fuel - 1) for a in atom.args)
            if atom.op == "mod":
                return self._nonnegative(atom.args[1], fuel - 1)
            return all(self._nonnegative(a, fuel - 1) for a in atom.args)
        return False

    # -- coordinates

    def indices(self, domain: Domain) -> Tensor:
        """The coordinates of a domain's members, ``index[extent]`` (emitted once, spec: logical-program 1.1)."""
        begin, step = self.index(domain.begin), self.index(domain.step)
        if self.opaque and any(a in self.opaque for a in domain.extent.atoms()):
            helper = self.purity.helper if self.purity else "summarize"
            raise SliceExtentObserved(helper, use="coordinates counted inside the slice", span=self.span)
        # Coordinates stand where their bounds are known, so that the sanitizer can compare them.
        depth = self.depth_of((begin.value, step.value), (domain.extent, *self.bounds_of(domain.id)))
        result = self.consed(
            (Iota, domain.id),
            depth,
            Iota,
            INDEX,
            (domain.extent,),
            begin=begin.value,
            step=step.value,
            domain=domain.id,
        )
        return Tensor(value=result)

    def axis_coordinates(self, extent: Extent) -> Tensor:
        """The coordinates 0 .. extent-1 of a whole axis; one value per extent."""
        depth = self.depth_of((), (extent,))
        table = self.frames[depth].cons
        identity: DomainID | None = table.get(("axis", extent))
        if identity is None:
            identity = table["axis", extent] = self.domain_id(f"axis {extent}", extent=extent)
        zero, one = self.constant(0, INDEX).value, self.constant(1, INDEX).value
        result = self.consed(
            (Iota, identity), depth, Iota, INDEX, (extent,), begin=zero, step=one, domain=identity
        )
        return Tensor(value=result)

    def dtype_of(self, front: FrontValue) -> DType | None:
        """The dtype of data; None for a literal, which has none yet."""
        if isinstance(front, ViewRef | BufferRef):
            return front.resource.dtype
        if isinstance(front, Tensor | Leaf):
            return front.dtype
        if isinstance(front, Domain | ExtentRef):
            return INDEX
        return None

    # -- run-time data of anything

    def data(self, front: FrontValue, what: str) -> Tensor:
        """``front`` as run-time data; overridden with reads of views and buffers."""
        raise NotImplementedError

    @staticmethod
    def values(tensors: Iterable[Tensor]) -> tuple[Value, ...]:
        """The SSA values of tensors."""
        return tuple(t.value for t in tensors)
