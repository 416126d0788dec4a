"""Kernels of the logical IR built by hand, so that the evaluator is tested without the front end."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from intent import kir, physical
from intent.reference.logical import evaluate
from intent.types import dtypes, extent


class Build:
    """Appends operations to the innermost open region."""

    def __init__(self):
        self.count = 0
        self.stack = [[]]
        self.params = []
        self.args = []

    def fresh(self):
        self.count += 1
        return self.count

    def value(self, dtype, shape=()):
        return kir.Value(id=kir.ValueID(self.fresh()), dtype=dtype, shape=tuple(map(extent.as_extent, shape)))

    def view(self, name, dtype, shape, mode="in"):
        shape = tuple(extent.symbol(e) if isinstance(e, str) else extent.const(e) for e in shape)
        view = kir.View(name=name, dtype=dtype, shape=shape, mode=mode)
        self.params.append(view)
        return view

    def scalar(self, name, dtype):
        value = self.value(dtype)
        self.params.append(kir.ScalarParam(name=name, value=value))
        self.args.append(value)
        return value

    def op(self, node, /, *types, **fields):
        """Append ``node`` with results of ``types`` (dtype, shape); give the results."""
        results = tuple(self.value(dtype, shape) for dtype, shape in types)
        self.stack[-1].append(node(id=kir.OpID(self.fresh()), results=results, **fields))
        return results[0] if len(results) == 1 else results

    def const(self, value, dtype=dtypes.INDEX):
        return self.op(kir.Constant, (dtype, ()), value=value)

    def pw(self, fn, *operands, dtype=None):
        dtype = dtype or operands[-1].dtype
        return self.op(kir.Pointwise, (dtype, operands[0].shape), fn=fn, operands=operands)

    def iota(self, count, begin=0, step=1):
        begin = begin if isinstance(begin, kir.Value) else self.const(begin)
        step = step if isinstance(step, kir.Value) else self.const(step)
        return self.op(kir.Iota, (dtypes.INDEX, (count,)), begin=begin, step=step, domain=kir.DomainID(0))

    def all_of(self, view):
        return kir.Relation(
            coordinates=tuple(self.iota(e) for e in view.shape), axes=tuple((k,) for k in range(view.rank))
        )

    def load(self, view, relation=None, shape=None, valid=None, fill=None):
        relation = relation or self.all_of(view)
        shape = view.shape if shape is None else shape
        return self.op(kir.Load, (view.dtype, shape), source=view, relation=relation, valid=valid, fill=fill)

    def store(self, view, value, relation=None, valid=None):
        self.op(kir.Store, target=view, relation=relation or self.all_of(view), value=value, valid=valid)

    def region(self, types, body: Callable) -> kir.Region:
        """A region with arguments of ``types``; ``body(*args)`` appends and returns the yields."""
        args = tuple(self.value(dtype, shape) for dtype, shape in types)
        self.stack.append([])
        yields = body(*args)
        ops = self.stack.pop()
        yields = () if yields is None else yields if isinstance(yields, tuple) else (yields,)
        return kir.Region(id=kir.RegionID(self.fresh()), args=args, ops=tuple(ops), yields=yields)

    def kernel(self, **extra):
        (ops,) = self.stack
        body = kir.Region(id=kir.RegionID(0), args=tuple(self.args), ops=tuple(ops))
        return kir.Kernel(name=kir.KernelID("k"), params=tuple(self.params), body=body, **extra)

    def run(self, *args, adversary=None):
        evaluate(self.kernel(), args, adversary)


@pytest.fixture
def build():
    return Build()


@pytest.fixture
def apply_op():
    """Run one operation on whole arrays: ``apply_op(make, out_dtype, out_shape, *arrays)``."""

    def run(make, out, *arrays, adversary=None):
        b = Build()
        views = [b.view(f"x{k}", dtypes.from_numpy(a.dtype), a.shape) for k, a in enumerate(arrays)]
        targets = [b.view(f"y{k}", d, s, "out") for k, (d, s) in enumerate(out)]
        results = make(b, *(b.load(v) for v in views))
        results = results if isinstance(results, tuple) else (results,)
        for target, result in zip(targets, results, strict=True):
            b.store(target, result)
        outs = [np.zeros(s, d.numpy) for d, s in out]
        b.run(*arrays, *outs, adversary=adversary)
        return outs[0] if len(outs) == 1 else outs

    return run


class Assemble:
    """Physical programs built by hand: operations go to the innermost open region."""

    def __init__(self):
        self.count = 0
        self.stack = [[]]
        self.params = []

    def fresh(self):
        self.count += 1
        return self.count

    def fragment(self, dtype, dims=()):
        return physical.Fragment(id=self.fresh(), dtype=dtype, dims=tuple(dims))

    def view(self, name, dtype, shape, mode="in"):
        shape = tuple(extent.symbol(e) if isinstance(e, str) else extent.const(e) for e in shape)
        self.params.append(physical.View(name=name, dtype=dtype, shape=shape, mode=mode))
        return self.params[-1]

    def op(self, node, /, *types, **fields):
        results = tuple(self.fragment(dtype, dims) for dtype, dims in types)
        self.stack[-1].append(node(id=self.fresh(), results=results, **fields))
        return results[0] if len(results) == 1 else results

    def const(self, value, dtype=dtypes.INDEX):
        return self.op(physical.Constant, (dtype, ()), value=value)

    def launch(self, extent_value):
        return self.op(physical.LaunchValue, (dtypes.INDEX, ()), extent=extent_value)

    def lane(self, dim):
        return self.op(physical.Lane, (dtypes.INDEX, (dim,)), dim=dim)

    def pw(self, fn, *operands, dtype=None):
        dims = sorted({d for o in operands for d in o.dims})
        return self.op(physical.Pointwise, (dtype or operands[-1].dtype, dims), fn=fn, operands=operands)

    def load(self, source, *coordinates, valid=None, fill=None):
        used = (*coordinates, *(() if valid is None else (valid,)))
        dims = sorted({d for o in used for d in o.dims})
        return self.op(
            physical.Load,
            (source.dtype, dims),
            source=source,
            coordinates=coordinates,
            valid=valid,
            fill=fill,
            proofs=(physical.GUARD,) * len(coordinates),
        )

    def store(self, target, value, *coordinates, valid=None, dims=None):
        dims = tuple(sorted({d for o in (*coordinates, value) for d in o.dims}) if dims is None else dims)
        proofs = (physical.GUARD,) * len(coordinates)
        self.op(
            physical.Store,
            target=target,
            coordinates=coordinates,
            value=value,
            valid=valid,
            dims=dims,
            proofs=proofs,
        )

    def region(self, types, body):
        args = tuple(self.fragment(dtype, dims) for dtype, dims in types)
        self.stack.append([])
        yields = body(*args)
        ops = self.stack.pop()
        yields = () if yields is None else yields if isinstance(yields, tuple) else (yields,)
        return physical.Region(args=args, ops=tuple(ops), yields=yields)

    def program(self, length, body):
        """One segment of ``length`` programs; ``body(id)``."""
        length = extent.as_extent(length)
        region = self.region([(dtypes.INDEX, ())], body)
        segment = physical.Segment(group=0, axes=(), length=length, offset=extent.const(0), body=region)
        return physical.Program(name="p", params=tuple(self.params), segments=(segment,))


@pytest.fixture
def assemble():
    return Assemble()
