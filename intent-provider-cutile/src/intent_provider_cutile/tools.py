"""What lies outside Python: tileiras, the compiler from bytecode to cubins, and the CUDA driver."""

from __future__ import annotations

import shutil
from importlib import util
from pathlib import Path
from typing import Final

from intent.diagnostics import MissingToolkit

_WHEELS: Final = ("nvidia-cuda-tileiras", "nvidia-cuda-nvcc", "nvidia-nvvm")
INSTALL: Final = "python -m pip install --no-deps " + " ".join(f"{wheel}==13.4.92" for wheel in _WHEELS)


def compiler() -> str | None:
    """Where tileiras is: beside the NVIDIA wheels, or on the PATH; None if nowhere."""
    package = util.find_spec("nvidia")
    for place in (package.submodule_search_locations or []) if package is not None else []:
        found = sorted(Path(place).glob("*/bin/tileiras"))
        if found:
            return str(found[-1])
    return shutil.which("tileiras")


def require_compiler() -> None:
    """Raises MissingToolkit without tileiras."""
    if compiler() is None:
        raise MissingToolkit("cutile", needs="tileiras, NVIDIA's compiler for Tile IR", install=INSTALL)


def unavailable() -> str | None:
    """None when a kernel can be built and launched here, else the reason in one sentence."""
    if util.find_spec("cuda") is None or util.find_spec("cuda.tile") is None:
        return "the cuda-tile package is not installed"
    from intent.provider.cuda import driver

    reason = driver.unavailable()
    if reason is None and compiler() is None:
        return f"tileiras is not installed ({INSTALL})"
    return reason
