"""Importing ``cuda.tile``, late and with a clear error, and executing emitted text under it."""

from __future__ import annotations

import hashlib
import linecache
from typing import Any

from intent.diagnostics import MissingToolkit

INSTALL = "python -m pip install 'cuda-tile==1.7.*'"


def tile_module() -> Any:
    """The module ``cuda.tile``. Raises MissingToolkit when it cannot be imported."""
    try:
        import cuda.tile as module
    except ImportError as error:
        raise MissingToolkit("cutile", needs=f"the cuda-tile package ({error})", install=INSTALL) from error
    return module


def kernel_of(text: str, entry: str) -> tuple[Any, str]:
    """The ``@ct.kernel`` object ``entry`` of emitted text, and the file name that its locations carry.

    The source is kept where the compiler looks for it.
    """
    tile_module()
    digest = hashlib.sha256(text.encode()).hexdigest()[:16]
    name = f"<intent {entry} {digest}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    namespace: dict[str, Any] = {"__name__": f"intent_emitted_{digest}", "__file__": name}
    exec(compile(text, name, "exec", dont_inherit=True), namespace)  # noqa: S102 - the emitted text is what a build compiles
    return namespace[entry], name
