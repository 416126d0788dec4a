"""Indexed reads and writes, buffers, and promises about indices (spec: logical-program 9)."""

from __future__ import annotations

from typing import Final

from intent.diagnostics import SchemaMismatch, ShapeMismatch, WrongDType
from intent.frontend.builder import Builder
from intent.frontend.emission import Purity
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.intrinsics.combine import as_schema, helper_name
from intent.frontend.intrinsics.neutral import COMBINES
from intent.frontend.relations import Access
from intent.frontend.values import (
    NONE,
    BufferRef,
    FrontValue,
    IntrinsicRef,
    Leaf,
    Literal,
    Tensor,
    Tuple,
    ViewRef,
)
from intent.kir import AssumeInBounds, BufferAlloc, Resource, ScatterReduce
from intent.types import Extent
from intent.types.dtypes import BOOL

__all__ = ["LOWERINGS", "destination", "validity", "written_value"]


def items(front: FrontValue) -> tuple[FrontValue, ...]:
    """The items of an ``index=`` argument: one, or a tuple of them."""
    return front.items if isinstance(front, Tuple) else (front,)


def destination(call: Call, parameter: str = "target", index: str = "index") -> tuple[Resource, Access]:
    """The view or buffer to access and the relation of ``index=``. Raises WrongKind, WrongRank."""
    front = call.front(parameter)
    if not isinstance(front, ViewRef | BufferRef):
        raise call.wrong_kind(parameter, "a view or a buffer")
    resource, chosen = front.resource, items(call.front(index))
    access = call.builder.access(resource.shape, chosen, resource.name, resource, masked=_masked(call))
    return resource, access


def _masked(call: Call) -> bool:
    """Whether ``valid=`` may leave lanes out."""
    front = call.front("valid") if "valid" in call.arguments else Literal(value=True)
    return not (isinstance(front, Literal) and front.value is True)


def validity(call: Call, shape: tuple[Extent, ...]) -> Tensor | None:
    """``valid=`` as a bool of ``shape``; None for a literal True. It must not enlarge the shape."""
    front = call.front("valid")
    if isinstance(front, Literal) and front.value is True:
        return None
    return _within(call, call.builder.typed(front, BOOL, f"valid= of {call.what}"), shape, "valid=")


def _within(call: Call, tensor: Tensor, shape: tuple[Extent, ...], name: str) -> Tensor:
    """``tensor`` broadcast to ``shape``, which it must not enlarge. Raises ShapeMismatch."""
    if tensor.rank > len(shape):
        raise ShapeMismatch(call.what, {name: tensor.shape, "the index": shape}, span=call.builder.span)
    for extent, wanted in zip(tensor.shape, shape[len(shape) - tensor.rank :], strict=True):
        if extent is wanted or extent.const == 1:
            continue
        if wanted.const == 1 or (extent.const is not None and wanted.const is not None):
            raise ShapeMismatch(call.what, {name: tensor.shape, "the index": shape}, span=call.builder.span)
        call.builder.condition("equal", extent, wanted, f"{name} of {call.what}")
    return call.builder.broadcast_to(tensor, shape)


def written_value(call: Call, resource: Resource, access: Access, parameter: str = "value") -> Tensor:
    """A value to write: of the resource's dtype, broadcast. Raises WrongDType, ShapeMismatch."""
    value = call.builder.typed(call.front(parameter), resource.dtype, f"{parameter}= of {call.what}")
    return _within(call, value, access.shape, f"{parameter}=")


def _gather(call: Call) -> FrontValue:
    """Invalid lanes touch no memory and give ``fill``."""
    builder, front, index = call.builder, call.front("source"), items(call.front("index"))
    fill = call.front("fill")
    if isinstance(front, ViewRef | BufferRef):
        resource, access = destination(call, "source")
        valid = validity(call, access.shape)
        if valid is None:
            return builder.load(resource, access)
        scalar, wide = _fills(call, fill, resource.dtype.kind == "bool")
        result = builder.load(
            resource, access, valid, builder.typed(scalar, resource.dtype, f"fill= of {call.what}")
        )
    else:
        source = builder.data(front, call.what)
        access = builder.access(source.shape, index, call.text("source"), masked=_masked(call))
        valid = validity(call, access.shape)
        if valid is None:
            return builder.gather(source, access)
        scalar, wide = _fills(call, fill, source.dtype is BOOL)
        result = builder.gather(
            source, access, valid, builder.typed(scalar, source.dtype, f"fill= of {call.what}")
        )
    if wide is None:
        return result
    return builder.pointwise(
        "select", valid, result, _within(call, wide, result.shape, "fill="), what=call.what
    )


def _fills(call: Call, fill: FrontValue, is_bool: bool) -> tuple[FrontValue, Tensor | None]:
    """The scalar fill of the read, and the tensor that replaces it afterwards where ``fill`` has axes."""
    nothing = Literal(value=False if is_bool else 0)
    if isinstance(fill, Literal):
        return (nothing, None) if fill.value == 0 and not isinstance(fill.value, float) else (fill, None)
    tensor = call.builder.data(fill, f"fill= of {call.what}")
    return (nothing, tensor) if tensor.shape else (tensor, None)


def _mutable_load(call: Call) -> FrontValue:
    resource, access = destination(call)
    return call.builder.load(resource, access)


def _store(call: Call) -> FrontValue:
    resource, access = destination(call)
    call.builder.store(resource, access, written_value(call, resource, access))
    return NONE


def _scatter_unique(call: Call) -> FrontValue:
    """The author promises distinct destinations; the promise is recorded (language decision 4)."""
    resource, access = destination(call)
    call.builder.check_writable(resource)
    value = written_value(call, resource, access)
    call.builder.store(resource, access, value, validity(call, access.shape), "assumed")
    return NONE


def _scatter_reduce(call: Call) -> FrontValue:
    """``target[i] = combine(target[i], value)``; the old value takes part (language decision 20)."""
    builder = call.builder
    resource, access = destination(call)
    builder.check_writable(resource)
    value = written_value(call, resource, access)
    valid = validity(call, access.shape)
    if access.new:
        raise call.wrong_kind("index", "an index without None")
    callee = call.callee("combine")
    kind = COMBINES.get(callee.intrinsic.name) if isinstance(callee, IntrinsicRef) else None
    if isinstance(callee, IntrinsicRef) and kind is None:
        raise call.wrong_kind("combine", "a helper, or I.add, I.maximum or I.minimum")
    if resource.dtype is BOOL and kind is not None:
        found = {resource.name: resource.dtype}
        raise WrongDType(f"combine= of {call.what}", expected="a number", found=found, span=builder.span)
    combine = None
    if not isinstance(callee, IntrinsicRef):
        element = Leaf(dtype=resource.dtype)
        name = helper_name(callee)
        builder.open(
            isolated=True, pure=Purity(helper=name, role=f"combine= of {call.what}", through="value")
        )
        result = call.inline(callee, [builder.arguments(element, "old"), builder.arguments(element, "value")])
        combine = builder.close(as_schema(call, result, element, f"the result of {name}"))
    builder.emit(
        ScatterReduce,
        target=resource,
        relation=access.relation,
        value=value.value,
        valid=valid and valid.value,
        kind=kind,
        combine=combine,
    )
    return NONE


def _buffer(call: Call) -> FrontValue:
    """One allocation for every execution of this statement (spec: kernel-and-host 6)."""
    builder, dtype, shape = call.builder, call.some_dtype("dtype"), call.shape("shape")
    init = None
    if call.given("init"):
        init = builder.typed(call.front("init"), dtype, f"init= of {call.what}")
        if init.shape:
            init = _full_init(call, builder, init, shape)
    buffer = builder.buffer("", dtype, shape)
    builder.emit(BufferAlloc, buffer=buffer, init=init and init.value)
    return BufferRef(buffer=buffer)


def _full_init(call: Call, builder: Builder, init: Tensor, shape: tuple[Extent, ...]) -> Tensor:
    if init.rank > len(shape):
        raise SchemaMismatch(
            f"init= of {call.what}",
            expected=f"a scalar or shape {shape}",
            found=init.describe(),
            span=builder.span,
        )
    return _within(call, init, shape, "init=")


def _assume_in_bounds(call: Call) -> FrontValue:
    """From here on ``index`` is promised to be inside ``axis`` of ``view``; the sanitizer tests it."""
    front = call.front("view")
    if not isinstance(front, ViewRef | BufferRef):
        raise call.wrong_kind("view", "a view or a buffer")
    resource = front.resource
    index = call.builder.index(call.front("index"), f"index= of {call.what}")
    axis = call.axis("axis", resource.rank)
    call.builder.emit(AssumeInBounds, index=index.value, target=resource, axis=axis)
    call.builder.promise(index.value, resource, axis)
    call.builder.assume("in_bounds", f"{call.text('index')} is inside axis {axis} of '{resource.name}'")
    return NONE


LOWERINGS: Final[dict[str, Lower]] = {
    "gather": _gather,
    "mutable_load": _mutable_load,
    "store": _store,
    "scatter_unique": _scatter_unique,
    "scatter_reduce": _scatter_reduce,
    "buffer": _buffer,
    "assume_in_bounds": _assume_in_bounds,
}
