"""What calls of one signature have in common, so that a repeated signature is checked once.

The signature of a call is the layout of its arrays, their devices and the scalars that extents mention.
Everything that follows from these is decided once; addresses, read-only flags and overlap are checked at
every call.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, TypeAlias

from intent.kir.kernel import Kernel
from intent.physical import Program
from intent.provider import Provider
from intent.provider.binder import Start
from intent.runtime import conditions
from intent.runtime.arguments import Bound, check_alignment
from intent.runtime.extents import Environment, bind_extents, launch_atoms, named
from intent.runtime.overlap import check_overlap, writable_pairs
from intent.runtime.variants import Pairs, Variant, Variants
from intent.types.dtypes import BOOL
from intent.types.extent import Extent, Scalar

__all__ = ["Fitting", "Fittings"]

_LIMIT: Final = 512

Signature: TypeAlias = tuple[object, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Fitting:
    """A signature whose calls may run ``variant`` with ``length`` programs.

    ``reach`` holds per view the first and the end byte of its elements, relative to its address; ``strides``
    its strides in elements. ``starts`` are settled launches (:mod:`intent.runtime.launch`).
    """

    env: Environment
    extents: dict[str, int]
    variant: Variant
    length: int
    device: str
    reach: dict[str, tuple[int, int]]
    strides: dict[str, tuple[int, ...]]
    starts: dict[tuple[object, ...], Start] = field(default_factory=dict)
    in_place: bool = False
    """Whether the variant is for views that are the same elements: it serves other addresses, more slowly."""


class Fittings:
    """The fittings of one artifact by signature."""

    def __init__(self, kernel: Kernel, provider: Provider, variants: Variants) -> None:
        self._kernel = kernel
        self._provider = provider
        self._variants = variants
        mentioned = {atom.name for atom in launch_atoms(kernel) if isinstance(atom, Scalar)}
        self._integers = [p.name for p in kernel.scalars if p.value.dtype.is_integer]
        self._scalars = tuple(name for name in self._integers if name in mentioned)
        self._flags = [p.name for p in kernel.scalars if p.name in mentioned and p.value.dtype is BOOL]
        self._pairs = list(writable_pairs(kernel))
        self._written = [view for view in kernel.views if view.mode != "in"]
        self._known: dict[Signature, Fitting] = {}

    def fit(self, bound: Bound, *, on_gpu: bool) -> Fitting:
        """The fitting of a call whose every launch condition holds.

        Raises:
            IntentError: A class of :mod:`intent.diagnostics.call`, or PlanError; nothing was written.
        """
        known = self._known.get(self._signature(bound, on_gpu=on_gpu))
        if known is None:
            known = self._check(bound, self._variants, on_gpu=on_gpu)
            self._rely_on(known.variant.program)
            same = self._check_addresses(bound, known)
            if len(self._known) >= _LIMIT:
                self._known.clear()
            self._known[self._signature(bound, on_gpu=on_gpu)] = known
        else:
            same = self._check_addresses(bound, known)
        return self._copying(bound, known, same, on_gpu=on_gpu) if same else known

    def _copying(self, bound: Bound, known: Fitting, same: Pairs, *, on_gpu: bool) -> Fitting:
        """The fitting of a call that writes where it reads again afterwards."""
        variants = self._variants.in_place(same)
        if variants is None:  # each pair could be copied, but not all of them at once
            for written, other in same:
                views = {view.name: view for view in self._kernel.views}
                a, b = bound.arrays[written], bound.arrays[other]
                check_overlap(views[written], views[other], a, b, may_share=known.variant.may_share)
            raise AssertionError("one of the pairs cannot share")
        found = self._known.get((*self._signature(bound, on_gpu=on_gpu), same))
        if found is None:
            found = replace(self._check(bound, variants, on_gpu=on_gpu), in_place=True)
            self._rely_on(found.variant.program)
            self._known[(*self._signature(bound, on_gpu=on_gpu), same)] = found
        return found

    @property
    def scalars(self) -> tuple[str, ...]:
        """The integer scalars that are part of a signature."""
        return self._scalars

    def _signature(self, bound: Bound, *, on_gpu: bool) -> Signature:
        return (
            on_gpu,
            *((a.shape, a.byte_strides, a.device) for a in bound.arrays.values()),
            *(bound.scalars[name] for name in (*self._scalars, *self._flags)),
        )

    @property
    def flagged(self) -> bool:
        """Whether a signature holds more than layouts and integers."""
        return bool(self._flags)

    def _rely_on(self, program: Program) -> None:
        """Make the scalars that the program's space, guards and workspace mention part of the signature."""
        mentioned = {atom.name for e in _extents(program) for atom in e.atoms() if isinstance(atom, Scalar)}
        if not mentioned <= set(self._scalars):
            mentioned |= set(self._scalars)
            self._scalars = tuple(name for name in self._integers if name in mentioned)
            self._known.clear()

    def extents(self, fitting: Fitting, bound: Bound) -> dict[str, int]:
        """Values by name, with this call's integer scalars (those that no extent mentions may differ)."""
        if len(self._integers) == len(self._scalars):
            return fitting.extents
        return named(fitting.env | {Scalar(name): int(bound.scalars[name]) for name in self._integers})

    def _check(self, bound: Bound, variants: Variants, *, on_gpu: bool) -> Fitting:
        kernel, provider = self._kernel, self._provider
        for view in kernel.views:
            check_alignment(view, bound.arrays[view.name])
        env = bind_extents(kernel, bound)
        device = conditions.check_devices(bound, on_gpu=on_gpu)
        conditions.check_memory(kernel, bound)
        conditions.check_conditions(kernel, env, bound.scalars)
        variant = variants.select(env)
        limit = provider.capabilities.grid_limit
        length = conditions.program_length(variant.program, env, limit=limit, provider=provider.name)
        reach: dict[str, tuple[int, int]] = {}
        for name, array in bound.arrays.items():
            low, high = array.bounds()
            reach[name] = (low - array.pointer, high - array.pointer)
        return Fitting(
            env=env,
            extents=named(env),
            variant=variant,
            length=length,
            device=device,
            reach=reach,
            strides={name: array.strides for name, array in bound.arrays.items()},
        )

    def _check_addresses(self, bound: Bound, known: Fitting) -> Pairs:
        """What a signature does not decide: read-only memory and overlap (alignment is checked when binding).

        The pairs of views that are the same elements, if the variant cannot run on them and a copy is needed.
        """
        same: set[tuple[str, str]] = set()
        alone = True
        arrays, reach = bound.arrays, known.reach
        for view in self._written:
            if arrays[view.name].readonly:
                conditions.check_memory(self._kernel, bound)
        for written, other in self._pairs:
            a, b = arrays[written.name], arrays[other.name]
            (a_low, a_high), (b_low, b_high) = reach[written.name], reach[other.name]
            if a.pointer + a_low < b.pointer + b_high and b.pointer + b_low < a.pointer + a_high:
                pair = (written.name, other.name)
                if check_overlap(written, other, a, b, may_share=partial(self._may_share, known)):
                    same.add(pair)
                    alone &= known.variant.may_share(*pair)
        return frozenset() if alone else frozenset(same)

    def _may_share(self, known: Fitting, written: str, other: str) -> bool:
        return known.variant.may_share(written, other) or self._variants.copies(written, other)


def _extents(program: Program) -> Iterator[Extent]:
    """Every extent that a launch of the program evaluates."""
    yield program.length
    for segment in program.segments:
        yield from (axis.extent for axis in segment.axes)
    yield from (guard.extent for guard in program.guards)
    for buffer in program.workspace:
        yield from buffer.shape
