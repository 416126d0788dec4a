"""The kernel's arguments as Triton's compiler needs them."""

from __future__ import annotations

from dataclasses import dataclass

from intent.provider import emission
from intent_provider_triton.emit.literals import SIGNATURE

__all__ = ["Parameter", "Signature", "SignatureBuilder"]


@dataclass(frozen=True, kw_only=True)
class Parameter(emission.Parameter):
    """One argument of the emitted kernel; ``index``: its integer type is INDEX."""

    @property
    def type(self) -> str:
        """Triton's signature name of anything but an index."""
        pointer = "*" if self.kind in ("view", "buffer") else ""
        return pointer + SIGNATURE[self.dtype]


@dataclass(frozen=True, kw_only=True)
class Signature(emission.Signature[Parameter]):
    """All arguments in order, without the trailing constexpr INDEX, which the text may need."""

    uses_index: bool = True


SignatureBuilder = emission.Arguments[Parameter]
"""Collects the arguments that the text really uses."""
