"""Native builds of emitted text, without a GPU."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, Final

from intent.diagnostics import BuildFailure
from intent.physical import Program
from intent.provider import Binary, Source
from intent_provider_triton.emit import emit
from intent_provider_triton.emit.signature import Parameter, Signature
from intent_provider_triton.fusion import may_contract
from intent_provider_triton.toolkit import kernel_of, triton

_OPTIONS = ("num_warps", "num_stages", "maxnreg", "num_ctas")


@dataclass(frozen=True)
class Layout:
    """What a build assumes about its arguments: the variant key.

    ``small``: INDEX is int32. ``ones``: arguments that equal 1. ``divisors``: the greatest power of two up to
    ``ALIGNED`` that divides a pointer, stride or extent, where it is not 1. Both hold positions in the signature's
    parameters. Rows are read in vectors as wide as the divisors of their stride and length permit.
    """

    small: bool = True
    ones: frozenset[int] = frozenset()
    divisors: frozenset[tuple[int, int]] = frozenset()


ALIGNED: Final = 16
"""What a layout asks of addresses (bytes), strides and extents at most."""


def divisor(value: int) -> int:
    """The greatest power of two up to ``ALIGNED`` that divides ``value``."""
    return ALIGNED if value % ALIGNED == 0 else value & -value


def default_layout(signature: Signature) -> Layout:
    """Contiguous row-major views at aligned addresses, extents of any size."""
    pointers = frozenset(
        (i, ALIGNED) for i, p in enumerate(signature.parameters) if p.kind in ("view", "buffer")
    )
    return Layout(ones=frozenset(signature.last_strides()), divisors=pointers)


def type_of(parameter: Parameter, *, small: bool) -> str:
    """Triton's signature type of an argument."""
    if parameter.index:
        return "i32" if small else "i64"
    return parameter.type


def options_of(program: Program) -> dict[str, Any]:
    """Compiler options: the plan's knobs, and whether products are contracted with sums.

    The language permits that; it is done where it does no harm.
    """
    knobs = dict(program.knobs)
    chosen: dict[str, Any] = {name: knobs[name] for name in _OPTIONS if name in knobs}
    return {**chosen, "enable_fp_fusion": may_contract(program)}


def compiled(
    source: Source, signature: Signature, layout: Layout, capability: int, kernel: Any = None
) -> Any:
    """Triton's compiled kernel for a compute capability such as 90. Raises BuildFailure with Triton's message."""
    module = triton()
    if module.knobs.runtime.interpret:
        raise BuildFailure(
            "triton", target=f"sm_{capability}", log="TRITON_INTERPRET is set; Triton then compiles nothing"
        )
    from triton.backends.compiler import GPUTarget
    from triton.compiler import ASTSource

    kernel = kernel if kernel is not None else kernel_of(source.text, source.entry)
    types = {p.emitted: type_of(p, small=layout.small) for p in signature.parameters}
    constants: dict[tuple[int, ...], Any] = {}
    for i, p in enumerate(signature.parameters):
        if i in layout.ones:
            types[p.emitted] = "constexpr"
            constants[(i,)] = 1
    if signature.uses_index:
        import triton.language as tl

        types["INDEX"] = "constexpr"
        constants[(len(signature.parameters),)] = tl.int32 if layout.small else tl.int64
    attributes = {(i,): [["tt.divisibility", n]] for i, n in sorted(layout.divisors) if i not in layout.ones}
    try:
        made = ASTSource(fn=kernel, signature=types, constexprs=constants, attrs=attributes)
        target = GPUTarget("cuda", capability, 32)
        return module.compile(made, target=target, options=options_of(source.program))
    except Exception as error:
        raise BuildFailure("triton", target=f"sm_{capability}", log=_message(error)) from error


def _message(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def capability_of(target: str) -> int:
    """``sm_90`` or ``sm_90a`` as 90. Raises BuildFailure for anything else."""
    found = re.fullmatch(r"sm_(\d+)[af]?", target)
    if found is None:
        raise BuildFailure("triton", target=target, log="a target is written like sm_90")
    return int(found.group(1))


def build(source: Source, target: str) -> Binary:
    """A cubin for contiguous arguments, with its PTX as the listing (spec: kernel-and-host 2)."""
    signature = emit(source.program).signature
    made = compiled(source, signature, default_layout(signature), capability_of(target))
    return Binary(source=source, target=target, code=made.asm["cubin"], listing=made.asm["ptx"])
