"""A frozen logical kernel: the sole semantic input of physical construction (spec: kir-to-gpu-program 1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from intent.kir.value import Assumption, Condition, DomainInfo, KernelID, Region, ScalarParam, View
from intent.types import Span
from intent.types.span import UNKNOWN


@dataclass(frozen=True, kw_only=True)
class Kernel:
    """``params`` stand in the author's order (constexprs removed); ``body.args`` are the scalar params' values."""

    name: KernelID
    params: tuple[View | ScalarParam, ...]
    body: Region
    domains: tuple[DomainInfo, ...] = ()
    conditions: tuple[Condition, ...] = ()
    assumptions: tuple[Assumption, ...] = ()
    constexprs: tuple[tuple[str, str], ...] = ()
    span: Span = field(default=UNKNOWN, compare=False)

    def __str__(self) -> str:
        from intent.kir.text import print_kernel

        return print_kernel(self)

    @property
    def views(self) -> Iterator[View]:
        return (p for p in self.params if isinstance(p, View))

    @property
    def scalars(self) -> Iterator[ScalarParam]:
        return (p for p in self.params if isinstance(p, ScalarParam))
