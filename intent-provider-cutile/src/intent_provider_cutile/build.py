"""Builds of emitted text without a GPU: Tile IR bytecode by the small wheel alone, cubins by tileiras."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from intent.diagnostics import BuildFailure
from intent.provider import Binary, Source
from intent.provider.emission import Width
from intent_provider_cutile.blame import author_span
from intent_provider_cutile.emit import emit
from intent_provider_cutile.emit.kernel import NARROW, WIDE
from intent_provider_cutile.emit.literals import TYPES
from intent_provider_cutile.emit.signature import PASSING, Parameter, Signature
from intent_provider_cutile.empty import require_working_compiler
from intent_provider_cutile.toolkit import kernel_of, tile_module
from intent_provider_cutile.tools import require_compiler

BYTECODE_VERSION: Final = "13.3"
"""The oldest bytecode that needs no target."""


@dataclass(frozen=True)
class Layout:
    """What a build assumes about its arguments: the variant key.

    ``small``: INDEX is int32. ``ones``: positions of the parameters that are 1. ``divisible``: of strides and extents
    that 16 divides. ``aligned``: of the arrays whose address 16 divides.
    """

    small: bool = True
    ones: frozenset[int] = frozenset()
    divisible: frozenset[int] = frozenset()
    aligned: frozenset[int] = frozenset()


def default_layout(signature: Signature) -> Layout:
    """Contiguous row-major views at aligned addresses, extents of any size."""
    arrays = frozenset(i for i, p in enumerate(signature.parameters) if p.kind in ("view", "buffer"))
    small = all(fact.width is not Width.LONG for fact in signature.facts)
    return Layout(small=small, ones=frozenset(signature.last_strides()), aligned=arrays)


def specialised(text: str, signature: Signature, layout: Layout) -> str:
    """The text with the layout's index width, arguments that are 1 as constants, and divisors as assumptions."""
    if not layout.small:
        text = text.replace(NARROW, WIDE)
    for i in sorted(layout.ones):
        name = signature.parameters[i].emitted
        text = re.sub(rf"\b{re.escape(name)}: Index\b", f"{name}: ct.Constant[int]", text, count=1)
    names = [signature.parameters[i].emitted for i in sorted(layout.divisible - layout.ones)]
    known = "".join(f"    {name} = ct.assume_divisible_by({name}, 16)\n" for name in names)
    start = text.index("):\n", text.index("\n@ct.kernel")) + len("):\n")
    return text[:start] + known + text[start:]


def divisible_arguments(signature: Signature, values: Sequence[Any]) -> frozenset[int]:
    """Positions of strides and extents that 16 divides: what 16-byte accesses, masks and bulk copies need to know."""
    return frozenset(
        i
        for i, (p, value) in enumerate(zip(signature.parameters, values, strict=True))
        if p.kind in ("stride", "extent") and value % 16 == 0
    )


def bytecode(source: Source, layout: Layout | None = None) -> bytes:
    """Tile IR bytecode of the source for any target: the front end's types are checked on the way.

    Raises BuildFailure with the author's line, MissingToolkit without the cuda-tile package.
    """
    signature = emit(source.program).signature
    return _exported(source, signature, layout or default_layout(signature), None, "tileir_bytecode")


def build(source: Source, target: str) -> Binary:
    """A cubin for contiguous arguments (spec: kernel-and-host 2); needs tileiras."""
    signature = emit(source.program).signature
    code = cubin(source, signature, default_layout(signature), gpu_code(target))
    return Binary(source=source, target=target, code=code)


def cubin(source: Source, signature: Signature, layout: Layout, target: str) -> bytes:
    """Machine code for ``layout``; ``signature`` is that of the source's text. Raises BuildFailure, MissingToolkit."""
    require_compiler()
    return _exported(source, signature, layout, target, "cubin")


def gpu_code(target: str) -> str:
    """``sm_90`` or ``sm_90a`` as ``sm_90``. Raises BuildFailure for anything else."""
    found = re.fullmatch(r"(sm_\d+)[af]?", target)
    if found is None:
        raise BuildFailure("cutile", target=target, log="a target is written like sm_90")
    return found.group(1)


def _exported(source: Source, signature: Signature, layout: Layout, target: str | None, form: str) -> bytes:
    module = tile_module()
    from cuda.tile import compilation

    text = specialised(source.text, signature, layout)
    out = io.BytesIO()
    try:
        kernel, _ = kernel_of(text, source.entry)
        compilation.export_kernel(
            kernel, [_signature(module, compilation, signature, layout, source.entry)], out, gpu_code=target,
            output_format=form, bytecode_version=BYTECODE_VERSION if target is None else None,
        )  # fmt: skip
    except Exception as error:
        if target is not None:
            require_working_compiler(target, error)
        span = author_span(error, text, source.program)
        log = f"{type(error).__name__}: {error}"
        raise BuildFailure("cutile", target=target or "bytecode", log=log, span=span) from error
    return out.getvalue()


def _signature(module: Any, compilation: Any, signature: Signature, layout: Layout, symbol: str) -> Any:
    constraints = [
        1 if i in layout.ones else _constraint(module, compilation, p, layout, aligned=i in layout.aligned)
        for i, p in enumerate(signature.parameters)
    ]
    convention = compilation.CallingConvention.cutile_python_v1()
    return compilation.KernelSignature(constraints, convention, symbol=symbol)


def _constraint(module: Any, compilation: Any, parameter: Parameter, layout: Layout, *, aligned: bool) -> Any:
    if parameter.kind in ("view", "buffer"):
        return compilation.ArrayConstraint(
            _dtype(module, TYPES[parameter.dtype]), 1, index_dtype=module.int64, stride_lower_bound_incl=0,
            alias_groups=[parameter.alias] if parameter.alias else [], may_alias_internally=False,
            stride_constant=[1], base_addr_divisible_by=16 if aligned else 1,
        )  # fmt: skip
    if parameter.index:
        return compilation.ScalarConstraint(module.int32 if layout.small else module.int64)
    return compilation.ScalarConstraint(_dtype(module, PASSING[parameter.dtype].argument))


def _dtype(module: Any, name: str) -> Any:
    return getattr(module, name.removeprefix("ct."))
