"""Rules of a kernel's interface: parameters, symbols, domains, launch conditions, buffers."""

from __future__ import annotations

from collections.abc import Iterator

from intent.kir.control import For, While
from intent.kir.effects import BufferAlloc
from intent.kir.kernel import Kernel
from intent.kir.ops import Iota, Op
from intent.kir.value import Buffer, Region, View
from intent.kir.verify.rule import Problem, kernel_rule
from intent.kir.walk import regions_of, resources_of, walk
from intent.types import Extent
from intent.types.dtypes import BOOL
from intent.types.extent import Scalar, Symbol


@kernel_rule
def parameters_are_body_arguments(kernel: Kernel) -> Iterator[Problem]:
    """Parameter names are unique; the body's arguments are the scalar parameters' values, in order."""
    names = [p.name for p in kernel.params]
    yield from (
        Problem(f"parameter '{n}' is declared twice")
        for n in sorted({n for n in names if names.count(n) > 1})
    )
    if kernel.body.args != tuple(p.value for p in kernel.scalars):
        yield Problem("the body's arguments are not the scalar parameters")
    yield from (Problem(f"scalar parameter '{p.name}' has axes") for p in kernel.scalars if p.value.shape)


@kernel_rule
def symbols_are_bound(kernel: Kernel) -> Iterator[Problem]:
    """Every Symbol is an extent or stride symbol of a view, every Scalar an integer scalar parameter.

    What a branch asks may also be a bool.
    """
    symbols = {a.name for v in kernel.views for e in v.shape for a in e.atoms() if isinstance(a, Symbol)}
    symbols |= {s for v in kernel.views for s in v.strides or () if isinstance(s, str)}
    scalars = {p.name for p in kernel.scalars if p.value.dtype.is_integer}
    flags = {p.name for p in kernel.scalars if p.value.dtype is BOOL}
    for condition in kernel.conditions:
        for atom in (a for test in condition.when for e in (test.lhs, test.rhs) for a in e.atoms()):
            known = symbols if isinstance(atom, Symbol) else scalars | flags
            if isinstance(atom, Symbol | Scalar) and atom.name not in known:
                yield Problem(f"the test of a branch asks for {atom}, which is no parameter")
    for extent, op in _extents(kernel):
        for atom in extent.atoms():
            if isinstance(atom, Symbol) and atom.name not in symbols:
                yield Problem(f"symbol {atom} of extent {extent} belongs to no view", op)
            if isinstance(atom, Scalar) and atom.name not in scalars:
                yield Problem(f"{atom} of extent {extent} is no integer scalar parameter", op)


def _extents(kernel: Kernel) -> Iterator[tuple[Extent, Op | None]]:
    for condition in kernel.conditions:
        yield from ((condition.lhs, None), (condition.rhs, None))
    for op in walk(kernel.body):
        for value in (*op.results, *(v for region in regions_of(op) for v in region.args)):
            yield from ((extent, op) for extent in value.shape)
        extent = getattr(op, "extent", None)
        if isinstance(extent, Extent):
            yield extent, op


@kernel_rule
def conditions_are_launch_visible(kernel: Kernel) -> Iterator[Problem]:
    """Launch conditions speak only of what is known before launch (spec: kir-to-gpu-program 4)."""
    for condition in kernel.conditions:
        for extent in condition.extents:
            if not extent.launch_visible:
                yield Problem(f"the condition on {extent} cannot be checked before launch")


@kernel_rule
def domains_are_declared(kernel: Kernel) -> Iterator[Problem]:
    """Domain ids are unique, parents are declared before, and operations name declared domains."""
    known: set[int] = set()
    for domain in kernel.domains:
        if domain.id in known:
            yield Problem(f"domain {domain.id} is declared twice")
        if domain.parent is not None and domain.parent not in known:
            yield Problem(
                f"domain {domain.id} is a subregion of {domain.parent}, which is not declared before it"
            )
        known.add(domain.id)
    for op in walk(kernel.body):
        if isinstance(op, Iota | For | While) and op.domain is not None and op.domain not in known:
            yield Problem(f"domain {op.domain} is not declared", op)


@kernel_rule
def views_are_parameters(kernel: Kernel) -> Iterator[Problem]:
    """A view that an operation names is a parameter of the kernel."""
    views = set(kernel.views)
    for op in walk(kernel.body):
        for resource in resources_of(op):
            if isinstance(resource, View) and resource not in views:
                yield Problem(f"view '{resource.name}' is not a parameter", op)


@kernel_rule
def buffers_are_allocated(kernel: Kernel) -> Iterator[Problem]:
    """A buffer is allocated once, before its uses and in a scope around them (spec: kernel-and-host 6)."""
    allocated: set[int] = set()

    def region(body: Region, outer: frozenset[Buffer]) -> Iterator[Problem]:
        known = set(outer)
        for op in body.ops:
            if isinstance(op, BufferAlloc):
                if op.buffer.id in allocated:
                    yield Problem(f"buffer {op.buffer.id} is allocated twice", op)
                allocated.add(op.buffer.id)
                known.add(op.buffer)
            for resource in resources_of(op):
                if isinstance(resource, Buffer) and resource not in known:
                    yield Problem(f"buffer '{resource.name}' is used outside the scope of its allocation", op)
            for inner in regions_of(op):
                yield from region(inner, frozenset(known))

    yield from region(kernel.body, frozenset())
