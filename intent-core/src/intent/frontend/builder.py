"""The builder that every lowering uses: emission, leaves, operands, and reads of whole resources."""

from __future__ import annotations

from dataclasses import replace

from intent.diagnostics import WrongKind
from intent.frontend.access import Accesses
from intent.frontend.leaves import default_dtype, rounded
from intent.frontend.values import (
    BufferRef,
    Domain,
    ExtentRef,
    FrontValue,
    Leaf,
    Literal,
    Record,
    Tensor,
    Tuple,
    ViewRef,
    leaves,
    rebuild,
)
from intent.kir import Bitcast, Cast, Constant, Resource
from intent.types import DType, Extent
from intent.types.dtypes import INDEX
from intent.types.extent import dyn


class Builder(Accesses):
    """Creates KIR operations; the docstrings of the base classes describe each group of methods."""

    # -- any value as data

    def data(self, front: FrontValue, what: str = "this operation") -> Tensor:
        """``front`` as run-time data: views and buffers are read whole, domains give their indices.

        Raises WrongKind for products and compile-time objects.
        """
        if isinstance(front, Tensor):
            return front
        if isinstance(front, Literal):
            return self.constant(front.value, default_dtype(front.value))
        if isinstance(front, ExtentRef):
            return self.extent_value(front.extent)
        if isinstance(front, Domain):
            return self.indices(front)
        if isinstance(front, ViewRef | BufferRef):
            return self.read_all(front.resource)
        fix = None
        if isinstance(front, Tuple | Record):
            fix = "apply it to each component"
        raise WrongKind(
            what,
            expected="a value",
            found=front.describe(),
            argument=self.text_of(front, "the value"),
            fix=fix,
            span=self.span,
        )

    def read_all(self, resource: Resource) -> Tensor:
        """Every element of a view or buffer, in one read at this position of the program."""
        return self.load(resource, self.access(resource.shape, (), resource.name, resource))

    def shape_of(self, front: FrontValue) -> tuple[Extent, ...]:
        """The logical shape of anything that is or can become data, without reading it."""
        if isinstance(front, ViewRef | BufferRef):
            return front.resource.shape
        if isinstance(front, Tensor | Leaf):
            return front.shape
        if isinstance(front, Domain):
            return (front.extent,)
        if isinstance(front, Literal | ExtentRef):
            return ()
        return self.data(front).shape

    # -- conversions

    def cast(self, front: FrontValue, dtype: DType) -> Tensor:
        """Numeric conversion (language, Numbers); a literal is converted at once. Same dtype: nothing."""
        if isinstance(front, Literal):
            return self._cast_literal(front.value, dtype)
        tensor = self.data(front, "cast")
        if tensor.dtype is dtype:
            return replace(tensor, weak=(), again=None)
        if dtype is INDEX and tensor.dtype.is_integer:
            return self.index(tensor)
        result = self.emit_one(Cast, dtype, tensor.shape, value=tensor.value)
        extent = tensor.extent if dtype.is_integer and tensor.dtype.is_integer else None
        if extent is None or not extent.launch_visible or tensor.shape:
            return Tensor(
                value=result, extent=dyn(result.id) if dtype is INDEX and not tensor.shape else None
            )
        return Tensor(value=result, extent=extent, ranges=(*tensor.ranges, (extent, dtype)))

    def _cast_literal(self, value: float, dtype: DType) -> Tensor:
        if dtype.kind == "bool":
            return self.constant(bool(value != 0), dtype)
        if dtype.is_float:
            converted = rounded(float(value), dtype)
            result = self.consed(
                (Constant, dtype, repr(converted)), self.base, Constant, dtype, value=converted
            )
            return Tensor(value=result)
        return self.constant(int(value), dtype)

    def bitcast(self, front: FrontValue, dtype: DType) -> Tensor:
        """The same bits as another dtype; widths are checked by the caller."""
        tensor = self.data(front, "bitcast")
        return Tensor(value=self.emit_one(Bitcast, dtype, tensor.shape, value=tensor.value))

    # -- products

    def components(
        self, front: FrontValue, like: FrontValue | None = None, what: str = "this operation"
    ) -> tuple[Tensor, ...]:
        """The components of a product as data. Literals take the dtypes of ``like``'s components where given."""
        parts = list(leaves(front))
        wanted = [None] * len(parts) if like is None else [self.dtype_of(part) for part in leaves(like)]
        return tuple(self.materialize(p, d, what) for p, d in zip(parts, wanted, strict=True))

    def arguments(self, like: FrontValue, name: str = "") -> FrontValue:
        """Fresh arguments of the innermost region, one per component of ``like``, as a product of its structure."""
        made = []
        for part in leaves(like):
            assert isinstance(part, Leaf | Tensor)
            made.append(self.loaded(self.argument(part.dtype, part.shape, name)))
        return rebuild(like, iter(made))
