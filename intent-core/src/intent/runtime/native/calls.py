"""Known calls in compiled code: ``caller.c`` beside the code that :mod:`intent.runtime.quick` writes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from intent.kir.kernel import Kernel
from intent.kir.value import ScalarParam, View
from intent.provider.binder import ADDRESS_CLASS, NativeStart
from intent.runtime.array import Library
from intent.runtime.native.build import available

__all__ = ["again", "caller", "learn"]

_CUDA: Final = 2
"""DLPack's number of the kind of device."""


_KINDS: Final[Mapping[str, str]] = {"bool": "b", "f32": "f", "f64": "d"}
_MOST: Final = (1 << 63) - 1


def caller(
    kernel: Kernel,
    pairs: Sequence[tuple[str, str]],
    library: Library,
    keyed: frozenset[str],
    fallback: Callable[[Sequence[Any]], Any],
) -> Any:
    """Compiled code for the same calls, or None where there is none or it does not know a scalar's dtype."""
    module, reading = available(), library.reading
    if module is None or reading is None or reading.exchange is None:
        return None
    kinds, ranges = "", []
    for p in kernel.params:
        low = high = 0
        kind: str | None = "v"
        if isinstance(p, ScalarParam):
            dtype = p.value.dtype
            kind = _KINDS.get(dtype.name)
            if dtype.is_integer:
                kind, low, high = "k" if p.name in keyed else "i", dtype.minimum, min(dtype.maximum, _MOST)
        if kind is None:
            return None
        kinds += kind
        ranges.append((low, high))
    places = {p.name: k for k, p in enumerate(kernel.params)}
    numbers = tuple((places[a], places[b]) for a, b in pairs)
    try:
        return module.Caller(
            kinds, tuple(ranges), numbers, ADDRESS_CLASS, reading.exchange, reading.negated, fallback
        )
    except ValueError:  # more parameters than it has room for, or another exchange table
        return None


def learn(kernel: Kernel, caller: Any, args: Sequence[Any], entry: tuple[Any, ...]) -> bool:
    """Whether ``caller`` now knows the call of ``entry`` too: not where its start has no compiled form."""
    _, start, _, near, *reach = entry
    made: NativeStart | None = start.native() if hasattr(start, "native") else None
    if made is None:
        return False
    params = list(enumerate(kernel.params))
    order = [k for k, p in params if isinstance(p, View)] + [
        k for k, p in params if isinstance(p, ScalarParam)
    ]
    description = _description(made, order)
    ends = tuple(zip(reach[::2], reach[1::2], strict=True))
    try:
        return bool(caller.learn(tuple(args), entry, ends, tuple(near), description, made.owner))
    except (ValueError, OverflowError):  # more arguments than it has room for
        return False


def again(
    start: Any, values: Sequence[Any], number: int, exchange: object, fallback: Callable[[], None]
) -> Callable[[], None] | None:
    """A compiled call that starts ``start`` with ``values`` on device ``number``; None where there is none."""
    module = available()
    made: NativeStart | None = start.native() if module is not None and hasattr(start, "native") else None
    if module is None or made is None or exchange is None:
        return None
    description = _description(made, range(len(values)))
    try:
        call: Callable[[], None] = module.Again(
            description, made.owner, tuple(values), _CUDA, number, exchange, fallback
        )
    except (ValueError, OverflowError):  # more values or arguments than it has room for
        return None
    return call


def _description(made: NativeStart, order: Sequence[int]) -> tuple[Any, ...]:
    """As ``caller.c`` reads it; ``order`` maps positions among a start's values to the caller's."""
    return (
        made.launch, made.current, made.context, made.function, made.config, made.stream_at, made.image,
        made.places, tuple((order[source], place, code) for source, place, code in made.changes),
    )  # fmt: skip
