"""The Outs of ``.run`` for inputs whose layout is known: allocated at once, and checked by the launch as ever."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from intent.kir.kernel import Kernel
from intent.kir.value import ScalarParam, View
from intent.runtime.array import Library
from intent.runtime.foreign import known_library
from intent.runtime.outputs import OutLayout, input_names

__all__ = ["QuickOuts"]

_LIMIT: Final = 512


class QuickOuts:
    """Layouts of Outs by the layouts of the inputs, of one artifact and one GPU library at a time."""

    def __init__(self, kernel: Kernel) -> None:
        names = input_names(kernel)
        self._params = {p.name: p for p in kernel.params}
        self._inputs = [self._params[name] for name in names]
        made = [name for name in self._params if name not in names]
        places = {name: k for k, name in enumerate([*names, *made])}
        self._order = [places[name] for name in self._params]
        self._library: Library | None = None
        self._key: Callable[[Sequence[Any]], object] | None = None
        self._known: dict[object, list[OutLayout]] = {}

    def allocate(self, args: Sequence[Any]) -> list[Any] | None:
        """New Outs for the inputs ``args``, or None where their layout is not known."""
        key, library = self._key, self._library
        layouts = self._known.get(key(args)) if key is not None else None
        if layouts is None or library is None:
            return None
        return [library.empty(*layout) for layout in layouts]

    def all_of(self, args: Sequence[Any], made: Sequence[Any]) -> list[Any]:
        """Inputs and Outs in the kernel's order."""
        given = [*args, *made]
        return [given[k] for k in self._order]

    def learn(self, args: Sequence[Any], layouts: list[OutLayout], library: Library) -> None:
        """Remember what was found for ``args``."""
        views = [a for a, p in zip(args, self._inputs, strict=True) if isinstance(p, View)]
        if library.reading is None or any(known_library(type(view)) is not library for view in views):
            return
        if library is not self._library or len(self._known) >= _LIMIT:
            self._key, self._known = None, {}
            self._library = library
            self._key = _key(library, self._inputs)
        found = self._key(args) if self._key is not None else None
        if found is not None:
            self._known[found] = layouts


def _key(library: Library, inputs: Sequence[View | ScalarParam]) -> Callable[[Sequence[Any]], object]:
    """A function that gives all of the inputs that Outs depend on; None for what it cannot read."""
    assert library.reading is not None, "only libraries that can be read are learnt"
    layout = library.reading.layout
    parts = []
    for k, p in enumerate(inputs):
        if isinstance(p, View):
            parts.append(layout.format(f"a{k}"))
        elif p.value.dtype.is_integer:  # no extent mentions another scalar
            parts.append(f"type(a{k}), a{k}")
    lines = [
        "def key(args):",
        "    try:",
        f"        ({''.join(f'a{k}, ' for k in range(len(inputs)))}) = args",
        f"        found = ({''.join(f'{part}, ' for part in parts)})",
        "        hash(found)",
        "    except Exception:",
        "        return None",
        "    return found",
    ]
    namespace: dict[str, Any] = {}
    exec("\n".join(lines), namespace)  # noqa: S102 - built from positions and the library's own expressions
    key: Callable[[Sequence[Any]], object] = namespace["key"]
    return key
