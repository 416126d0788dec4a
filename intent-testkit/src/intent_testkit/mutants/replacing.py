"""Giving the loaded functions of a module the code of a mutant."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from functools import _lru_cache_wrapper
from types import CodeType, FunctionType

from intent.runtime import variants
from intent_testkit.mutants.mutant import Mutant


class NotReplaceable(Exception):
    """The fault is in code that has run already, such as the default of a parameter."""


def put_in(mutant: Mutant) -> None:
    """From here on the module's functions and methods, and closures that it has made, are the mutant's.

    Raises:
        NotReplaceable: No function that exists has other code than before.
    """
    file = str(sys.modules[mutant.module].__file__)
    right, wrong = (_by_name(compile(text, file, "exec")) for text in (mutant.original, mutant.source))
    changed = False
    for function in [f for f in gc.get_objects() if isinstance(f, FunctionType)]:
        old = function.__code__
        if old.co_filename != file:
            continue
        new = wrong.get(old.co_qualname, [])
        if len(new) != 1 or new[0].co_freevars != old.co_freevars:
            continue
        changed |= right.get(old.co_qualname) != new
        function.__code__ = new[0]
    if not changed:
        raise NotReplaceable(mutant.name)
    _forget()


def _forget() -> None:
    """Empty what compilations, providers and tests have kept of what the right compiler gave them."""
    variants._VARIANTS.clear()  # noqa: SLF001 -- nothing but this forgets a compilation while the process lives
    variants._VERIFIED.clear()  # noqa: SLF001
    for kept in [f for f in gc.get_objects() if isinstance(f, _lru_cache_wrapper)]:
        home = str(getattr(kept, "__module__", ""))
        if home.startswith(("intent_provider", "intent.provider", "test_")) or ".tests." in home:
            kept.cache_clear()


def _by_name(code: CodeType) -> dict[str, list[CodeType]]:
    found: dict[str, list[CodeType]] = {}
    for inner in _codes(code):
        found.setdefault(inner.co_qualname, []).append(inner)
    return found


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
