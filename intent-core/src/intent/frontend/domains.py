"""Domains and source-derived subregions (spec: logical-program 1)."""

from __future__ import annotations

from intent.diagnostics import InvalidStep, SubregionOutOfBounds
from intent.frontend.operands import Operands
from intent.frontend.values import Domain, ExtentRef, FrontValue, Literal, Tensor
from intent.types import Extent
from intent.types.extent import ceildiv, const, maximum


class Domains(Operands):
    """Making domains; their coordinates are ``Leaves.indices``."""

    def domain(
        self, begin: FrontValue, end: FrontValue, step: FrontValue | None = None, *, name: str = ""
    ) -> Domain:
        """``[begin, end)`` with a fresh identity; empty where end <= begin. Raises InvalidStep, WrongDType."""
        step = step or Literal(value=1)
        begin, end, step = (self.scalar_index(f, w) for f, w in _named(begin, end, step))
        first, last, stride = (self.extent_of(f) for f in (begin, end, step))
        self._positive(stride)
        length = last - first
        if not self.nonnegative(length):
            length = maximum(0, length)
        extent = ceildiv(length, stride)
        return Domain(
            id=self.domain_id(name, extent=extent),
            begin=begin,
            end=end,
            step=step,
            begin_extent=first,
            end_extent=last,
            step_extent=stride,
            extent=extent,
        )

    def axis_domain(self, extent: Extent) -> Domain:
        """A fresh domain ``[0, extent)``."""
        return self.domain(Literal(value=0), ExtentRef(extent=extent))

    def subregion(self, source: Domain, begin: FrontValue | None, end: FrontValue | None) -> Domain:
        """``source[begin:end]``: coordinates are kept, nothing is clamped.

        What is visible at launch becomes a condition (begin <= end, inside the source); the rest is guarded by the
        accesses (language decision 18). Raises SubregionOutOfBounds for constants.
        """
        first = source.begin if begin is None else self.scalar_index(begin, "the begin of a subregion")
        last = source.end if end is None else self.scalar_index(end, "the end of a subregion")
        low, high = self.extent_of(first), self.extent_of(last)
        decided = self._ordered(low, high, source, low, high)
        if begin is not None:
            decided &= self._ordered(source.begin_extent, low, source, low, high)
        if end is not None:
            decided &= self._ordered(high, source.end_extent, source, low, high)
        bounds = low, high
        step = source.step_extent
        if begin is not None and step.const != 1 and low is not source.begin_extent:
            # The first member at or after ``begin`` on the source's grid.
            past = self.pointwise("sub", first, source.begin)
            whole = self.pointwise(
                "floordiv",
                self.pointwise("add", past, self.pointwise("sub", source.step, Literal(value=1))),
                source.step,
            )
            first = self.pointwise("add", source.begin, self.pointwise("mul", whole, source.step))
            low = source.begin_extent + ceildiv(low - source.begin_extent, step) * step
        extent = ceildiv(high - low, step)
        identity = self.domain_id("", source.id, extent)
        if not decided:
            self.bounded(source.id, source.begin_extent, source.end_extent)
            self.bounded(identity, *bounds, self.span)
        return Domain(
            id=identity,
            begin=first,
            end=last,
            step=source.step,
            begin_extent=low,
            end_extent=high,
            step_extent=step,
            extent=extent,
            parent=source,
        )

    def scalar_index(self, front: FrontValue, what: str) -> FrontValue:
        """An index scalar, left symbolic where it is; other integer dtypes are promoted."""
        if isinstance(front, Literal) and type(front.value) is int:
            return ExtentRef(extent=const(front.value))
        if isinstance(front, ExtentRef):
            return front
        extent = self.extent_of(front, what)
        tensor = self.index(front, what)
        # A launch-visible value is better known by its symbolic form than by the arithmetic that made it.
        return (
            ExtentRef(extent=extent) if extent.launch_visible else Tensor(value=tensor.value, extent=extent)
        )

    def name_domain(self, domain: Domain, name: str) -> None:
        """Give a domain the author's name if it has none yet."""
        for info in self.domains:
            if info.id == domain.id and not info.name:
                object.__setattr__(info, "name", name)

    def _positive(self, step: Extent) -> None:
        if step.const is not None and step.const < 1:
            raise InvalidStep(step.const, span=self.span)
        if step.const is None:
            self.condition("at_least", step, const(1), "the step of a domain")

    def _ordered(self, low: Extent, high: Extent, source: Domain, begin: Extent, end: Extent) -> bool:
        """Demand low <= high: refused if constant and false, recorded if visible at launch and not provable.

        False: neither proven nor recorded.
        """
        difference = high - low
        if difference.const is not None and difference.const < 0:
            raise SubregionOutOfBounds(
                source=(source.begin_extent, source.end_extent), found=(begin, end), span=self.span
            )
        if self.nonnegative(difference):
            return True
        if self.unforeseen:
            return False
        self.condition("at_least", high, low, "a subregion")
        return low.launch_visible and high.launch_visible and not self.conditional


def _named(begin: FrontValue, end: FrontValue, step: FrontValue) -> tuple[tuple[FrontValue, str], ...]:
    return (
        (begin, "the begin of a domain"),
        (end, "the end of a domain"),
        (step, "the step of a domain"),
    )
