"""Importing Triton, late and with a clear error, and executing emitted text under it."""

from __future__ import annotations

import hashlib
import linecache
from typing import Any

from intent.diagnostics import MissingToolkit

INSTALL = "python -m pip install 'triton>=3.6,<3.10'"


def triton() -> Any:
    """The triton package. Raises MissingToolkit when it cannot be imported."""
    try:
        import triton as module
    except ImportError as error:
        raise MissingToolkit("triton", needs=f"the triton package ({error})", install=INSTALL) from error
    return module


def kernel_of(text: str, entry: str) -> Any:
    """The ``@triton.jit`` function ``entry`` of emitted text; its source is kept where Triton looks for it."""
    triton()
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    name = f"<intent {entry} {digest}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": f"intent_emitted_{digest}", "__file__": name}
    exec(compile(text, name, "exec"), namespace)  # noqa: S102 - the emitted text is what a build compiles
    return namespace[entry]
