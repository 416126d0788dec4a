"""Building and loading ``caller.c``: once per machine and Python, beside the program, never needed.

Without a C compiler or Python's headers, or with ``INTENT_NATIVE=0``, known calls run in Python.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import shutil
import subprocess
import sysconfig
import tempfile
import threading
from collections.abc import Callable
from importlib.machinery import EXTENSION_SUFFIXES, ExtensionFileLoader
from pathlib import Path
from types import ModuleType
from typing import Final, Literal

from intent.provider.folder import cache_folder

__all__ = ["available", "load_now", "when_available"]

_SOURCE: Final = Path(__file__).with_name("caller.c")
_NAME: Final = "intent_caller"
_OPTIONS: Final = ("-O2", "-std=c11", "-fPIC", "-shared")
_SECONDS: Final = 60


class _State:
    """The module of this process, and who waits for it. ``stage``: not asked for, on its way, there, or never."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.stage: Literal["idle", "pending", "ready", "never"] = "idle"
        self.module: ModuleType | None = None
        self.waiting: list[Callable[[], None]] = []

    def settle(self, module: ModuleType | None) -> None:
        """The module is loaded, or will never be."""
        with self.lock:
            self.module, self.stage = module, "never" if module is None else "ready"
            waiting, self.waiting = self.waiting, []
        if module is not None:
            for notify in waiting:
                notify()


_STATE: Final = _State()


def available() -> ModuleType | None:
    """The compiled module if it is loaded; it may come later (see :func:`when_available`), or never."""
    return _STATE.module


def when_available(notify: Callable[[], None]) -> None:
    """Ask for the module. What was built before is loaded here; else it is built in the background.

    ``notify`` is called when the module is loaded, perhaps in another thread; never if it was loaded before
    or cannot be.
    """
    if _STATE.stage in ("ready", "never") or os.environ.get("INTENT_NATIVE", "").strip() == "0":
        return
    with _STATE.lock:
        first = _STATE.stage == "idle"
        _STATE.stage = "pending" if first else _STATE.stage
        if _STATE.stage == "pending" and not first:
            _STATE.waiting.append(notify)
    if first:
        _begin(notify)


def _begin(notify: Callable[[], None]) -> None:
    try:
        place = _place()
        built = place.exists()
    except OSError:
        _STATE.settle(None)
        return
    if built:
        _STATE.settle(_load(place))
        return
    _STATE.waiting.append(notify)

    def work() -> None:
        _STATE.settle(_load(place) if _build(place) is None else None)

    threading.Thread(target=work, name="intent-native", daemon=True).start()


def load_now() -> str | None:
    """Build the module if need be, and load it before returning. None, or why there is none."""
    if _STATE.module is None:
        try:
            place = _place()
        except OSError as error:
            return str(error)
        reason = None if place.exists() else _build(place)
        module = _load(place) if reason is None else None
        if module is None:
            return reason or f"{place} cannot be loaded"
        _STATE.settle(module)
    return None


def _place() -> Path:
    """Where the built module lies: named by all that it depends on."""
    key = hashlib.sha256(_SOURCE.read_bytes() + _SOURCE.with_name("entry.h").read_bytes())
    key.update(repr((_OPTIONS, sysconfig.get_platform(), EXTENSION_SUFFIXES[0])).encode())
    return cache_folder() / "native" / f"{_NAME}-{key.hexdigest()[:16]}{EXTENSION_SUFFIXES[0]}"


def _build(place: Path) -> str | None:
    """Compile the module to ``place``, published whole or not at all. None, or why it could not be built."""
    if sysconfig.get_config_var("Py_GIL_DISABLED"):
        return "this Python has no global lock, which the module relies on"
    compiler = next(filter(None, map(shutil.which, ("cc", "gcc", "clang"))), None)
    include = sysconfig.get_path("include")
    if compiler is None or not Path(include, "Python.h").exists():
        return "there is no C compiler" if compiler is None else f"there is no Python.h in {include}"
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=place.parent) as folder:
            made = Path(folder, "module")
            command = [compiler, *_OPTIONS, f"-I{include}", str(_SOURCE), "-o", str(made)]
            done = subprocess.run(  # noqa: S603 - a compiler on the caller's own path, our own source
                command, capture_output=True, text=True, timeout=_SECONDS, check=False
            )
            if done.returncode:
                return done.stderr
            made.replace(place)
    except (OSError, subprocess.SubprocessError) as error:
        return str(error)
    return None


def _load(place: Path) -> ModuleType | None:
    loader = ExtensionFileLoader(_NAME, str(place))
    spec = importlib.util.spec_from_loader(_NAME, loader)
    if spec is None:
        return None
    try:
        module = importlib.util.module_from_spec(spec)
        loader.exec_module(module)
    except ImportError:  # built for another machine that shares this folder
        return None
    return module
