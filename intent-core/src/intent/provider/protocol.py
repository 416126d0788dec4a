"""The provider protocol: a provider spells a verified program, and decides nothing about meaning."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypeGuard

from intent.physical import Program
from intent.provider.capabilities import Capabilities


@dataclass(frozen=True, kw_only=True)
class Source:
    """Emitted text. ``entry`` is the kernel's name in it; ``suffix`` the file type (``.py``, ``.cu``)."""

    text: str
    entry: str
    suffix: str
    program: Program


@dataclass(frozen=True, kw_only=True)
class Binary:
    """A native build for ``target`` (for example ``sm_90``), made without a GPU."""

    source: Source
    target: str
    code: bytes
    listing: str = ""


@dataclass(frozen=True, kw_only=True)
class BoundView:
    """One bound array argument. ``pointer`` is an address on ``device``; strides in elements, may be negative.

    ``array`` is the caller's object, alive during the launch; numpy arrays on device ``cpu``.
    """

    name: str
    pointer: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: str
    device: str
    array: Any


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """Everything a launch needs. ``extents`` binds symbol names and integer scalars used in extents.

    ``length`` is the program-space length, already checked against the grid limit and non-zero.
    ``workspace`` is the hidden argument (one allocation; byte offset per buffer id in ``workspace_offsets``).
    ``stream`` is a raw stream handle on a GPU, None on the CPU.
    """

    views: Mapping[str, BoundView]
    scalars: Mapping[str, bool | int | float]
    extents: Mapping[str, int]
    length: int
    workspace: BoundView | None = None
    workspace_offsets: Mapping[int, int] | None = None
    stream: int | None = None


class Launcher(Protocol):
    """Runs one built program. Must not synchronise a GPU stream."""

    def __call__(self, invocation: Invocation) -> None: ...


class Provider(Protocol):
    """A target language. Registered through the entry-point group ``intent.providers`` and pluggy."""

    @property
    def name(self) -> str: ...

    @property
    def version(self) -> str: ...

    @property
    def capabilities(self) -> Capabilities: ...

    def knobs(self) -> Mapping[str, Sequence[int]]:
        """Names and useful values of the provider's own plan settings (``num_warps``, ...)."""
        ...

    def grid(self, length: int) -> tuple[int, ...]:
        """The launch grid for a program-space length; rounding up is guarded in the program's text."""
        ...

    def serialize(self, program: Program) -> Source:
        """Spell the program. Deterministic; raises CapabilityError for what the target lacks."""
        ...

    def build(self, source: Source, target: str) -> Binary:
        """Compile natively without a GPU. Raises ToolchainError when the toolkit is missing or refuses."""
        ...

    def load(self, source: Source, device: str) -> Launcher:
        """A launcher on a GPU device such as ``cuda:0``. Raises when there is none."""
        ...

    def emulate(self, source: Source) -> Launcher:
        """A launcher that runs the emitted text itself on the CPU over numpy arrays."""
        ...

    def available(self) -> str | None:
        """None if a GPU launch is possible here, else the reason in one sentence. Touches no driver before."""
        ...


PROTOCOL: Final = (
    "name", "version", "capabilities", "knobs", "grid", "serialize", "build", "load", "emulate", "available",
)  # fmt: skip
"""The members of a provider; :class:`Provider` is the definition."""


def lacking(candidate: object) -> list[str]:
    """Which members of a provider ``candidate`` does not have, not even by delegation."""
    return [name for name in PROTOCOL if not hasattr(candidate, name)]


def is_provider(candidate: object) -> TypeGuard[Provider]:
    """Whether ``candidate`` is an object, not a class, that has all members of a provider.

    Asked of attributes: from Python 3.12 on isinstance of a protocol does not see what ``__getattr__`` delegates.
    """
    return not isinstance(candidate, type) and not lacking(candidate)
