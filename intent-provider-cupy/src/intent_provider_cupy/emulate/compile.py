"""Emitted text to a shared library for the CPU, by g++, kept by content."""

from __future__ import annotations

import ctypes
import hashlib
import re
import subprocess
import tempfile
import threading
from functools import cache
from pathlib import Path
from typing import Final

from intent.provider.folder import cache_folder
from intent_provider_cupy.emit.interface import Signature
from intent_provider_cupy.toolkit import compiler

_HERE: Final = Path(__file__).parent
_PRELUDE: Final = _HERE.parent / "prelude"
_COMMON: Final = ("-std=c++20", "-fPIC", "-shared", "-w", "-fno-strict-aliasing", "-ffp-contract=off")
# Without optimisation: building takes most of an emulation's time, running a tenth of it.
_KERNEL: Final = (*_COMMON, "-O0", "-nostdlib", "-fwrapv", "-fvisibility-inlines-hidden", "-Wl,-Bsymbolic")
_RUNTIME: Final = (*_COMMON, "-O2")
_SECONDS: Final = 300
_ENTRY: Final = "it_cpu_entry"
_LOCK: Final = threading.RLock()
_LOADED: Final[dict[Path, ctypes.CDLL]] = {}


class Refusal(Exception):
    """What g++ says of a text that it does not compile."""


def kernel(text: str, entry: str, signature: Signature) -> int:
    """The address of a function ``void (void** arguments)`` that runs ``entry`` as the current thread.

    Raises:
        Refusal: g++ refuses the text.
        MissingToolkit: There is no g++.
    """
    runtime()
    whole = text + _trampoline(entry, signature)
    shim = ("-include", str(_HERE / "intent_cpu.hpp"))
    library = _load(_built(whole, f"{entry}.cu", (*_KERNEL, "-x", "c++", *shim)), ctypes.RTLD_LOCAL)
    address = ctypes.cast(library[_ENTRY], ctypes.c_void_p).value
    assert address is not None
    return address


@cache
def runtime() -> ctypes.CDLL:
    """The runtime that kernels call, loaded where they find it."""
    text = (_HERE / "runtime.cpp").read_text(encoding="utf-8")
    return _load(_built(text, "runtime.cpp", (*_RUNTIME, f"-I{_HERE}")), ctypes.RTLD_GLOBAL)


def _trampoline(entry: str, signature: Signature) -> str:
    types = [p.type if p.kind != "scalar" or p.dtype != "index" else "Index" for p in signature.parameters]
    arguments = ", ".join(f"*({t}*)a[{k}]" for k, t in enumerate(types))
    return f'\nextern "C" void {_ENTRY}(void** a) {{ {entry}({arguments}); }}\n'


def _built(text: str, name: str, options: tuple[str, ...]) -> Path:
    """The library of ``text``: built unless one of the same content is there; published whole or not at all."""
    path = compiler()
    key = hashlib.sha256(repr((text, options, path, Path(path).stat().st_mtime_ns, _shim_digest())).encode())
    place = cache_folder() / "cupy" / f"{Path(name).stem}-{key.hexdigest()[:24]}.so"
    if place.exists():
        return place
    place.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=place.parent) as folder:
        source, built = Path(folder) / name, Path(folder) / "built.so"
        source.write_text(text, encoding="utf-8")
        command = [path, *options, "-o", str(built), str(source)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False)  # noqa: S603 - g++ and files of ours
        if done.returncode:
            raise Refusal(_readable(done.stderr, folder))
        built.replace(place)
    return place


def _readable(log: str, folder: str) -> str:
    """The compiler's errors without the folder that exists no more."""
    return re.sub(re.escape(folder) + "/", "", log).strip()


@cache
def _shim_digest() -> str:
    """A digest of every header that a kernel or the runtime includes."""
    digest = hashlib.sha256()
    for file in sorted([*_HERE.glob("*.hpp"), *_HERE.glob("*.cpp"), *_PRELUDE.glob("*.cuh")]):
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _load(place: Path, mode: int) -> ctypes.CDLL:
    with _LOCK:
        if place not in _LOADED:
            _LOADED[place] = ctypes.CDLL(str(place), mode=mode)
        return _LOADED[place]
