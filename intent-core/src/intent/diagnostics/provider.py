"""Errors about providers, their toolkits and their devices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Unpack

from intent.diagnostics.base import IntentError, Where
from intent.diagnostics.words import did_you_mean

__all__ = [
    "BrokenProvider",
    "BuildFailure",
    "CapabilityError",
    "DuplicateProvider",
    "MissingProvider",
    "MissingToolkit",
    "NoDevice",
]


class MissingProvider(IntentError):
    """No installed provider has this name."""

    code = "INT086"

    def __init__(
        self, name: str, available: Iterable[str], *, install: str | None = None, **where: Unpack[Where]
    ) -> None:
        available = tuple(available)
        super().__init__(
            f"there is no provider '{name}'",
            seen={"the installed providers": ", ".join(available) or "none"},
            fix=did_you_mean(name, available) or install or "install the package that brings it; "
            "'python -m intent providers' lists what is there",
            **where,
        )  # fmt: skip


class BrokenProvider(IntentError):
    """A provider is installed but its plugin cannot be loaded or does not keep the protocol."""

    code = "INT087"

    def __init__(
        self, name: str, *, entry_point: str, cause: BaseException | str, **where: Unpack[Where]
    ) -> None:
        text = cause if isinstance(cause, str) else f"{type(cause).__name__}: {cause}"
        super().__init__(
            f"provider '{name}' is installed but cannot be loaded",
            seen={"its entry point": entry_point, "the cause": text},
            fix="reinstall or remove the package; 'python -m intent providers' shows its state",
            **where,
        )


class DuplicateProvider(IntentError):
    """Two installed packages register one provider name."""

    code = "INT088"

    def __init__(self, name: str, sources: Iterable[str], **where: Unpack[Where]) -> None:
        super().__init__(
            f"provider '{name}' is registered twice",
            seen={"its packages": ", ".join(sources)},
            fix="uninstall one of the packages",
            **where,
        )


class MissingToolkit(IntentError):
    """A provider needs a library or tool that is not installed."""

    code = "INT089"

    def __init__(self, provider: str, *, needs: str, install: str, **where: Unpack[Where]) -> None:
        super().__init__(f"provider '{provider}' needs {needs}, which is not installed", fix=install, **where)


class NoDevice(IntentError):
    """A GPU provider was called on a machine without a usable GPU."""

    code = "INT090"

    def __init__(
        self, provider: str, *, reason: str | None = None, emulates: bool = True, **where: Unpack[Where]
    ) -> None:
        emulation = "set INTENT_EXECUTION=emulate to run the emitted source on the CPU"
        reference = 'compile with provider="reference"'
        super().__init__(
            f"provider '{provider}' needs a GPU, and none is usable here",
            seen={"the reason": reason} if reason else {},
            fix=emulation if emulates else reference,
            **where,
        )


class CapabilityError(IntentError):
    """The target cannot express something this kernel needs; raised before launch, never a wrong result."""

    code = "INT091"

    def __init__(
        self,
        provider: str,
        *,
        capability: str,
        needed: object,
        offered: object = None,
        fix: str | None = None,
        **where: Unpack[Where],
    ) -> None:
        seen: Mapping[str, object] = {"what the kernel needs": needed} | (
            {} if offered is None else {f"what '{provider}' offers": offered}
        )
        super().__init__(
            f"provider '{provider}' does not support {capability}",
            seen=seen,
            fix=fix or 'use another provider; provider="reference" runs every kernel',
            **where,
        )
        self.provider = provider
        self.capability = capability


class BuildFailure(IntentError):
    """The toolkit refused the emitted source."""

    code = "INT092"

    def __init__(self, provider: str, *, target: str, log: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"provider '{provider}' could not build the emitted source",
            seen={"the target": target, "the toolkit's message": log.strip()},
            fix="this is a fault of the provider: report it with artifact.source",
            **where,
        )
