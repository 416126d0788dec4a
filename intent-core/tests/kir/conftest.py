"""A short hand for kernels of the logical IR that tests write out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from intent.diagnostics import VerificationError
from intent.kir import (
    Constant,
    DomainInfo,
    ExtentValue,
    Iota,
    Kernel,
    Load,
    Pointwise,
    Reduce,
    Region,
    RegionFold,
    Relation,
    ScalarParam,
    ScatterReduce,
    Value,
    View,
)
from intent.kir.verify import verify
from intent.types.dtypes import F32, INDEX
from intent.types.extent import as_extent, dyn, symbol


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

    def tensor(self, dtype, *shape):
        """A value of any dtype and shape, read from a fresh view."""
        view = self.view(f"v{self.fresh()}", dtype, *shape)
        relation = self.relation(*(self.iota(extent) for extent in view.shape))
        return self.op(Load, self.value(dtype, *shape), source=view, relation=relation)

    def add(self, a, b):
        return self.op(Pointwise, self.value(a.dtype, *a.shape), fn="add", operands=(a, b))

    def combine(self, dtype, *shape):
        """A region that adds its two arguments."""
        arguments = self.value(dtype, *shape), self.value(dtype, *shape)
        return self.region(*arguments, body=lambda a, b: (self.add(a, b),))

    def fold(self, extent=None):
        """A kernel with one region fold; ``extent`` stands for the slice's."""
        x, zero = self.tensor(F32, symbol("M")), self.constant(F32, 0.0)
        cut = dyn(self.fresh()) if extent is None else extent

        def total(part):
            return (self.op(Reduce, self.value(F32), operands=(part,), axes=(0,), kind="sum"),)

        self.op(
            RegionFold,
            self.value(F32),
            source=(x,),
            axis=0,
            slice_extent=cut,
            identity=(zero,),
            summarize=self.region(self.value(F32, cut), body=total),
            combine=self.combine(F32),
        )
        return self.kernel()

    def scatter(self):
        """A kernel with one scatter reduction by a combine region."""
        value = self.tensor(F32, symbol("M"))
        y = self.view("y", F32, symbol("M"), mode="inout")
        relation = self.relation(self.iota(symbol("M")))
        self.op(ScatterReduce, target=y, relation=relation, value=value, combine=self.combine(F32))
        return self.kernel()

    @staticmethod
    def spoil(kernel, node, **fields):
        """The kernel with fields of its last operation of a class replaced."""
        ops = list(kernel.body.ops)
        place = max(k for k, op in enumerate(ops) if isinstance(op, node))
        ops[place] = replace(ops[place], **fields)
        return replace(kernel, body=replace(kernel.body, ops=tuple(ops)))

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


@pytest.fixture
def breaks(kit):
    """``breaks(rule, build)``: ``build(kit)`` gives a kernel that verifies, and one that breaks just this rule."""

    def check(rule, build):
        right, wrong = build(kit)
        verify(right)
        with pytest.raises(VerificationError) as error:
            verify(wrong)
        assert error.value.rule == rule

    return check
