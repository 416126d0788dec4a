"""``triton`` and ``triton.language`` as the emitted text sees them under emulation."""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from functools import partial, reduce
from types import SimpleNamespace
from typing import Any

import numpy as np
import triton.language as native
from triton.language.semantic import TritonSemantic

from intent_provider_triton.emulate import arithmetic
from intent_provider_triton.emulate.builder import Builder
from intent_provider_triton.emulate.values import Handle

Namespace = dict[str, Any]


class Language:
    """One launch's view of Triton: builtins bound to a builder, device functions called directly."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.semantic = TritonSemantic(builder)
        self.tensor = self._tensor_class()
        self.tl = _Module(self)

    def namespace(self) -> Namespace:
        """Globals in which the emitted text is executed."""
        own = SimpleNamespace(jit=lambda fn: fn, language=self.tl)
        extra = SimpleNamespace(libdevice=_Libdevice(self))

        def import_(name: str, *args: Any, **kwargs: Any) -> Any:
            if name == "triton.language.extra":
                return extra
            return own if name.partition(".")[0] == "triton" else builtins.__import__(name, *args, **kwargs)

        allowed = {**vars(builtins), "__import__": import_, "range": self.range}
        return {"__builtins__": allowed, "__name__": "emulated"}

    def wrap(self, value: Any) -> Any:
        """Triton's tensors become tensors whose methods know the builder."""
        if isinstance(value, native.tensor):
            value.__class__ = self.tensor  # making another one takes longer than most operations
            return value
        if isinstance(value, tuple):
            return tuple(self.wrap(v) for v in value)
        return value

    def bound(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """A builtin of Triton with our semantics as its context."""

        def call(*args: Any, **kwargs: Any) -> Any:
            kwargs["_semantic"] = self.semantic
            return self.wrap(fn(*args, **kwargs))

        return call

    def scalar(self, value: int, dtype: Any) -> Any:
        """An integer scalar tensor."""
        return self.wrap(self.semantic.scalar_constant(int(value), dtype))

    def range(self, *bounds: Any) -> Iterator[Any]:
        """Python's range over the promoted integer type of its bounds, as Triton's loops have it."""
        tensors = [self.semantic.to_tensor(b) for b in bounds]
        dtype = reduce(self.semantic.integer_promote_impl, (t.dtype for t in tensors))
        for i in builtins.range(*(int(t.handle.data) for t in tensors)):
            yield self.scalar(i, dtype)

    def _tensor_class(self) -> type:
        members: Namespace = {}
        for name in dir(native.tensor):
            member = getattr(native.tensor, name)
            if native.core.is_builtin(member):
                members[name] = _method(self.bound(member))
        members["__bool__"] = _truth
        members["__index__"] = lambda t: int(t.handle.data)
        members["__hash__"] = object.__hash__
        return type("EmulatedTensor", (native.tensor,), members)


class Steered(Exception):
    """Control that depends on a block of more than one element."""


def _truth(tensor: Any) -> bool:
    if tensor.handle.data.size != 1:
        raise Steered
    return bool(tensor.handle.data)


def _method(call: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return call(self, *args, **kwargs)

    return method


class _Module:
    """``tl``: builtins of Triton, and the structured operations that its code generator expands."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self.constexpr = native.constexpr

    def __getattr__(self, name: str) -> Any:
        found = getattr(native, name)
        if name in _STRUCTURED:
            found = partial(_STRUCTURED[name], self._language)
        elif native.core.is_builtin(found):
            found = self._language.bound(found)
        setattr(self, name, found)
        return found


class _Libdevice:
    """NVIDIA's device library: its functions by numpy, f32 through f64."""

    def __init__(self, language: Language) -> None:
        self._language = language

    def __getattr__(self, name: str) -> Callable[..., Any]:
        operation = arithmetic.LIBDEVICE[name]

        def call(*operands: Any) -> Any:
            result = operation(*(t.handle for t in operands))
            return _like(self._language, operands[0], result.data)

        return call


def _tensors(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _slices(tensors: tuple[Any, ...], axis: int, language: Language) -> list[tuple[Any, ...]]:
    """The tensors' slices along ``axis`` in order, as tensors of one rank less."""
    count = tensors[0].handle.data.shape[axis]
    return [tuple(_like(language, t, np.take(t.handle.data, i, axis)) for t in tensors) for i in range(count)]


def _like(language: Language, tensor: Any, data: Any) -> Any:
    array = np.asarray(data)
    dtype = tensor.dtype
    type_ = native.block_type(dtype, list(array.shape)) if array.shape else dtype
    return language.tensor(Handle(array, tensor.handle.type), type_)


def _reduce(language: Language, value: Any, axis: int, combine: Callable[..., Any], **_kwargs: Any) -> Any:
    """A balanced tree of adjacent slices, as a compiler would build it: all pairs of a level at once."""
    tensors = _tensors(value)
    try:
        found = _halved(language, tensors, axis, combine)
    except Steered:
        found = _paired(language, tensors, axis, combine)
    return found if isinstance(value, tuple) else found[0]


def _halved(
    language: Language, tensors: tuple[Any, ...], axis: int, combine: Callable[..., Any]
) -> tuple[Any, ...]:
    """The tree, each level in one call. Raises Steered if the function takes one way or another by the values."""
    while tensors[0].handle.data.shape[axis] > 1:
        sides = [_every_other(language, t, axis, first) for first in (0, 1) for t in tensors]
        shape = sides[0].handle.data.shape
        made = _tensors(combine(*sides))
        tensors = tuple(_like(language, t, np.broadcast_to(t.handle.data, shape)) for t in made)
    return tuple(_like(language, t, np.take(t.handle.data, 0, axis)) for t in tensors)


def _every_other(language: Language, tensor: Any, axis: int, first: int) -> Any:
    where = [slice(None)] * len(tensor.handle.data.shape)
    where[axis] = slice(first, None, 2)
    return _like(language, tensor, tensor.handle.data[tuple(where)])


def _paired(
    language: Language, tensors: tuple[Any, ...], axis: int, combine: Callable[..., Any]
) -> tuple[Any, ...]:
    """The same tree slice by slice: what the function does depends on the values."""
    slices = _slices(tensors, axis, language)
    while len(slices) > 1:
        slices = [_tensors(combine(*a, *b)) for a, b in zip(slices[::2], slices[1::2], strict=True)]
    return slices[0]


def _scan(
    language: Language,
    value: Any,
    axis: int,
    combine: Callable[..., Any],
    reverse: bool = False,
    **_kwargs: Any,
) -> Any:
    """Inclusive prefixes in order; in reverse the accumulated suffix stays the left operand."""
    tensors = _tensors(value)
    slices = _slices(tensors, axis, language)
    if reverse:
        slices.reverse()
    done = [slices[0]]
    for piece in slices[1:]:
        done.append(_tensors(combine(*done[-1], *piece)))
    if reverse:
        done.reverse()
    stacked = [np.stack([d[i].handle.data for d in done], axis) for i in range(len(tensors))]
    results = tuple(_like(language, t, s) for t, s in zip(tensors, stacked, strict=True))
    return results if isinstance(value, tuple) else results[0]


def _promoted(language: Language, value: Any) -> Any:
    """Triton reduces integers narrower than 32 bits in 32 bits of the same sign."""
    dtype = value.dtype
    if dtype.is_int() and dtype.int_bitwidth < 32:
        return value.to(native.int32 if dtype.is_int_signed() else native.uint32)
    return value


def _sum(language: Language, value: Any, axis: int) -> Any:
    value = _promoted(language, value)
    if value.dtype.is_floating():
        return _reduce(language, value, axis, lambda a, b: a + b)
    total = np.sum(value.handle.data, axis=axis, dtype=value.handle.data.dtype)
    return _like(language, value, total)


def _max(language: Language, value: Any, axis: int) -> Any:
    return _reduce(language, _promoted(language, value), axis, language.tl.maximum)


def _min(language: Language, value: Any, axis: int) -> Any:
    return _reduce(language, _promoted(language, value), axis, language.tl.minimum)


def _cdiv(_language: Language, a: Any, b: Any) -> Any:
    return (a + (b - 1)) // b


_STRUCTURED: dict[str, Callable[..., Any]] = {
    "reduce": _reduce, "associative_scan": _scan, "sum": _sum, "max": _max, "min": _min, "cdiv": _cdiv,
}  # fmt: skip
"""Functions that Triton writes in its own language or expands in its code generator."""
