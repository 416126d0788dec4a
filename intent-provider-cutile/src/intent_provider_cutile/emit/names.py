"""Names of the emitted program: the author's own, made unique and never one that the text itself needs."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

_RESERVED = frozenset(keyword.kwlist) | {"ct", "cuda", "INDEX", "Index", "INF", "NAN", "range"}
"""Names that the text itself uses."""
_NOT_NAME = re.compile(r"\W", re.ASCII)  # the kernel's name becomes a symbol of the cubin


class Namer:
    """Hands out each identifier once."""

    def __init__(self, reserved: Iterable[str] = ()) -> None:
        self._taken = set(_RESERVED) | set(reserved)

    def fresh(self, hint: str) -> str:
        """An unused identifier: ``hint`` itself where possible, else ``hint_2``, ``hint_3``, ..."""
        base = _NOT_NAME.sub("_", hint) or "t"
        if base[0].isdigit():
            base = f"v{base}"
        name, count = base, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def free(self, hint: str) -> bool:
        """Whether ``hint`` is a name that nothing has yet."""
        return hint.isidentifier() and hint.isascii() and hint not in self._taken
