"""Finding NVRTC and the C++ compiler, late and with a clear error."""

from __future__ import annotations

import shutil
from importlib import util
from typing import Any, Final

from intent.diagnostics import MissingToolkit

PROVIDER: Final = "cupy"
INSTALL: Final = "python -m pip install 'intent-provider-cupy[nvrtc]'"
INSTALL_COMPILER: Final = "install g++ 11 or newer (for example: apt-get install g++)"


def nvrtc() -> Any:
    """The module ``cuda.bindings.nvrtc``, with the library it binds.

    Raises:
        MissingToolkit: The bindings or the library are not installed.
    """
    try:
        from cuda.bindings import nvrtc as module

        module.nvrtcVersion()
    except Exception as error:
        needs = f"NVRTC and its Python bindings ({type(error).__name__}: {error})"
        raise MissingToolkit(PROVIDER, needs=needs, install=INSTALL) from error
    return module


def why_no_nvrtc() -> str | None:
    """None if the bindings are installed, else the reason in one sentence; loads nothing."""
    if util.find_spec("cuda") is None or util.find_spec("cuda.bindings") is None:
        return f"cuda-bindings is not installed ({INSTALL})"
    return None


def compiler() -> str:
    """The path of g++. Raises MissingToolkit without one."""
    found = shutil.which("g++")
    if found is None:
        raise MissingToolkit(PROVIDER, needs="a C++20 compiler to emulate with", install=INSTALL_COMPILER)
    return found
