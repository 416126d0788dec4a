"""The kernel's arguments that the text really uses, and what it asks of their layout."""

from __future__ import annotations

from intent.physical import View
from intent.provider import emission
from intent_provider_cupy.emit.interface import Parameter

__all__ = ["SignatureBuilder"]


class SignatureBuilder(emission.Arguments[Parameter]):
    """Collects arguments as they are asked for."""

    def divided(self, key: tuple[object, ...], least: int) -> str:
        """Whether ``least``, a power of two, divides the argument of ``key``: asked of the layout from now on."""
        parameter = self.found(key)
        name = parameter.divisor or self.namer.fresh(f"{parameter.emitted}_divisor")
        self.change(key, divisor=name, steps=tuple(sorted({*parameter.steps, least})))
        return f"{name} >= {least}"

    def unit(self, view: View, axis: int) -> str:
        """The layout's constant that says whether a stride is 1, asked for from now on."""
        name, key = self.stride(view, axis), ("stride", view.name, axis)
        return self.found(key).unit or self.change(key, unit=self.namer.fresh(f"{name}_is_one")).unit
