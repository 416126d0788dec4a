"""Physical program to CUDA C++ text."""

from __future__ import annotations

from intent_provider_cupy.emit.kernel import Emitted, emit

__all__ = ["Emitted", "emit"]
