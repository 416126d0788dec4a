"""Whether tileiras works at all: it is given a kernel that does nothing."""

from __future__ import annotations

import io
import os
from functools import cache
from typing import Final

from intent.diagnostics import MissingToolkit
from intent_provider_cutile import tools
from intent_provider_cutile.toolkit import kernel_of

_TEXT: Final = "import cuda.tile as ct\n\n\n@ct.kernel\ndef nothing():\n    return\n"


def require_working_compiler(target: str, build_error: Exception) -> None:
    """Raises MissingToolkit if tileiras cannot build an empty kernel for ``target``, such as ``sm_90``, either."""
    refusal = refuses(target)
    if refusal is None:
        return
    notes = [f"{tools.compiler()} cannot build an empty kernel for {target}: {refusal}"]
    home = os.environ.get("CUDA_HOME")
    if home:
        notes.append(
            f"tileiras takes its libraries from CUDA_HOME, which is {home}: unset it, or set it to a 13.4"
        )
    needs = "tileiras 13.4 with the libraries of its version"
    raise MissingToolkit("cutile", needs=needs, install=tools.INSTALL, notes=notes) from build_error


@cache
def refuses(target: str) -> str | None:
    """What tileiras says of an empty kernel for ``target`` that it cannot build; None if it can."""
    from cuda.tile import compilation

    kernel, _ = kernel_of(_TEXT, "nothing")
    convention = compilation.CallingConvention.cutile_python_v1()
    signature = compilation.KernelSignature([], convention, symbol="nothing")
    try:
        compilation.export_kernel(kernel, [signature], io.BytesIO(), gpu_code=target, output_format="cubin")
    except Exception as error:  # noqa: BLE001 -- whatever it is, no kernel can be built
        return " ".join(f"{type(error).__name__}: {error}".split())
    return None
