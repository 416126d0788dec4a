"""Mutants that nothing finds, and why: each is another correct compiler, by the reason given."""

from __future__ import annotations

from typing import Final

KNOWN: Final[dict[str, str]] = {}
"""By name of the mutant."""
