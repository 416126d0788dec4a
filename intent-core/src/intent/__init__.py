"""Intent: kernels that say what is computed, not how it is scheduled.

::

    import intent
    import intent.language as I

    @intent.kernel
    def scale(x: I.In[I.f32, ("N",)], factor: I.f32, y: I.Out[I.f32, ("N",)]):
        y[...] = x[...] * factor

    artifact = intent.compile(scale)
    y = artifact.run(x, 2.0)

Importing ``intent`` imports no provider and touches no driver; its names are loaded when first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from intent.diagnostics import IntentError
    from intent.language.definitions import fn, kernel
    from intent.runtime.artifact import Artifact
    from intent.runtime.check import check
    from intent.runtime.compile import compile  # noqa: A004 - intent.compile is the public spelling
    from intent.runtime.load import load
    from intent.runtime.options import CompileOptions

__all__ = [
    "Artifact",
    "CompileOptions",
    "IntentError",
    "__version__",
    "check",
    "compile",
    "fn",
    "kernel",
    "load",
    "providers",
]

_HOME = {
    "Artifact": "intent.runtime.artifact",
    "CompileOptions": "intent.runtime.options",
    "IntentError": "intent.diagnostics",
    "check": "intent.runtime.check",
    "compile": "intent.runtime.compile",
    "fn": "intent.language.definitions",
    "kernel": "intent.language.definitions",
    "load": "intent.runtime.load",
}


def providers() -> tuple[str, ...]:
    """The names of the installed providers, sorted. Imports none of them: a broken one is listed too.

    ``python -m intent providers`` also loads them and says what is wrong with those that cannot be used.
    """
    from intent.provider.registry import registry

    return registry().names()


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib_metadata import version

        return version("intent-core")
    if name in _HOME:
        value = globals()[name] = getattr(import_module(_HOME[name]), name)
        return value
    raise AttributeError(f"module 'intent' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
