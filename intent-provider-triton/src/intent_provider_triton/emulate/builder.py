"""The IR builder that Triton's semantics call: every operation is computed at once with numpy.

Operations mean what MLIR's arith, math and Triton's own dialect say: integers are bit patterns, the operation carries
the sign, ``sdiv`` truncates, shifts by the width are undefined (masked here), ``maximumf`` propagates NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from intent_provider_triton.emulate import arithmetic
from intent_provider_triton.emulate.memory import Memory
from intent_provider_triton.emulate.products import of_parts, product
from intent_provider_triton.emulate.values import (
    Array,
    Handle,
    Type,
    is_float,
    round_to,
    signed,
    to_integer,
    unsigned,
)  # fmt: skip

_SCALARS: Final = {
    "int1": "i1", "int8": "i8", "int16": "i16", "int32": "i32", "int64": "i64", "half": "f16", "bf16": "bf16",
    "float": "f32", "double": "f64", "fp8e4nv": "f8e4m3fn", "fp8e5": "f8e5m2",
}  # fmt: skip
_CONSTANTS: Final = {
    "int1": "i1", "int8": "i8", "uint8": "i8", "int16": "i16", "uint16": "i16", "int32": "i32", "uint32": "i32",
    "int64": "i64", "uint64": "i64", "fp16": "f16", "bf16": "bf16", "fp32": "f32", "fp64": "f64",
}  # fmt: skip


class Options:
    """What the semantics ask of a target."""

    debug = False
    sanitize_overflow = False
    arch = None
    backend_name = "emulated"
    supported_fp8_dtypes = ("fp8e5", "fp8e4nv")
    deprecated_fp8_dtypes = ()
    deprecated_fp8_dot_operand_dtypes = ()
    default_dot_input_precision = "ieee"
    allowed_dot_input_precisions = ("tf32", "tf32x3", "ieee", "bf16x6")
    max_num_imprecise_acc_default = 0


class Builder:
    """One program instance at a time; ``program`` is its id, ``programs`` the grid's length."""

    def __init__(self, memory: Memory, programs: int) -> None:
        self.options = Options()
        self.codegen_fns: dict[str, Any] = {"min_dot_size": _min_dot_size}
        self.memory = memory
        self.programs = programs
        self.program = 0

    # ----------------------------------------------------------------------------------------- types, constants

    def __getattr__(self, name: str) -> Callable[..., Any]:
        """``get_<type>_ty()``, ``get_<type>(value)`` and the table of elementwise operations."""
        if name.startswith("get_") and name.endswith("_ty") and name[4:-3] in _SCALARS:
            return lambda: Type(_SCALARS[name[4:-3]])
        if name.startswith("get_") and name[4:] in _CONSTANTS:
            kind = Type(_CONSTANTS[name[4:]])
            if kind.name == "bf16":  # Triton's builder passes the number on as text of six decimals
                return lambda value: constant(float(f"{np.float32(value):.6f}"), kind)
            return lambda value: constant(value, kind)
        if name.startswith("create_") and name[7:] in arithmetic.ELEMENTWISE:
            return arithmetic.ELEMENTWISE[name[7:]]
        raise AttributeError(f"the emulation has no operation {name}")

    def get_void_ty(self) -> None:
        return None

    def get_block_ty(self, element: Type, shape: Sequence[int]) -> Type:
        return Type(element.name, element.element, tuple(int(s) for s in shape))

    def get_ptr_ty(self, element: Type, _space: int = 1) -> Type:
        return Type("ptr", element)

    def get_null_value(self, type_: Type) -> Handle:
        return Handle(np.zeros(type_.shape or (), type_.numpy), scalar(type_))

    def get_all_ones_value(self, type_: Type) -> Handle:
        fill = True if type_.name == "i1" else -1
        return Handle(np.full(type_.shape or (), fill, type_.numpy), scalar(type_))

    def get_cache_policy(self, *_args: object) -> None:
        return None

    # ------------------------------------------------------------------------------------------ program, memory

    def create_get_program_id(self, _axis: int) -> Handle:
        return constant(self.program, Type("i32"))

    def create_get_num_programs(self, _axis: int) -> Handle:
        return constant(self.programs, Type("i32"))

    def create_barrier(self, *_args: object) -> None:
        """Programs run one at a time and in order: nothing to wait for."""

    def create_addptr(self, pointer: Handle, offset: Handle) -> Handle:
        assert pointer.type.element is not None
        size = pointer.type.element.numpy.itemsize
        return pointer.with_data(pointer.data + signed(offset.data).astype(np.int64) * size)

    def create_load(self, pointer: Handle, *_args: object) -> Handle:
        return self.create_masked_load(pointer, constant(True, Type("i1")), None)

    def create_masked_load(
        self, pointer: Handle, mask: Handle, other: Handle | None, *_args: object
    ) -> Handle:
        assert pointer.type.element is not None
        element = pointer.type.element
        active = np.broadcast_to(mask.data, pointer.data.shape)
        loaded = self.memory.load(pointer.data, active, element.numpy)
        if other is not None:
            loaded = np.where(active, loaded, other.data)
        return Handle(np.asarray(loaded), element)

    def create_store(self, pointer: Handle, value: Handle, *_args: object) -> None:
        self.create_masked_store(pointer, value, constant(True, Type("i1")))

    def create_masked_store(self, pointer: Handle, value: Handle, mask: Handle, *_args: object) -> None:
        shape = pointer.data.shape
        values = np.broadcast_to(value.data, shape)
        self.memory.store(pointer.data, values, np.broadcast_to(mask.data, shape))

    def create_atomic_rmw(
        self, op: Any, pointer: Handle, value: Handle, mask: Handle, *_args: object
    ) -> Handle:
        """One lane after the other: later lanes see the earlier ones."""
        assert pointer.type.element is not None
        update = arithmetic.RMW[op.name]
        shape = pointer.data.shape
        out = np.zeros(shape, pointer.type.element.numpy)
        values, active = np.broadcast_to(value.data, shape), np.broadcast_to(mask.data, shape)
        for lane in np.ndindex(shape):
            if active[lane]:
                place = np.asarray(pointer.data[lane])
                old = self.memory.load(place, np.asarray(True), out.dtype)
                self.memory.store(
                    place, np.asarray(update(old, values[lane])).astype(out.dtype), np.asarray(True)
                )
                out[lane] = old
        return Handle(out, pointer.type.element)

    def create_atomic_cas(self, pointer: Handle, compare: Handle, value: Handle, *_args: object) -> Handle:
        """One lane after the other."""
        assert pointer.type.element is not None
        shape = pointer.data.shape
        out = np.zeros(shape, pointer.type.element.numpy)
        expected, desired = np.broadcast_to(compare.data, shape), np.broadcast_to(value.data, shape)
        for lane in np.ndindex(shape):
            wanted, fresh = (np.asarray(side[lane]).astype(out.dtype) for side in (expected, desired))
            out[lane] = self.memory.compare_exchange(int(pointer.data[lane]), wanted, fresh)
        return Handle(out, pointer.type.element)

    # ----------------------------------------------------------------------------------------------- conversions

    def create_int_cast(self, value: Handle, target: Type, is_signed: bool) -> Handle:
        data = value.data
        if data.dtype == np.bool_:
            data = -data.astype(np.int8) if is_signed else data.astype(np.int8)
        elif not is_signed:
            data = unsigned(data)
        return converted(data.astype(target.numpy), target)

    def create_si_to_fp(self, value: Handle, target: Type) -> Handle:
        return converted(arithmetic.integer_to_float(signed(value.data), target), target)

    def create_ui_to_fp(self, value: Handle, target: Type) -> Handle:
        return converted(arithmetic.integer_to_float(unsigned(value.data), target), target)

    def create_fp_to_si(self, value: Handle, target: Type) -> Handle:
        return converted(to_integer(value.data, target.numpy), target)

    def create_fp_to_ui(self, value: Handle, target: Type) -> Handle:
        wide = np.dtype(f"u{target.numpy.itemsize}")
        return converted(signed(to_integer(value.data, wide)), target)

    def create_fp_ext(self, value: Handle, target: Type) -> Handle:
        return converted(value.data.astype(target.numpy), target)

    def create_fp_trunc(self, value: Handle, target: Type) -> Handle:
        return converted(round_to(value.data, target), target)

    def create_fp_to_fp(self, value: Handle, target: Type, _rounding: object) -> Handle:
        return converted(round_to(value.data, target), target)

    def create_bitcast(self, value: Handle, target: Type) -> Handle:
        data = value.data if target.name == "ptr" else np.ascontiguousarray(value.data).view(target.numpy)
        return converted(data.reshape(value.data.shape), target)

    create_int_to_ptr = create_bitcast
    create_ptr_to_int = create_bitcast

    # ---------------------------------------------------------------------------------------------------- shapes

    def create_make_range(self, _type: Type, start: int, stop: int) -> Handle:
        return Handle(np.arange(start, stop, dtype=np.int32), Type("i32"))

    def create_splat(self, type_: Type, value: Handle) -> Handle:
        assert type_.shape is not None
        return value.with_data(np.full(type_.shape, value.data, value.data.dtype))

    def create_unsplat(self, value: Handle) -> Handle:
        return value.with_data(value.data.reshape(()))

    def create_expand_dims(self, value: Handle, axis: int) -> Handle:
        return value.with_data(np.expand_dims(value.data, axis))

    def create_broadcast(self, value: Handle, shape: Sequence[int]) -> Handle:
        return value.with_data(np.broadcast_to(value.data, tuple(shape)))

    def create_reshape(self, value: Handle, shape: Sequence[int], *_args: object) -> Handle:
        return value.with_data(value.data.reshape(tuple(int(s) for s in shape)))

    def create_trans(self, value: Handle, order: Sequence[int]) -> Handle:
        return value.with_data(value.data.transpose(tuple(int(o) for o in order)))

    def create_join(self, a: Handle, b: Handle) -> Handle:
        return a.with_data(np.stack([a.data, b.data], axis=-1))

    def create_split(self, value: Handle) -> tuple[Handle, Handle]:
        return value.with_data(value.data[..., 0]), value.with_data(value.data[..., 1])

    def create_histogram(self, value: Handle, bins: int, mask: Handle | None) -> Handle:
        """Counts in i32. What a number outside of the bins does on a GPU is nowhere said: it must be masked."""
        numbers = signed(value.data)
        active = numbers if mask is None else numbers[np.broadcast_to(mask.data, numbers.shape)]
        if active.size and not (active.min() >= 0 and active.max() < bins):
            raise AssertionError(f"tl.histogram of a number outside of its {bins} bins")
        return Handle(np.bincount(active.reshape(-1), minlength=bins).astype(np.int32), Type("i32"))

    def create_dot(self, a: Handle, b: Handle, acc: Handle, precision: object, *_args: object) -> Handle:
        """Products and sums in f32 as on the GPU (f64 for f64, integers exactly), added to the accumulator."""
        if is_float(a.type):
            wide = np.float64 if a.data.dtype == np.float64 else np.float32
            left, right = (np.ascontiguousarray(x.data, dtype=wide) for x in (a, b))
            multiply = of_parts if "BF16x6" in str(precision) else product
            total = multiply(left, right) + acc.data.astype(wide)
            return Handle(round_to(np.asarray(total), scalar(acc.type)), scalar(acc.type))
        total = product(a.data.astype(acc.data.dtype), b.data.astype(acc.data.dtype)) + acc.data
        return Handle(np.asarray(total), scalar(acc.type))


def constant(value: object, type_: Type) -> Handle:
    """A scalar of ``type_``; integers wrap."""
    if is_float(type_):
        return Handle(round_to(np.asarray(value, np.float64), type_), type_)
    if type_.name == "i1":
        return Handle(np.asarray(bool(value)), type_)
    bits = type_.numpy.itemsize * 8
    number = int(value) & ((1 << bits) - 1)  # type: ignore[call-overload]
    return Handle(np.asarray(number, f"u{bits // 8}").view(type_.numpy), type_)


def scalar(type_: Type) -> Type:
    """The element type of a block type."""
    return Type(type_.name, type_.element)


def converted(data: Array, target: Type) -> Handle:
    return Handle(np.asarray(data), scalar(target))


def _min_dot_size(lhs: Any, _rhs: Any) -> tuple[int, int, int]:
    """The native compiler's limits for tensor cores."""
    return (1, 1, 32) if lhs.scalar.primitive_bitwidth == 8 else (1, 1, 16)


__all__ = ["Builder", "constant"]
