"""A short hand for kernels of the logical IR that tests write out."""

from __future__ import annotations

import pytest

from intent.kir import (
    Constant,
    DomainInfo,
    ExtentValue,
    Iota,
    Kernel,
    Region,
    Relation,
    ScalarParam,
    Value,
    View,
)
from intent.types.dtypes import INDEX
from intent.types.extent import as_extent


class Kit:
    """Collects parameters and operations; every method that makes an operation returns its result."""

    def __init__(self):
        self.params = []
        self.domains = []
        self.conditions = []
        self.ops = []
        self._next = 0

    def fresh(self):
        self._next += 1
        return self._next - 1

    def value(self, dtype, *shape, name=""):
        return Value(id=self.fresh(), dtype=dtype, shape=tuple(map(as_extent, shape)), name=name)

    def view(self, name, dtype, *shape, mode="in"):
        view = View(name=name, dtype=dtype, shape=tuple(map(as_extent, shape)), mode=mode)
        self.params.append(view)
        return view

    def scalar(self, name, dtype):
        value = self.value(dtype, name=name)
        self.params.append(ScalarParam(name=name, value=value))
        return value

    def op(self, node, *results, **fields):
        made = node(id=self.fresh(), results=results, **fields)
        self.ops.append(made)
        return results[0] if results else made

    def constant(self, dtype, value):
        return self.op(Constant, self.value(dtype), value=value)

    def extent(self, extent):
        return self.op(ExtentValue, self.value(INDEX), extent=as_extent(extent))

    def iota(self, extent):
        domain = DomainInfo(id=len(self.domains), name="axis")
        self.domains.append(domain)
        begin, step = self.extent(0), self.extent(1)
        return self.op(Iota, self.value(INDEX, extent), begin=begin, step=step, domain=domain.id)

    def relation(self, *coordinates):
        """Coordinates in order, each of rank at most one; vectors take the relation's axes in order."""
        axes, axis = [], 0
        for coordinate in coordinates:
            axes.append((axis,) if coordinate.shape else ())
            axis += len(coordinate.shape)
        return Relation(coordinates=coordinates, axes=tuple(axes))

    def region(self, *args, body=lambda *_: ()):
        """A region with these arguments; ``body(*args)`` makes its operations and returns what it yields."""
        outer, self.ops = self.ops, []
        yields = tuple(body(*args))
        made = Region(id=self.fresh(), args=args, ops=tuple(self.ops), yields=yields)
        self.ops = outer
        return made

    def kernel(self, **fields):
        scalars = tuple(p.value for p in self.params if isinstance(p, ScalarParam))
        defaults = {
            "name": "k",
            "params": tuple(self.params),
            "domains": tuple(self.domains),
            "conditions": tuple(self.conditions),
            "body": Region(id=self.fresh(), args=scalars, ops=tuple(self.ops)),
        }
        return Kernel(**(defaults | fields))


@pytest.fixture
def kit():
    return Kit()
