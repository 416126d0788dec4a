"""What providers say of their version."""

from __future__ import annotations

from importlib import metadata

__all__ = ["version_with"]


def version_with(package: str, toolkit: str) -> str:
    """The version of a provider's package with that of its toolkit, both by the names that pip knows."""
    try:
        below = metadata.version(toolkit)
    except metadata.PackageNotFoundError:
        below = "not installed"
    return f"{metadata.version(package)} ({toolkit} {below})"
