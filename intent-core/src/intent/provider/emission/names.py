"""Names of emitted text: the author's own, made unique and never one that the text itself needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

__all__ = ["Namer", "plain"]

_NOT_NAME = re.compile(r"\W", re.ASCII)  # the kernel's name becomes a symbol of the native code


def plain(hint: str) -> str:
    """``hint`` as an ASCII identifier; keywords are the caller's to reserve."""
    base = _NOT_NAME.sub("_", hint) or "t"
    return f"v{base}" if base[0].isdigit() else base


class Namer:
    """Hands out each identifier once; ``reserved`` ones never. ``spell`` makes an identifier of any hint."""

    def __init__(self, reserved: Iterable[str], spell: Callable[[str], str] = plain) -> None:
        self._taken = set(reserved)
        self._spell = spell

    def fresh(self, hint: str) -> str:
        """An unused identifier: ``hint`` itself where possible, else ``hint_2``, ``hint_3``, ..."""
        base = self._spell(hint)
        name, count = base, 1
        while name in self._taken:
            count += 1
            name = f"{base}_{count}"
        self._taken.add(name)
        return name

    def free(self, hint: str) -> bool:
        """Whether ``hint`` is a name that nothing has yet."""
        return self._spell(hint) == hint and hint not in self._taken
