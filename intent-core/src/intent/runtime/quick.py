"""Calls whose signature is known: one look-up instead of every check (language, decisions 5 and 7).

The key of a call holds all that was checked once: of each array its type, dtype, shape, strides and device, of
all addresses their class, and each integer scalar that anything depends on. What no key decides is looked at
in every call: the other scalars' kind and range, and whether the byte ranges of a written view and another one
touch. A call that is not known, or not surely harmless, takes the long way, which reports what is wrong.

The code that reads a call is written out for the kernel's parameters: it runs at every launch. Where
:mod:`intent.runtime.native` could be built and the arrays' library has DLPack's exchange table, compiled code
stands before it, which does the same and passes on what it does not know.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, TypeAlias

from intent.kir.kernel import Kernel
from intent.kir.value import ScalarParam, View
from intent.provider.binder import ADDRESS_CLASS, Start
from intent.runtime import native
from intent.runtime.array import Library
from intent.runtime.fitting import Fitting
from intent.runtime.foreign import known_library
from intent.runtime.launch import Checked
from intent.runtime.libraries import ordinal
from intent.runtime.native.calls import caller, learn
from intent.runtime.overlap import writable_pairs
from intent.runtime.scalars import bind_scalar

__all__ = ["Quick"]

_LIMIT: Final = 512
_NEAR: Final = 64

Call: TypeAlias = "Callable[[Sequence[Any]], tuple[Any, ...] | None]"
Near: TypeAlias = "set[tuple[int, int]]"
"""Pairs of touching views that were checked: the pair's number and the distance of their addresses."""


class _Code(NamedTuple):
    """The functions written for one library and one choice of scalars in the key."""

    library: Library
    keyed: frozenset[str]
    call: Call
    key: Call
    known: dict[Any, tuple[Any, ...]]
    compiled: Any


class Quick:
    """The known calls of one artifact.

    ``call(args)`` launches when ``args`` are known, and then gives a tuple whose first item is the fitting;
    otherwise it gives None and has done nothing.
    """

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._pairs = [(a.name, b.name) for a, b in writable_pairs(kernel)]
        self._code: _Code | None = None
        self._lock = threading.Lock()
        self._asked = False
        self.call: Call = _nothing_known

    def learn(self, args: Sequence[Any], checked: Checked, start: Start, scalars: frozenset[str]) -> None:
        """Remember a call that passed every check, launched by ``start``.

        ``scalars``: the integer scalars whose values the checks, the variant or ``start`` depend on.
        """
        arrays, library = checked.bound.arrays, checked.library
        given = dict(zip((p.name for p in self._kernel.params), args, strict=True))
        if any(known_library(type(given[name])) is not library for name in arrays):
            return
        self._ask_for_compiled(library)
        with self._lock:
            code = self._code
            if code is None or code.library is not library or not scalars <= code.keyed:
                kept = code.keyed if code is not None else frozenset()
                code = self._code = _write(self._kernel, self._pairs, library, scalars | kept)
            found = code.key(args)
            if found is None:
                return
            entry = code.known.get(found)
            if entry is None:
                if len(code.known) >= _LIMIT:
                    code.known.clear()
                entry = code.known[found] = self._entry(checked.fitting, start)
            self._allow(entry[3], checked)
            learnt = code.compiled is not None and learn(self._kernel, code.compiled, args, entry)
            self.call = code.compiled.call if learnt else code.call

    def _ask_for_compiled(self, library: Library) -> None:
        if self._asked or library.reading is None or library.reading.exchange is None:
            return
        self._asked = True
        me = weakref.ref(self)

        def arrived() -> None:
            if (quick := me()) is not None:
                quick.forget()

        native.when_available(arrived)

    def forget(self) -> None:
        """Forget every call, so that the next ones are checked and learnt anew."""
        with self._lock:
            self._code, self.call = None, _nothing_known

    def _entry(self, fitting: Fitting, start: Start) -> tuple[Any, ...]:
        near: Near = set()
        reach = [end for ends in fitting.reach.values() for end in ends]
        return (fitting, start, ordinal(fitting.device), near, *reach)

    def _allow(self, near: Near, checked: Checked) -> None:
        """Remember the distances of touching views: with the layouts they decide what was just checked."""
        arrays, reach = checked.bound.arrays, checked.fitting.reach
        for number, (written, other) in enumerate(self._pairs):
            a, b = arrays[written].pointer, arrays[other].pointer
            (a_low, a_high), (b_low, b_high) = reach[written], reach[other]
            if a + a_low < b + b_high and b + b_low < a + a_high:
                if len(near) >= _NEAR:
                    near.clear()
                near.add((number, a - b))


def _nothing_known(args: Sequence[Any]) -> None:
    del args


def _write(
    kernel: Kernel, pairs: Sequence[tuple[str, str]], library: Library, keyed: frozenset[str]
) -> _Code:
    """The functions for calls with arrays of ``library``."""
    reading = library.reading
    assert reading is not None, "only libraries that can be read are learnt"
    known: dict[Any, tuple[Any, ...]] = {}
    namespace: dict[str, Any] = {
        "known": known.get,
        "device": reading.device,
        "stream": reading.stream,
        "current": lambda number: library.current(f"cuda:{number}"),
    }
    text = _text(kernel, pairs, reading.layout, reading.address, keyed, namespace)
    exec(text, namespace)  # noqa: S102 - built from positions and the library's own expressions
    call: Call = namespace["call"]
    return _Code(library, keyed, call, namespace["key"], known, caller(kernel, pairs, library, keyed, call))


def _text(
    kernel: Kernel,
    pairs: Sequence[tuple[str, str]],
    layout: str,
    address: str,
    keyed: frozenset[str],
    namespace: dict[str, Any],
) -> str:
    """``key(args)`` and ``call(args)``; adds what they use to ``namespace``.

    Names: ``a`` an argument, ``p`` an address, ``l`` and ``h`` the first and the end byte of the elements
    behind an address, each with the parameter's position.
    """
    params = list(enumerate(kernel.params))
    places = {p.name: k for k, p in params}
    views = [k for k, p in params if isinstance(p, View)]
    scalars = [(k, p) for k, p in params if isinstance(p, ScalarParam)]
    for k, p in scalars:
        namespace[f"bind{k}"] = partial(bind_scalar, p.name, p.value.dtype, span=p.span)
    read = [f"({''.join(f'a{k}, ' for k, _ in params)}) = args"]
    read += [f"p{k} = {address.format(f'a{k}')}" for k in views]
    read += [_scalar(k, p, keyed=p.name in keyed) for k, p in scalars]
    parts = [layout.format(f"a{k}") for k in views] + [f"a{k}" for k, p in scalars if p.name in keyed]
    read.append(f"key = ({', '.join(parts)},)")
    odd = ADDRESS_CLASS - 1
    read.append(f"if ({' | '.join(f'p{k}' for k in views)}) & {odd}:")
    read.append(f"    key = (key, {', '.join(f'p{k} & {odd}' for k in views)})")
    values = ", ".join([*(f"p{k}" for k in views), *(f"a{k}" for k, _ in scalars)])
    reach = "".join(f", l{k}, h{k}" for k in views)
    lines = ["def key(args):", *_tried(read), "    return key", ""]
    lines += ["def call(args):", *_tried([*read, "found = known(key)"])]
    lines += ["    if found is None:", "        return None"]
    lines += [f"    fitting, start, number, near{reach} = found"]
    for n, (a, b) in enumerate((places[x], places[y]) for x, y in pairs):
        touching = f"p{a} + l{a} < p{b} + h{b} and p{b} + l{b} < p{a} + h{a}"
        lines += [f"    if {touching} and ({n}, p{a} - p{b}) not in near:", "        return None"]
    lines += [
        "    try:",
        "        if device() == number:",
        f"            start(stream(number), {values})",
        "        else:",
        "            with current(number):",
        f"                start(stream(number), {values})",
        "    except OverflowError:",
        "        return None",
        "    return found",
    ]
    return "\n".join(lines)


def _tried(lines: Sequence[str]) -> list[str]:
    """Lines of a function that gives None when they raise: the long way says what is wrong."""
    return [
        "    try:",
        *(f"        {line}" for line in lines),
        "    except Exception:",
        "        return None",
    ]


_PLAIN: Final[Mapping[str, str]] = {"bool": "bool", "f32": "float", "f64": "float"}


def _scalar(k: int, parameter: ScalarParam, *, keyed: bool) -> str:
    """The check of one scalar. The dtype of f32 and f64 is rounded to when the launch packs it."""
    dtype = parameter.value.dtype
    if not dtype.is_integer:
        plain = _PLAIN.get(dtype.name)
        test = "" if plain is None else f"if type(a{k}) is not {plain}: "
        return f"{test}a{k} = bind{k}(a{k})"
    # A key that is known passed the check of its range; True and 1.0 equal 1, so the kind counts.
    fits = "" if keyed else f" or not {dtype.minimum} <= a{k} <= {dtype.maximum}"
    return f"if type(a{k}) is not int{fits}: a{k} = bind{k}(a{k})"
