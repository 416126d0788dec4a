"""What a launcher may offer beyond a launch: to settle a layout once and start it again and again.

Optional. The runtime asks a launcher on a GPU for it, and uses ``launcher(invocation)`` where it is absent.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from intent.provider.protocol import Invocation

__all__ = ["ADDRESS_CLASS", "Binder", "NativeStart", "Start", "Value"]

ADDRESS_CLASS = 16
"""What a binding may rely on of an address: its value modulo this many bytes."""

Value: TypeAlias = "bool | int | float"


class Start(Protocol):
    """Starts one settled launch: ``start(stream, *addresses, *scalars)``, then the workspace's address if any.

    Addresses of all views, then values of all scalars, each in the order of the program's parameters. The
    binding's device is the caller's current one. Floats may be unrounded: they are rounded to the parameter's
    dtype, once.
    Safe to call from several threads and on several streams.

    Raises:
        OverflowError: A float does not fit its dtype; nothing was started.
    """

    def __call__(self, stream: int, *values: Value) -> None: ...


@dataclass(frozen=True, kw_only=True)
class NativeStart:
    """How compiled code makes the same start.

    A ``Start`` may have an attribute ``native``, a function of no arguments that gives one, or None.
    ``launch`` is the address of a function like cuLaunchKernelEx, of (configuration, ``function``, addresses of
    the arguments, null), 0 for success; a launch that fails has run nothing. It is called while the function at
    ``current`` (like cuCtxGetCurrent) gives ``context``. ``config`` is the configuration, at most 64 bytes,
    with the stream at byte ``stream_at``. ``image`` holds the arguments, at most 1024 bytes; ``places`` says
    where each lies. ``changes`` are (position among the start's addresses and scalars, place, code of
    :mod:`struct`); floats are rounded there. ``owner`` is kept alive as long as the rest is used.
    """

    launch: int
    current: int
    context: int
    function: int
    config: bytes
    stream_at: int
    image: bytes
    places: tuple[int, ...]
    changes: tuple[tuple[int, int, str], ...]
    owner: Any


@runtime_checkable
class Binder(Protocol):
    """A launcher that can settle a layout.

    ``assumes``: names of symbols and integer scalars whose values a binding relies on. A binding holds for
    every call with the same extents, strides and program-space length, with these scalars, and with each
    address of the same class (modulo :data:`ADDRESS_CLASS`); a workspace is aligned like the one given.
    """

    @property
    def assumes(self) -> frozenset[str]: ...

    def __call__(self, invocation: Invocation) -> None: ...

    def bind(self, invocation: Invocation) -> Start:
        """Build what the layout needs, and launch nothing. ``invocation.stream`` plays no part."""
        ...
