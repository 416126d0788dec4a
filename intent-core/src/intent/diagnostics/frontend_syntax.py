"""Errors that only the front end raises, beside those of ``syntax``."""

from __future__ import annotations

from typing import Unpack

from intent.diagnostics.base import IntentError, Where

__all__ = ["AssertionFailed"]


class AssertionFailed(IntentError):
    """An ``assert`` on constants does not hold for this specialization."""

    code = "INT025"

    def __init__(self, condition: str, *, said: str | None = None, **where: Unpack[Where]) -> None:
        super().__init__(
            f"the assertion '{condition}' does not hold",
            seen={} if said is None else {"its message": said},
            fix="specialize the kernel with constexprs that satisfy it",
            **where,
        )
