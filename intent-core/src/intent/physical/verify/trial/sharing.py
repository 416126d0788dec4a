"""Who touched which element: conflicts between program instances, whatever the order of execution."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np

from intent.physical.verify.trial.ring import Array

__all__ = ["Conflict", "Sharing"]

_NOBODY: Final = -1
_SEVERAL: Final = -2
_AGAINST: Final = {
    "read": ("write", "atomic"),
    "write": ("read", "write", "atomic"),
    "atomic": ("read", "write"),
}


@dataclass(frozen=True)
class Conflict:
    """An access that meets another instance's: what both do."""

    now: str
    before: str


@dataclass
class Sharing:
    """The instance that last read, wrote or atomically changed each element, per place."""

    users: dict[tuple[str, str], Array] = field(default_factory=dict)

    def _of(self, place: str, access: str, size: int) -> Array:
        found = self.users.get((place, access))
        if found is None:
            found = self.users[place, access] = np.full(size, _NOBODY, np.int64)
        return found

    def note(self, place: str, access: str, size: int, elements: Array, who: Array) -> Conflict | None:
        """An access to ``elements`` by instances ``who`` (flat, of one length); a conflict, if it is one."""
        found = None
        for other in _AGAINST[access]:
            if (place, other) not in self.users:
                continue
            before = self._of(place, other, size)[elements]
            if bool(np.any((before != _NOBODY) & (before != who))):
                found = Conflict(access, other)
                break
        own = self._of(place, access, size)
        if access == "write" and found is None:
            order = np.argsort(elements, kind="stable")
            same = elements[order][1:] == elements[order][:-1]
            if bool(np.any(same & (who[order][1:] != who[order][:-1]))):
                found = Conflict(access, access)
        before = own[elements]
        own[elements] = np.where((before == _NOBODY) | (before == who), who, _SEVERAL)
        mixed = own[elements] != who
        own[elements[mixed]] = _SEVERAL
        return found
