"""Atomic operations on one element or on an index relation of elements (spec: logical-program 10)."""

from __future__ import annotations

from typing import Any, Final

from intent.diagnostics import InvalidOrder, WriteToReadOnly, WrongDType
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.intrinsics.memory import destination, written_value
from intent.frontend.relations import Access
from intent.frontend.values import NONE, Address, FrontValue, Record, Tensor
from intent.kir import Atomic, Resource, View
from intent.types.dtypes import BOOL

__all__ = ["LOWERINGS"]

_KINDS: Final = {"and_": "and", "or_": "or"}
_ORDERS: Final = {"load": ("relaxed", "acquire"), "store": ("relaxed", "release")}
_ALL_ORDERS: Final = ("relaxed", "acquire", "release", "acq_rel")


def _atomic(call: Call) -> FrontValue:
    member = call.name.removeprefix("atomic.")
    kind: Any = _KINDS.get(member, member)
    resource, access = _address(call)
    order = _order(call, member)
    if isinstance(resource, View) and resource.mode == "in" and kind != "load":
        raise WriteToReadOnly(resource.name, span=call.builder.span)
    _check_dtype(call, kind, resource)
    parameters = {"load": (), "compare_exchange": ("expected", "desired")}.get(kind, ("value",))
    operands = tuple(written_value(call, resource, access, p).value for p in parameters)
    element = (resource.dtype, access.shape)
    types = {"store": (), "compare_exchange": (element, (BOOL, access.shape))}.get(kind, (element,))
    results = call.builder.emit(
        Atomic, *types, target=resource, relation=access.relation, kind=kind, operands=operands, order=order
    )
    if kind == "store":
        return NONE
    if kind == "compare_exchange":
        parts = tuple(Tensor(value=r) for r in results)
        return Record(names=("old_value", "success"), items=parts)
    return call.builder.loaded(results[0])


def _address(call: Call) -> tuple[Resource, Access]:
    """``view[i]`` as an address, or ``(view, index=)`` (language decision 2)."""
    front = call.front("address")
    if isinstance(front, Address):
        if call.given("index"):
            raise call.wrong_kind("index", "nothing beside an address view[i]")
        resource, access = front.resource, front.access
    elif call.given("index"):
        resource, access = destination(call, "address")
    else:
        raise call.wrong_kind("address", "an address such as counts[i]")
    if access.new:
        raise call.wrong_kind("address", "an address without None")
    return resource, access


def _order(call: Call, member: str) -> str:
    order = call.constant("order", str, 'a memory order such as "relaxed"')
    allowed = _ORDERS.get(member, _ALL_ORDERS)
    if order not in allowed:
        raise InvalidOrder(member, order, allowed, span=call.builder.span)
    return str(order)


def _check_dtype(call: Call, kind: str, resource: Resource) -> None:
    bitwise = kind in ("and", "or", "xor")
    numeric = kind in ("add", "max", "min")
    wrong = (bitwise and resource.dtype.is_float) or (numeric and resource.dtype is BOOL)
    if wrong:
        expected = "an integer or bool" if bitwise else "a number"
        found = {resource.name: resource.dtype}
        raise WrongDType(
            call.what,
            expected=expected,
            found=found,
            fix=f"declare '{resource.name}' with {expected}s",
            span=call.builder.span,
        )


_MEMBERS: Final = (
    "load",
    "store",
    "exchange",
    "add",
    "max",
    "min",
    "and_",
    "or_",
    "xor",
    "compare_exchange",
)

LOWERINGS: Final[dict[str, Lower]] = {f"atomic.{member}": _atomic for member in _MEMBERS}
