"""Native builds of emitted text by NVRTC, without a GPU."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Final

from intent.diagnostics import BuildFailure
from intent.provider import Binary, Source
from intent_provider_cupy.blame import failure
from intent_provider_cupy.emit import emit
from intent_provider_cupy.emit.interface import Layout, Signature, specialised
from intent_provider_cupy.toolkit import PROVIDER, nvrtc

OPTIONS: Final = ("--std=c++17", "--fmad=true", "--ftz=false", "--generate-line-info")
"""Contraction as the language permits it; subnormals are kept."""

_TARGET: Final = re.compile(r"sm_\d+[af]?")
_KEPT: Final = 256


def build(source: Source, target: str) -> Binary:
    """A cubin for contiguous arguments, with its PTX as the listing (spec: kernel-and-host 2).

    Raises:
        BuildFailure: NVRTC refuses the text or the target; the error shows the author's line.
        MissingToolkit: NVRTC is not installed.
    """
    code = cubin(source, target)
    return Binary(source=source, target=target, code=code, listing=_compiled(source, target, "PTX").decode())


def cubin(
    source: Source, target: str, layout: Layout | None = None, signature: Signature | None = None
) -> bytes:
    """A cubin for arguments of ``layout``, by default the layout that the text shows. Raises as :func:`build`.

    ``signature``: of the text, if it was emitted for less shared memory than others.
    """
    if layout is not None:
        text = specialised(source.text, signature or emit(source.program).signature, layout)
        source = Source(text=text, entry=source.entry, suffix=source.suffix, program=source.program)
    return _compiled(source, target, "CUBIN")


def _compiled(source: Source, target: str, form: str) -> bytes:
    if _TARGET.fullmatch(target) is None:
        raise BuildFailure(PROVIDER, target=target, log="a target is written like sm_90")
    code, log = _translated(source.text, f"{source.entry}.cu", target, form)
    if code is None:
        raise failure(source.text, source.program, target, log)
    return code


@lru_cache(maxsize=_KEPT)
def _translated(text: str, name: str, target: str, form: str) -> tuple[bytes | None, str]:
    """The code of ``form`` (CUBIN or PTX), or None and what the compiler said."""
    module = nvrtc()
    architecture = target if form == "CUBIN" else target.replace("sm_", "compute_")
    options = [f"--gpu-architecture={architecture}", *OPTIONS]
    program = _called(module, module.nvrtcCreateProgram(text.encode(), name.encode(), 0, [], []))
    try:
        status, *_ = module.nvrtcCompileProgram(program, len(options), [o.encode() for o in options])
        if status:
            return None, _log(module, program) or str(status)
        size = _called(module, getattr(module, f"nvrtcGet{form}Size")(program))
        code = b" " * size
        _called(module, getattr(module, f"nvrtcGet{form}")(program, code))
    finally:
        module.nvrtcDestroyProgram(program)
    return code, ""


def _log(module: Any, program: Any) -> str:
    log: bytes = b" " * _called(module, module.nvrtcGetProgramLogSize(program))
    _called(module, module.nvrtcGetProgramLog(program, log))
    return log.rstrip(b"\0 \n").decode(errors="replace")


def _called(module: Any, answer: Sequence[Any]) -> Any:
    """The value of a call of the bindings. Raises RuntimeError for one that failed."""
    status, *values = answer
    if status:
        _, message = module.nvrtcGetErrorString(status)
        raise RuntimeError(f"NVRTC: {message.decode()}")
    return values[0] if values else None
