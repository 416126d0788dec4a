"""The part of known calls that is compiled on the user's machine, where that is possible."""

from __future__ import annotations

from intent.runtime.native.build import available, load_now, when_available

__all__ = ["available", "load_now", "when_available"]
