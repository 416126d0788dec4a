"""Mutants of what providers emit that nothing finds, and why: each is another correct provider."""

from __future__ import annotations

from typing import Final

_ZERO: Final = "0 stands in parentheses"

EMITTED: Final[dict[str, str]] = {
    "intent_provider_triton.emit.literals:literal:blur-bound:0": _ZERO,
    "intent_provider_triton.emit.literals:_float_literal:blur-bound:0": "only infinities and NaN get there",
    "intent_provider_triton.emit.literals:_float_literal:blur-bound:1": _ZERO,
    "intent_provider_cutile.emit.kernel:KernelEmitter._combine:wrong-text:0": (
        "no two values have one place but paddings, and those are alike"
    ),
    "intent_provider_cutile.emit.kernel:KernelEmitter.emit:forget-filter:0": (
        "an array that only a comment names gets a line that the compiler drops"
    ),
}
"""By name of the mutant."""
