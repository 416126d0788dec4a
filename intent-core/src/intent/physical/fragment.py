"""Fragments and resources: what a physical program computes on and where it reads and writes."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from intent.kir.roles import flattened
from intent.types import DType, Extent

if TYPE_CHECKING:
    from intent.physical.ops import Op


@dataclass(frozen=True, order=True)
class Dim:
    """A named lane dimension of static ``size``. Two dims are the same lane axis only if they are equal.

    ``axis`` names the class of axes whose members the lanes are, as plans do; it is for people and for planning.
    """

    name: str
    size: int
    axis: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.name}:{self.size}"


@dataclass(frozen=True, kw_only=True)
class Fragment:
    """An SSA value of one program instance: ``dtype`` over an ordered set of lane dims; none is a scalar.

    ``dims`` stand in the program's dim order. Pointwise operations broadcast by name. ``name`` is a hint.
    """

    id: int
    dtype: DType
    dims: tuple[Dim, ...] = ()
    name: str = field(default="", compare=False)

    def __hash__(self) -> int:
        return hash(self.id)

    @property
    def uniform(self) -> bool:
        """Whether one value serves the whole instance."""
        return not self.dims


@dataclass(frozen=True, kw_only=True)
class View:
    """An external view of the ABI. Element offset = sum of coordinate * run-time stride per axis."""

    name: str
    dtype: DType
    shape: tuple[Extent, ...]
    mode: Literal["in", "out", "inout"]
    strides: tuple[int | str | None, ...] | None = None
    alias: str | None = None
    noalias: bool = False

    @property
    def memory(self) -> object:
        """What resources that may be the same memory have in common."""
        return self.alias or self.name

    @property
    def rank(self) -> int:
        return len(self.shape)


Scope = Literal["program", "iteration", "invocation"]


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """Compiler- or author-owned storage (spec: kir-to-gpu-program 5).

    ``scope``: ``program`` one copy per program instance, ``iteration`` one per execution of the enclosing
    loop body, ``invocation`` one slice of the hidden workspace argument per owner. Shape in elements,
    row-major; ``storage`` ``registers`` (static extents, identity access only), ``shared`` or ``workspace``.

    ``role``, of the invocation's: ``partial`` holds what instances that share a reduction know, until the last one to
    arrive reads it all; ``arrival`` counts those that have arrived. The counts are zero before a launch and after it.
    """

    id: int
    name: str
    dtype: DType
    shape: tuple[Extent, ...]
    scope: Scope = "program"
    storage: Literal["registers", "shared", "workspace"] = "workspace"
    role: Literal["", "partial", "arrival"] = ""

    @property
    def memory(self) -> object:
        """What resources that may be the same memory have in common."""
        return self.id

    @property
    def rank(self) -> int:
        return len(self.shape)


Resource = View | Buffer


@dataclass(frozen=True, kw_only=True)
class Region:
    """A nested body: arguments, operations in order, yielded fragments."""

    args: tuple[Fragment, ...]
    ops: tuple[Op, ...]
    yields: tuple[Fragment, ...] = ()

    @cached_property
    def all_ops(self) -> tuple[Op, ...]:
        """Every operation of the region and of nested regions, outer before inner; flattened once."""
        return flattened(self.ops)
