"""Launching kernels through ``ct.launch`` on the caller's stream and device."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from intent.diagnostics import BuildFailure, CapabilityError, IntentError, MissingToolkit, NoDevice
from intent.provider import BoundView, Invocation, Source
from intent.provider.cuda.launcher import open_device
from intent.types.dtypes import BY_NAME
from intent_provider_cutile.arguments import value_of
from intent_provider_cutile.blame import author_span
from intent_provider_cutile.build import Layout, divisible_arguments, specialised
from intent_provider_cutile.emit.signature import Parameter
from intent_provider_cutile.toolkit import kernel_of, tile_module
from intent_provider_cutile.tools import INSTALL, require_compiler
from intent_provider_cutile.variants import Text, Texts

OLD_DRIVER: Final = "cuTile needs a driver of CUDA 13 (580 or newer) and a tileiras that matches"


class CuTileLauncher:
    """Runs one source on one device.

    A variant is a text: index width, which strides are 1, which strides and extents 16 divides. Within a variant
    ``ct.launch`` keeps builds of its own by the arrays' alignment; no build depends on an exact shape.
    """

    def __init__(self, source: Source, name: str) -> None:
        self._device = open_device(name, "cutile")
        require_compiler()
        self._launch = tile_module().launch
        self._source = source
        self._texts = Texts(source)
        self._kernels: dict[tuple[str, Layout], tuple[Any, str]] = {}
        self._calls: dict[tuple[object, ...], Layout] = {}

    def __call__(self, invocation: Invocation) -> None:
        """Start the kernel on ``invocation.stream``; never waits for it."""
        chosen = self._texts.of(invocation)
        parameters = chosen.signature.parameters
        values = [None if p.kind in ("view", "buffer") else value_of(p, invocation) for p in parameters]
        key = (*values, *(v.strides for v in invocation.views.values()), *invocation.extents.values())
        layout = self._calls.get(key)
        if layout is None:
            layout = self._calls[key] = _layout(chosen, invocation, values)
        kernel, text = self._kernel(chosen, layout)
        arguments = tuple(
            _array(p, invocation) if value is None else value
            for p, value in zip(parameters, values, strict=True)
        )
        try:
            with self._device.current():
                self._launch(invocation.stream or 0, (invocation.length,), kernel, arguments)
        except Exception as error:
            raise self._explained(error, text) from error

    def _kernel(self, chosen: Text, layout: Layout) -> tuple[Any, str]:
        key = chosen.text, layout
        if key not in self._kernels:
            text = specialised(chosen.text, chosen.signature, layout)
            kernel, _ = kernel_of(text, self._source.entry)
            self._kernels[key] = kernel, text
        return self._kernels[key]

    def _explained(self, error: Exception, text: str) -> Exception:
        """One clear error for a compiler that is missing or refuses, or a driver that is too old."""
        if isinstance(error, IntentError):
            return error
        if isinstance(error, FileNotFoundError):
            return MissingToolkit("cutile", needs=f"tileiras ({error})", install=INSTALL)
        log = f"{type(error).__name__}: {error}"
        if isinstance(error, tile_module().TileError):
            return BuildFailure(
                "cutile", target="this device", log=log, span=author_span(error, text, self._source.program)
            )
        return NoDevice("cutile", reason=f"{log}; {OLD_DRIVER}: {INSTALL}")


def _layout(chosen: Text, invocation: Invocation, values: list[Any]) -> Layout:
    ones = [i for i, p in enumerate(chosen.signature.parameters) if p.kind == "stride" and values[i] == 1]
    return Layout(
        small=chosen.signature.small(invocation),
        ones=frozenset(ones),
        divisible=divisible_arguments(chosen.signature, values),
    )


def _array(parameter: Parameter, invocation: Invocation) -> Any:
    """What ``ct.launch`` takes for an array: the kernel uses its first element's address alone."""
    if parameter.kind == "view":
        view = invocation.views[parameter.view]
        return view.array if all(s >= 0 for s in view.strides) else _first_element(view)
    workspace, offsets = invocation.workspace, invocation.workspace_offsets
    assert workspace is not None
    assert offsets is not None
    return _slice(workspace, offsets[parameter.buffer], parameter.dtype)


def _first_element(view: BoundView) -> Any:
    """An array of one element in place of one that runs backwards, which ``ct.launch`` refuses."""
    array = view.array
    if hasattr(array, "data") and hasattr(array.data, "ptr"):  # CuPy
        import cupy

        return cupy.ndarray((1,), dtype=array.dtype, memptr=array.data)
    return Address(view.pointer, 1, view.dtype)


def _slice(workspace: BoundView, offset: int, dtype: str) -> Any:
    """The workspace from ``offset`` bytes on, as elements of ``dtype``."""
    array = workspace.array
    size = BY_NAME[dtype].bytes
    elements = (_bytes(workspace) - offset) // size
    if type(array).__module__.partition(".")[0] == "torch":
        import torch

        flat = array.reshape(-1).view(torch.uint8)[offset : offset + elements * size]
        return flat.view(getattr(torch, _TORCH.get(dtype, "")))
    return Address(workspace.pointer + offset, elements, dtype)


def _bytes(view: BoundView) -> int:
    count = BY_NAME[view.dtype].bytes
    for n in view.shape:
        count *= n
    return count


class Address:
    """Memory on the device that ``ct.launch`` takes as an array, by CUDA's array interface."""

    def __init__(self, pointer: int, elements: int, dtype: str) -> None:
        if dtype not in _TYPESTR:
            raise CapabilityError(
                "cutile", capability=f"arrays of {dtype} that are no torch tensors", needed=dtype
            )
        self.__cuda_array_interface__: Mapping[str, object] = {
            "shape": (elements,), "typestr": _TYPESTR[dtype], "data": (pointer, False), "version": 3, "strides": None,
        }  # fmt: skip


_TYPESTR: Final = {
    "bool": "|b1", "i8": "|i1", "u8": "|u1", "i16": "<i2", "u16": "<u2", "i32": "<i4", "u32": "<u4", "i64": "<i8",
    "index": "<i8", "u64": "<u8", "f16": "<f2", "f32": "<f4", "f64": "<f8",
}  # fmt: skip
_TORCH: Final = {
    "bool": "bool", "i8": "int8", "u8": "uint8", "i16": "int16", "u16": "uint16", "i32": "int32", "u32": "uint32",
    "i64": "int64", "index": "int64", "u64": "uint64", "f16": "float16", "bf16": "bfloat16", "f32": "float32",
    "f64": "float64", "f8e4m3fn": "float8_e4m3fn", "f8e5m2": "float8_e5m2",
}  # fmt: skip
