"""Options of a compilation: permissions about numbers, never choices about a target (language, Numbers)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Final, Literal

from intent.diagnostics import OptionError
from intent.passes import Permissions

__all__ = ["CompileOptions"]

_ALLOWED: Final = {
    "numerics": ("source", "relaxed_normalization"),
    "fold_law": ("on", "strict"),
    "products": ("whole", "split"),
}


@dataclass(frozen=True, kw_only=True)
class CompileOptions:
    """What the compiler may assume about numbers.

    ``numerics="relaxed_normalization"`` also permits rewriting max / exp / sum / weighted-contract chains
    into online form over segments; the caller promises finite inputs. ``fold_law="strict"`` forbids
    absorbing a fold's carry into its slice, which rounds differently. ``products="split"`` permits making
    f32 contractions of six products of bf16 parts, which is as exact where magnitudes are ordinary: the caller
    promises that those that matter lie between 2**-100 and 2**127. Permissions: nothing has to use them.

    Raises:
        OptionError: An option has a value that it cannot have.
    """

    numerics: Literal["source", "relaxed_normalization"] = "source"
    fold_law: Literal["on", "strict"] = "on"
    products: Literal["whole", "split"] = "whole"

    @property
    def permissions(self) -> Permissions:
        """What the passes may assume."""
        return Permissions(
            fold_law=self.fold_law == "on",
            relaxed=self.numerics == "relaxed_normalization",
            split=self.products == "split",
        )

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if value not in _ALLOWED[option.name]:
                allowed = ", ".join(repr(choice) for choice in _ALLOWED[option.name])
                raise OptionError(option.name, value, allowed=allowed)
