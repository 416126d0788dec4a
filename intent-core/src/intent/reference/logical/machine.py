"""The state of one evaluation: SSA values, extents, buffers, and the dispatch over operations."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.diagnostics import CompilerFault
from intent.reference.logical.choices import Choices
from intent.reference.logical.observer import Observer
from intent.types import Extent
from intent.types.extent import Atom, Dyn

Array = NDArray[Any]
Execute = Callable[["Machine", Any], None]


class Machine:
    """Executes operations one by one over whole arrays.

    ``values`` maps value ids to arrays (rank zero for scalars). Value ids are unique in a kernel, so one flat
    table serves all regions; running a region again overwrites its values. ``observer`` hears what happens.
    """

    def __init__(
        self,
        table: Mapping[type[kir.Op], Execute],
        choices: Choices,
        views: Mapping[str, Array],
        atoms: Mapping[Atom, int],
        observer: Observer | None = None,
    ) -> None:
        self.table = table
        self.choices = choices
        self.views = views
        self.values: dict[int, Array] = {}
        self.buffers: dict[int, Array] = {}
        self.bound: dict[Atom, int] = dict(atoms)
        self.atoms = _Atoms(self)
        self.observer = observer

    def __getitem__(self, value: kir.Value) -> Array:
        try:
            return self.values[value.id]
        except KeyError:
            raise CompilerFault(
                f"value %{value.id} is used before it is defined", stage="evaluation"
            ) from None

    def __setitem__(self, value: kir.Value, array: Any) -> None:
        array = np.asarray(array)
        if array.dtype != value.dtype.numpy:
            raise CompilerFault(
                f"value %{value.id} of {value.dtype} was computed as {array.dtype}", stage="evaluation"
            )
        self.values[value.id] = array

    def extent(self, extent: Extent) -> int:
        """The value of an extent at this point."""
        return extent.evaluate(self.atoms)

    def shape(self, shape: Sequence[Extent]) -> tuple[int, ...]:
        """The values of a shape at this point.

        A data-derived subregion that ends before it begins is invalid input and has no members (language decision 18).
        """
        return tuple(max(0, e.evaluate(self.atoms)) for e in shape)

    def bind_extent(self, extent: Extent, value: int) -> None:
        """Give the single atom that ``extent`` consists of the value ``value``."""
        ((monomial, factor),) = extent.terms
        (atom,) = monomial
        if factor != 1:
            raise CompilerFault(f"the slice extent {extent} is not a fresh identity", stage="evaluation")
        self.bound[atom] = value

    def resource(self, resource: kir.Resource) -> Array:
        """The memory of a view or buffer."""
        if isinstance(resource, kir.View):
            return self.views[resource.name]
        return self.buffers[resource.id]

    def execute(self, op: kir.Op) -> None:
        """Run one operation."""
        try:
            run = self.table[type(op)]
        except KeyError:
            raise CompilerFault(f"no evaluation of {type(op).__name__}", stage="evaluation") from None
        if self.observer is not None:
            self.observer.before(self, op)
        try:
            run(self, op)
        except CompilerFault as fault:
            raise fault.at(op.span) from None
        if self.observer is not None:
            self.observer.after(self, op)

    def run(self, region: kir.Region, arguments: Sequence[Array] = ()) -> tuple[Array, ...]:
        """Bind the region's arguments, run it, and give what it yields."""
        for parameter, argument in zip(region.args, arguments, strict=True):
            self[parameter] = argument
        for op in region.ops:
            self.execute(op)
        if self.observer is not None:
            self.observer.yielded(self, region)
        return tuple(self[v] for v in region.yields)

    @contextmanager
    def unobserved(self) -> Iterator[None]:
        """What runs inside is told to nobody."""
        saved, self.observer = self.observer, None
        try:
            yield
        finally:
            self.observer = saved

    def scalar(self, value: kir.Value) -> int:
        """A scalar integer or bool as a Python number."""
        return int(self[value])


class _Atoms(Mapping[Atom, int]):
    """Extent atoms: bound symbols and scalars, and the run-time values of SSA values."""

    def __init__(self, machine: Machine) -> None:
        self.machine = machine

    def __getitem__(self, atom: Atom) -> int:
        found = self.machine.bound.get(atom)
        if found is None and isinstance(atom, Dyn):
            return int(self.machine.values[atom.value])
        if found is None:
            raise CompilerFault(f"the extent symbol {atom} is not bound", stage="evaluation")
        return found

    def __iter__(self) -> Iterator[Atom]:
        return iter(self.machine.bound)

    def __len__(self) -> int:
        return len(self.machine.bound)
