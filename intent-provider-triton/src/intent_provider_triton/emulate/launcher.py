"""Launching emulated programs over numpy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import triton.language as native

from intent.provider import Invocation, Source
from intent.provider.emission import value_of
from intent_provider_triton.emit import emit
from intent_provider_triton.emit.signature import Parameter
from intent_provider_triton.emulate.builder import Builder
from intent_provider_triton.emulate.language import Language
from intent_provider_triton.emulate.memory import Memory


class EmulatedLauncher:
    """Runs the text of one source, program after program."""

    def __init__(self, source: Source) -> None:
        self._code = compile(source.text, f"<emitted {source.entry}{source.suffix}>", "exec")
        self._entry = source.entry
        self._signature = emit(source.program).signature

    def __call__(self, invocation: Invocation) -> None:
        """Run all programs of the launch; outputs are written in place."""
        memory = Memory()
        for view in invocation.views.values():
            memory.add_array(np.asarray(view.array))
        if invocation.workspace is not None:
            memory.add_array(np.asarray(invocation.workspace.array))
        builder = Builder(memory, invocation.length)
        language = Language(builder)
        namespace = language.namespace()
        exec(self._code, namespace)  # noqa: S102 - the emitted text is what an emulation runs
        small = self._signature.small(invocation)
        arguments = [self._argument(language, p, invocation, small=small) for p in self._signature.parameters]
        if self._signature.uses_index:
            arguments.append(native.int32 if small else native.int64)
        kernel = namespace[self._entry]
        with np.errstate(all="ignore"):
            for program in range(invocation.length):
                builder.program = program
                kernel(*arguments)

    def _argument(
        self, language: Language, parameter: Parameter, invocation: Invocation, *, small: bool
    ) -> Any:
        value = value_of(parameter, invocation)
        if parameter.kind in ("view", "buffer"):
            element = _TYPES[parameter.type[1:]]
            pointer = language.semantic.scalar_constant(int(value), native.int64)
            return language.wrap(language.semantic.cast(pointer, native.pointer_type(element)))
        if parameter.index:
            return language.scalar(int(value), native.int32 if small else native.int64)
        return language.wrap(language.semantic.scalar_constant(value, _TYPES[parameter.type]))


_TYPES: dict[str, Any] = {
    "i1": native.int1, "i8": native.int8, "i16": native.int16, "i32": native.int32, "i64": native.int64,
    "u8": native.uint8, "u16": native.uint16, "u32": native.uint32, "u64": native.uint64,
    "fp16": native.float16, "bf16": native.bfloat16, "fp32": native.float32, "fp64": native.float64,
    "fp8e4nv": native.float8e4nv, "fp8e5": native.float8e5,
}  # fmt: skip
