"""The state of a batch of program instances that run together."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent.diagnostics import CompilerFault
from intent.physical import Buffer, Dim, Fragment, Op, Region, Resource, View
from intent.reference.physical.lanes import align, over_lanes
from intent.reference.physical.memory import Memory
from intent.reference.physical.races import Races
from intent.types import Extent
from intent.types.extent import Atom, Scalar, Symbol

Array = NDArray[Any]
Execute = Callable[["Batch", Any], None]
Watch = Callable[[Fragment, Array, Array | None], None]
"""Is shown every value: the fragment, its array as lanes.py describes, and which instances are active (None: all)."""
STAGE = "program evaluation"


class Launch:
    """What all instances of one launch share: the arguments, extents and invocation-wide buffers."""

    def __init__(
        self,
        table: Mapping[type[Op], Execute],
        views: Mapping[str, Array],
        scalars: Mapping[str, Any],
        extents: Mapping[str, int],
        *,
        find_races: bool = False,
        watch: Watch | None = None,
    ) -> None:
        self.watch = watch
        self.views = {name: Memory(array) for name, array in views.items()}
        self.races = Races(self.views.values()) if find_races else None
        self.scalars = scalars
        self.extents = _Extents(extents)
        self.alone = False
        """Whether the launch has a single instance."""
        self.buffers: dict[int, Memory] = {}
        self.constants: dict[int, Array] = {}
        self._table = table
        self._steps: dict[int, list[tuple[Execute, Op]]] = {}

    def steps(self, region: Region) -> list[tuple[Execute, Op]]:
        """The region's operations with the functions that run them."""
        found = self._steps.get(id(region))
        if found is None:
            for op in region.ops:
                if type(op) not in self._table:
                    raise CompilerFault(f"no evaluation of {type(op).__name__}", stage=STAGE, span=op.span)
            found = self._steps[id(region)] = [(self._table[type(op)], op) for op in region.ops]
        return found

    def extent(self, extent: Extent) -> int:
        """The value of a launch-visible extent."""
        return extent.evaluate(self.extents)

    def shape(self, shape: Sequence[Extent]) -> tuple[int, ...]:
        """The values of a shape."""
        return tuple(self.extent(e) for e in shape)


class _Extents(Mapping[Atom, int]):
    def __init__(self, names: Mapping[str, int]) -> None:
        self.names = names

    def __getitem__(self, atom: Atom) -> int:
        if isinstance(atom, Symbol | Scalar) and atom.name in self.names:
            return int(self.names[atom.name])
        raise CompilerFault(f"the extent {atom} is not bound at launch", stage=STAGE)

    def __iter__(self) -> Iterator[Atom]:
        return iter(Symbol(name) for name in self.names)

    def __len__(self) -> int:
        return len(self.names)


class Batch:
    """Instances with global ``ids``. ``active`` is a bool array over them, or None when all run.

    ``values`` maps fragment ids to arrays as lanes.py describes.
    """

    def __init__(self, launch: Launch, ids: NDArray[np.int64]) -> None:
        self.launch = launch
        self.ids = ids
        self.count = ids.size
        self.active: Array | None = None
        self.values: dict[int, Array] = {}
        self.buffers: dict[int, Memory] = {}

    def sub_batch(self, count: int) -> Batch:
        """A batch of ``count`` points in which a scalar region runs; all of them are active."""
        inner = Batch(self.launch, np.zeros(count, np.int64))
        inner.values = self.values
        return inner

    def get(self, fragment: Fragment, dims: Sequence[Dim] | None = None) -> Array:
        """The fragment's array, aligned to ``dims``."""
        try:
            array = self.values[fragment.id]
        except KeyError:
            raise CompilerFault(f"%{fragment.id} is used before it is defined", stage=STAGE) from None
        return array if dims is None or dims is fragment.dims else align(array, fragment.dims, dims)

    def set(self, fragment: Fragment, array: Array) -> None:
        """Define the fragment, after checking dtype and extents."""
        dims = fragment.dims
        if array.ndim != 1 + len(dims) and array.size == 1:
            array = array.reshape((1,) * (1 + len(dims)))
        shape = array.shape
        fits = len(shape) == 1 + len(dims) and shape[0] in (1, self.count)
        fits = fits and all(n in (1, d.size) for n, d in zip(shape[1:], dims, strict=True))
        if not fits or array.dtype != fragment.dtype.numpy:
            sizes = (self.count, *(d.size for d in dims))
            raise CompilerFault(
                f"%{fragment.id}, {fragment.dtype} over {sizes}, was computed as {array.dtype} {shape}",
                stage=STAGE,
            )
        self.values[fragment.id] = array
        if self.launch.watch is not None:
            self.launch.watch(fragment, array, self.active)

    def active_lanes(self, valid: Array | None, rank: int) -> Array | None:
        """``valid`` and the instances' activity together."""
        if self.active is None:
            return valid
        here = over_lanes(self.active, rank)
        return here if valid is None else here & valid

    def memory(self, resource: Resource) -> tuple[Memory, bool]:
        """The memory of a resource, and whether its first axis is the instance."""
        if isinstance(resource, View):
            return self.launch.views[resource.name], False
        if resource.scope == "invocation":
            return self._invocation(resource), False
        try:
            return self.buffers[resource.id], True
        except KeyError:
            raise CompilerFault(
                f"buffer {resource.name} is used before it is allocated", stage=STAGE
            ) from None

    def _invocation(self, buffer: Buffer) -> Memory:
        if buffer.id not in self.launch.buffers:
            shape, dtype = self.launch.shape(buffer.shape), buffer.dtype.numpy
            first = np.zeros(shape, dtype) if buffer.role == "arrival" else garbage(shape, dtype)
            self.launch.buffers[buffer.id] = Memory(first)
        return self.launch.buffers[buffer.id]

    def run(self, region: Region, arguments: Sequence[Array]) -> tuple[Array, ...]:
        """Bind the region's arguments, run it and give what it yields."""
        for parameter, argument in zip(region.args, arguments, strict=True):
            self.set(parameter, argument)
        op: Op | None = None
        try:
            for execute, op in self.launch.steps(region):
                execute(self, op)
        except CompilerFault as fault:
            raise fault.at(None if op is None else op.span) from None
        return tuple(self.get(v) for v in region.yields)

    def where(self, condition: Array, yes: Array, no: Array) -> Array:
        """A choice per instance."""
        return np.where(over_lanes(condition, yes.ndim - 1), yes, no)


def garbage(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Array:
    """What uninitialised storage holds: NaN or a large number."""
    out = np.empty(shape, dtype)
    out[...] = (
        np.nan if dtype.kind not in "bui" else np.array(True if dtype.kind == "b" else 77).astype(dtype)
    )
    return out
