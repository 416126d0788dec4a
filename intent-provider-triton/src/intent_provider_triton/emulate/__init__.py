"""Runs emitted Triton text on the CPU: Triton's own front end, with numpy below it instead of a compiler.

Triton's semantics decide types, promotion and broadcasting exactly as in a native build; every operation that
they build is computed at once by numpy. Neither torch nor a GPU nor ``TRITON_INTERPRET`` is involved, and nothing in
Triton is patched: native use in the same process is untouched.
"""

from __future__ import annotations

from intent_provider_triton.emulate.launcher import EmulatedLauncher

__all__ = ["EmulatedLauncher"]
