"""The installed providers, found by name and loaded when asked for (spec: kernel-and-host 1).

Listing names reads package metadata only. A provider's package is imported by :meth:`Registry.get`; whatever
goes wrong then is an error that names the package, and :meth:`Registry.status` reports it as text.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, Protocol

import importlib_metadata
import pluggy

from intent.diagnostics import BrokenProvider, DuplicateProvider, IntentError, MissingProvider
from intent.provider import hookspecs
from intent.provider.capabilities import Capabilities
from intent.provider.protocol import Provider, is_provider, lacking

__all__ = ["PluginSource", "ProviderStatus", "Registry", "emulating", "registry"]


def emulating() -> bool:
    """Whether ``INTENT_EXECUTION=emulate`` asks GPU providers to run their emitted source on the CPU."""
    return os.environ.get("INTENT_EXECUTION", "").strip().lower() == "emulate"


class PluginSource(Protocol):
    """What the registry needs of an entry point."""

    @property
    def name(self) -> str: ...

    @property
    def value(self) -> str: ...

    def load(self) -> Any: ...


@dataclass(frozen=True, kw_only=True)
class ProviderStatus:
    """One line of ``intent providers``.

    ``state``: ``ready`` (a GPU launch or a CPU run is possible), ``no device`` (loads; ``detail`` says why
    a launch is not possible), ``broken`` or ``duplicate`` (``detail`` is the error). ``source`` is the entry
    point.
    """

    name: str
    version: str
    state: Literal["ready", "no device", "broken", "duplicate"]
    detail: str
    source: str


class Registry:
    """Providers by name. ``discover`` yields the entry points; it is called once, at the first question."""

    def __init__(self, discover: Callable[[], Iterable[PluginSource]]) -> None:
        self._discover = discover
        self._sources: dict[str, tuple[PluginSource, ...]] | None = None
        self._loaded: dict[str, Provider] = {}
        self._lock = threading.RLock()

    def names(self) -> tuple[str, ...]:
        """The names that installed packages register, sorted; broken ones included. Imports nothing."""
        return tuple(sorted(self._found()))

    def get(self, name: str) -> Provider:
        """The provider called ``name``.

        Raises:
            MissingProvider: No installed package registers the name.
            DuplicateProvider: Two packages do.
            BrokenProvider: Its package cannot be imported or does not keep the protocol.
        """
        with self._lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
            return self._loaded[name]

    def default(self) -> Provider:
        """The provider of ``compile(provider=None)``.

        In order: a GPU provider that can launch here; with ``INTENT_EXECUTION=emulate`` a GPU provider, whose
        source will run on the CPU; a provider that needs no GPU. Among several the preferred one, see
        ``Capabilities.preference``. Broken ones do not take part (``intent providers`` reports them).
        """
        usable = sorted(self._usable(), key=lambda provider: -provider.capabilities.preference)
        gpu = [p for p in usable if p.capabilities.needs_gpu]
        cpu = [p for p in usable if not p.capabilities.needs_gpu]
        launchable = gpu if emulating() else [p for p in gpu if p.available() is None]
        chosen = launchable or cpu or gpu
        if not chosen:
            raise MissingProvider("(default)", self.names())
        return chosen[0]

    def status(self, name: str) -> ProviderStatus:
        """The state of one installed name; loads it, never raises for its faults."""
        sources = self._found().get(name, ())
        where = ", ".join(map(describe, sources))
        try:
            provider = self.get(name)
            reason = provider.available() if provider.capabilities.needs_gpu else None
            version = provider.version
        except IntentError as error:
            state: Literal["broken", "duplicate"] = (
                "duplicate" if isinstance(error, DuplicateProvider) else "broken"
            )
            return ProviderStatus(name=name, version="", state=state, detail=str(error), source=where)
        except Exception as error:  # noqa: BLE001 - a foreign plugin may raise anything; the listing goes on
            detail = f"{type(error).__name__}: {error}"
            return ProviderStatus(name=name, version="", state="broken", detail=detail, source=where)
        return ProviderStatus(
            name=name,
            version=version,
            state="ready" if reason is None else "no device",
            detail=reason or "",
            source=where,
        )

    def _usable(self) -> Iterator[Provider]:
        for name in self.names():
            try:
                yield self.get(name)
            except IntentError:
                continue

    def _found(self) -> dict[str, tuple[PluginSource, ...]]:
        with self._lock:
            if self._sources is None:
                found: dict[str, tuple[PluginSource, ...]] = {}
                for source in self._discover():
                    found[source.name] = (*found.get(source.name, ()), source)
                self._sources = found
            return self._sources

    def _load(self, name: str) -> Provider:
        sources = self._found().get(name, ())
        if not sources:
            raise MissingProvider(name, self.names(), install=_install_command(name))
        if len(sources) > 1:
            raise DuplicateProvider(name, map(describe, sources))
        (source,) = sources
        try:
            return _provider_of(source)
        except IntentError:
            raise
        except Exception as error:
            raise BrokenProvider(name, entry_point=describe(source), cause=error) from error


def _install_command(name: str) -> str | None:
    """How to get a provider that is not there: packages are called after the provider they bring."""
    plain = re.fullmatch(r"[a-z][a-z0-9_]*", name)
    return f"install its package: python -m pip install intent-provider-{name}" if plain else None


def describe(source: PluginSource) -> str:
    """``module:object (distribution)`` of an entry point."""
    distribution = getattr(source, "dist", None)
    owner = getattr(distribution, "name", None)
    return f"{source.value} ({owner})" if owner else source.value


def _provider_of(source: PluginSource) -> Provider:
    """Load the plugin, call its hook, and check what it gives against the protocol."""
    manager = pluggy.PluginManager("intent")
    manager.add_hookspecs(hookspecs)
    manager.register(source.load(), name=source.name)
    manager.check_pending()
    found: list[object] = manager.hook.intent_provider()
    if len(found) != 1:
        raise BrokenProvider(
            source.name,
            entry_point=describe(source),
            cause=f"the plugin implements the hook intent_provider {len(found)} times, not once",
        )
    provider = found[0]
    if not is_provider(provider):
        cause = f"the provider lacks {', '.join(lacking(provider))}"
        raise BrokenProvider(source.name, entry_point=describe(source), cause=cause)
    if provider.name != source.name:
        cause = f"the provider calls itself '{provider.name}'"
        raise BrokenProvider(source.name, entry_point=describe(source), cause=cause)
    capabilities: object = provider.capabilities
    if not isinstance(capabilities, Capabilities):
        cause = f"capabilities is a {type(capabilities).__name__}, not a Capabilities"
        raise BrokenProvider(source.name, entry_point=describe(source), cause=cause)
    return provider


def _installed() -> Iterable[PluginSource]:
    return importlib_metadata.entry_points(group=hookspecs.ENTRY_POINT_GROUP)


@cache
def registry() -> Registry:
    """The registry of this process."""
    return Registry(_installed)
