"""The kernel's own meaning on the inputs of a trial: whole tensors, statement by statement, in program order.

Relations are composed here by evaluating them: a coordinate is a tensor of numbers, and slices, broadcasts, reshapes
and transposes act on it as the logical program defines. Nothing of construction is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal

import numpy as np

from intent import kir
from intent.physical.verify.trial.events import Events
from intent.physical.verify.trial.inputs import Inputs
from intent.physical.verify.trial.points import Points
from intent.physical.verify.trial.ring import Array, Ring, fingerprint
from intent.types import Extent
from intent.types.dtypes import INDEX
from intent.types.extent import Atom, Dyn

__all__ = ["HANDLERS", "MOST_PASSES", "NOTHING", "Logical", "Unclean", "Undecided", "handles"]

NOTHING: Final = fingerprint("nothing")
"""What storage holds before it is written."""
MOST_MEMBERS: Final = 100_000
"""Members of a region beyond which it is a number gone wild, not an extent."""
MOST_POINTS: Final = 4_000
"""Passes of a counted loop beyond which the same holds."""
MOST_PASSES: Final = 40
"""Passes after which a ``while`` is ended on both sides: its end may rest on the numbers that the ring replaces."""


class Unclean(Exception):
    """The inputs break a rule of the language (a promise, a domain), so that the kernel has no meaning on them."""


class Undecided(Exception):
    """The kernel has more than one meaning in the ring, or none: what it holds is no exact arithmetic."""


Handler = Callable[["Logical", Any], None]
HANDLERS: Final[dict[type[kir.Op], Handler]] = {}


def handles(kind: type[kir.Op]) -> Callable[[Handler], Handler]:
    """Register what an operation does."""

    def register(function: Handler) -> Handler:
        HANDLERS[kind] = function
        return function

    return register


class _Extents(Mapping[Atom, int]):
    """Values of atoms: those of the launch, and those that are values of the kernel."""

    def __init__(self, launch: Mapping[Atom, int], values: dict[int, Array], bound: dict[Atom, int]) -> None:
        self._launch, self._values, self._bound = launch, values, bound

    def __getitem__(self, atom: Atom) -> int:
        if isinstance(atom, Dyn):
            found = self._bound.get(atom)
            return int(self._values[atom.value]) if found is None else found
        return self._launch[atom]

    def __iter__(self) -> Iterator[Atom]:
        return iter(self._launch)

    def __len__(self) -> int:
        return len(self._launch)


class Logical:
    """One execution of a kernel.

    ``blocks``: into how long slices each region operation cuts its source. ``in_order``: combines of the author's
    are applied to the identity and one element after the other, not pair by pair, and collisions backwards.
    """

    def __init__(
        self,
        kernel: kir.Kernel,
        inputs: Inputs,
        ring: Ring,
        blocks: Mapping[int, int],
        *,
        in_order: bool = False,
    ) -> None:
        self.kernel, self.inputs, self.ring, self.blocks = kernel, inputs, ring, blocks
        self.in_order = in_order
        self.values: dict[int, Array] = {}
        self.events = Events()
        self.slices: dict[Atom, int] = {}
        self.memory: dict[str, Array] = {}
        self.written: dict[int, Array] = {}
        self.buffers: dict[int, Array] = {}
        self.points: list[Points] = []
        """One for each parallel loop around what is executed."""
        self.allocations = 0
        self.lives: dict[int, int] = {}
        """Which allocation each buffer is of."""
        self.trace: dict[int, list[Array]] | None = None
        """What operations computed, by id; kept only when it is asked for."""
        self.extents = _Extents(inputs.extents, self.values, self.slices)

    def run(self) -> None:
        """Execute the kernel. Raises Unclean or Undecided."""
        for view in self.kernel.views:
            shape = self.inputs.size(view.shape)
            contents = self.inputs.contents(place(view), view.dtype, shape)
            known = self.memory.get(place(view))
            if known is None or known.size < contents.size:
                self.memory[place(view)] = contents
        arguments = [self.inputs.argument(p.name, p.value.dtype) for p in self.kernel.scalars]
        self.region(self.kernel.body, arguments)

    # -- regions -----------------------------------------------------------------------------------------------------

    def region(self, region: kir.Region, arguments: Sequence[Array]) -> tuple[Array, ...]:
        """Execute a region with these arguments; what it yields."""
        for value, array in zip(region.args, arguments, strict=True):
            self.values[value.id] = array
        for op in region.ops:
            HANDLERS[type(op)](self, op)
            if self.trace is not None:
                self.trace.setdefault(op.id, []).extend(self.values[r.id] for r in op.results)
        return tuple(self.values[value.id] for value in region.yields)

    def __getitem__(self, value: kir.Value) -> Array:
        return self.values[value.id]

    def __setitem__(self, value: kir.Value, array: Array) -> None:
        self.values[value.id] = np.asarray(array)

    def size(self, shape: Sequence[Extent]) -> tuple[int, ...]:
        """A shape in numbers."""
        return tuple([e.evaluate(self.extents) for e in shape])

    def touch(self, resource: kir.Resource, kind: Literal["read", "write"], elements: Array) -> None:
        """Elements of a resource are read or written at a point of every parallel loop around."""
        memory = place(resource) if isinstance(resource, kir.View) else (resource.id, self.lives[resource.id])
        for points in self.points:
            points.touch(memory, kind, elements)

    def number(self, value: kir.Value) -> int:
        """A scalar as a Python number."""
        return int(self.values[value.id])

    # -- relations ---------------------------------------------------------------------------------------------------

    def elements(
        self,
        relation: kir.Relation,
        extents: Sequence[int],
        shape: tuple[int, ...],
        assumed: Sequence[bool] = (),
    ) -> tuple[Array, Array]:
        """The row-major number of the element at every point of ``shape``, and which points are inside."""
        number = np.zeros((1,) * len(shape), np.int64)
        inside = np.ones((1,) * len(shape), np.bool_)
        for k, (coordinate, axes) in enumerate(zip(relation.coordinates, relation.axes, strict=True)):
            at = self.spread(self[coordinate], axes, len(shape))
            here = (at >= 0) & (at < extents[k])
            if k < len(assumed) and assumed[k] and not np.all(here):
                raise Unclean("a coordinate that is promised to be inside is not")
            inside = inside & here
            number = number * extents[k] + at
        return np.broadcast_to(number, shape), np.broadcast_to(inside, shape)

    def spread(self, array: Array, axes: Sequence[int], rank: int) -> Array:
        """Axis j of the array as axis ``axes[j]`` of a shape of this rank."""
        shape = [1] * rank
        for j, axis in enumerate(axes):
            shape[axis] = array.shape[j]
        return np.asarray(array).reshape(shape)


def place(view: kir.View) -> str:
    """What views that may be the same memory have in common."""
    return view.alias or view.name


# -- values without memory -------------------------------------------------------------------------------------


@handles(kir.Constant)
def _constant(m: Logical, op: kir.Constant) -> None:
    m[op.result] = m.ring.constant(op.value, op.result.dtype)


@handles(kir.ExtentValue)
def _extent(m: Logical, op: kir.ExtentValue) -> None:
    m[op.result] = np.asarray(op.extent.evaluate(m.extents), np.int64)


@handles(kir.Iota)
def _iota(m: Logical, op: kir.Iota) -> None:
    (count,) = m.size(op.result.shape)
    if count < 0:
        raise Unclean("a region ends before it begins")
    if count > MOST_MEMBERS:
        raise Unclean("a region has too many members")
    m[op.result] = m.number(op.begin) + m.number(op.step) * np.arange(count, dtype=np.int64)


@handles(kir.Pointwise)
def _pointwise(m: Logical, op: kir.Pointwise) -> None:
    m[op.result] = m.ring.pointwise(op.fn, op.operands[-1].dtype, tuple(m[v] for v in op.operands))


@handles(kir.Cast)
def _cast(m: Logical, op: kir.Cast) -> None:
    m[op.result] = m.ring.cast(m[op.value], op.value.dtype, op.result.dtype)


@handles(kir.Bitcast)
def _bitcast(m: Logical, op: kir.Bitcast) -> None:
    m[op.result] = m.ring.bitcast(m[op.value], op.value.dtype, op.result.dtype)


@handles(kir.Broadcast)
def _broadcast(m: Logical, op: kir.Broadcast) -> None:
    shape = m.size(op.result.shape)
    try:
        m[op.result] = np.broadcast_to(m.spread(m[op.value], op.axes, len(shape)), shape)
    except ValueError:
        raise Unclean("extents that a broadcast joins differ") from None


@handles(kir.Reshape)
def _reshape(m: Logical, op: kir.Reshape) -> None:
    try:
        m[op.result] = np.reshape(m[op.value], m.size(op.result.shape))
    except ValueError:
        raise Unclean("a reshape changes the number of elements") from None


@handles(kir.Transpose)
def _transpose(m: Logical, op: kir.Transpose) -> None:
    m[op.result] = np.transpose(m[op.value], op.permutation)


@handles(kir.Join)
def _join(m: Logical, op: kir.Join) -> None:
    m[op.result] = np.stack([m[op.lhs], m[op.rhs]], axis=-1)


# -- control -----------------------------------------------------------------------------------------------------------


@handles(kir.For)
def _for(m: Logical, op: kir.For) -> None:
    begin, end, step = m.number(op.begin), m.number(op.end), m.number(op.step)
    if step < 1:
        raise Unclean("a domain's step is not positive")
    if (end - begin) // step > MOST_POINTS:
        raise Unclean("a domain has too many members")
    if op.parallel:
        m.points.append(Points())
    carries = tuple(m[v] for v in op.inits)
    for point in range(begin, end, step):
        if op.parallel:
            m.points[-1].point = point
        carries = m.region(op.body, (np.asarray(point, INDEX.numpy), *carries))
    if op.parallel and m.points.pop().meet():
        raise Unclean("points of a parallel loop meet in an element")
    for value, array in zip(op.results, carries, strict=True):
        m[value] = array


@handles(kir.If)
def _if(m: Logical, op: kir.If) -> None:
    condition = m[op.condition]
    if condition.ndim == 0:
        yields = m.region(op.then if condition else op.orelse, ())
    else:  # a combine of scalars, applied to many elements at once
        sides = m.region(op.then, ()), m.region(op.orelse, ())
        yields = tuple(np.where(condition, a, b) for a, b in zip(*sides, strict=True))
    for value, array in zip(op.results, yields, strict=True):
        m[value] = array


@handles(kir.While)
def _while(m: Logical, op: kir.While) -> None:
    carries = tuple(m[v] for v in op.inits)
    for _ in range(MOST_PASSES):
        (more,) = m.region(op.condition, carries)
        if np.ndim(more):
            raise Undecided("a loop inside a combine")
        if not more:
            break
        carries = m.region(op.body, carries)
    for value, array in zip(op.results, carries, strict=True):
        m[value] = array
