"""Physical program to cuTile text."""

from __future__ import annotations

from intent_provider_cutile.emit.kernel import Emitted, emit

__all__ = ["Emitted", "emit"]
