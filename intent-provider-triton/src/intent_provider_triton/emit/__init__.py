"""Physical program to Triton text."""

from __future__ import annotations

from intent_provider_triton.emit.kernel import Emitted, emit

__all__ = ["Emitted", "emit"]
