"""Histograms as atomic counts in storage of the instance, which loops that only count on keep from pass to pass.

Requires: a verified program. Ensures: the same counts, whatever the order of the additions.

    %r = loop inits=(%zeros) body=^(%i, %n) {          buffer_alloc !c; store !c zeros; fence !c
      %m = histogram values=%v accumulator=%n     ->    loop body=^(%i) { atomic !c at %v kind=add 1 }
      yield %m                                          fence !c
    }                                                   %r = load !c
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from intent import physical as ph
from intent.passes.building import Builder
from intent.passes.expand.planes import counted_in_planes, planes
from intent.physical.counted import counting_chain
from intent.physical.walk import map_regions, operands_of, regions_of, walk
from intent.types import DType
from intent.types.dtypes import I32, I64, INDEX
from intent.types.extent import const

FEW_BINS = 8
"""So few bins cost less as tests of each value, and their counters would be fought over."""


def counted(
    program: ph.Program, most: int, atomics: Collection[tuple[str, str]], in_planes: int = 0
) -> ph.Program:
    """The program without histograms of more than ``most`` bins, but for those of few bins or without an atomic sum.

    Loops count up to ``in_planes`` bins in bit planes (``planes``), where they can.
    """

    def wanted(op: ph.Op) -> bool:
        if not isinstance(op, ph.Histogram) or op.bins.size <= max(most, FEW_BINS):
            return False
        return ("add", _dtype(op).name) in atomics

    found = {op.id for s in program.segments for op in walk(s.body) if wanted(op)}
    if not found:
        return program
    counting = _Counting(program, found, in_planes)
    segments = tuple(replace(s, body=counting.region(s.body, inside=False)) for s in program.segments)
    workspace = (*program.workspace, *counting.buffers)
    return replace(program, segments=segments, workspace=workspace, dims=counting.b.dims)


def _dtype(op: ph.Histogram) -> DType:
    """The counters' dtype: its sums, cut to the result's bits, are those of the result."""
    return I32 if op.result.dtype.bits <= I32.bits else I64


class _Counting:
    """Rewrites the histograms ``found``; ``buffers`` are the counters."""

    def __init__(self, program: ph.Program, found: set[int], in_planes: int) -> None:
        self.found = found
        self.in_planes = in_planes
        self.buffers: list[ph.Buffer] = []
        self.b = Builder(program)
        self.open: dict[int, ph.Buffer] = {}
        """The counters, by histogram, that a loop around it zeroes and reads."""
        self.uses: Counter[int] = Counter()
        self.defined: dict[int, ph.Op] = {}
        for op in (op for s in program.segments for op in walk(s.body)):
            self.uses.update(f.id for f in operands_of(op))
            self.uses.update(y.id for r in regions_of(op) for y in r.yields)
            self.defined.update((r.id, op) for r in op.results)

    def region(self, region: ph.Region, *, inside: bool) -> ph.Region:
        """The region with what counts in place of histograms; ``inside``: of a loop."""
        made: list[ph.Op] = []
        for op in region.ops:
            match op:
                case ph.Histogram() if op.id in self.found:
                    made += self._histogram(op, inside=inside)
                case ph.Loop():
                    made += self._loop(op, inside=inside)
                case _:
                    again = inside or isinstance(op, ph.While)
                    made.append(map_regions(op, lambda r, again=again: self.region(r, inside=again)))  # type: ignore[misc]
        return replace(region, ops=tuple(made))

    def _histogram(self, op: ph.Histogram, *, inside: bool) -> list[ph.Op]:
        if op.id in self.open:
            return self._counts(op, self.open[op.id])
        buffer, zeroed = self._zeroed(op, inside=inside)
        return [*zeroed, *self._counts(op, buffer), *self._read(op, buffer, op.result, op.accumulator)]

    def _loop(self, op: ph.Loop, *, inside: bool) -> list[ph.Op]:
        """The loop without the carries that only count on."""
        chains = {} if op.summary else self._chains(op)
        before: list[ph.Op] = []
        after: list[ph.Op] = []
        for k, chain in chains.items():
            if chain[0].id in self.open:
                continue
            buffer, zeroed = self._zeroed(chain[0], inside=inside)
            before += zeroed
            self.open |= {h.id: buffer for h in chain}
            after += self._read(chain[0], buffer, op.results[k], op.inits[k])
        kept = [k for k in range(len(op.results)) if k not in chains]
        only = None if kept else counted_in_planes(self.b, op, self.in_planes)
        if only is not None and only.id in self.open:
            return [*before, *planes(self.b, op, only, self.open[only.id]), *after]

        def some(values: Sequence[ph.Fragment]) -> tuple[ph.Fragment, ...]:
            return tuple(values[k] for k in kept)

        body = self.region(op.body, inside=True)
        body = replace(body, args=(body.args[0], *some(body.args[1:])), yields=some(body.yields))
        loop = replace(op, results=some(op.results), inits=some(op.inits), body=body)
        return [*before, loop, *after]

    def _chains(self, op: ph.Loop) -> dict[int, list[ph.Histogram]]:
        found = {}
        for k in range(len(op.results)):
            chain = counting_chain(op, k, self.uses, self.defined)
            if chain and all(h.id in self.found for h in chain):
                found[k] = chain
        return found

    # -- counters ----------------------------------------------------------------------------------------------------

    def _lanes(self, op: ph.Histogram, dims: Sequence[ph.Dim]) -> tuple[ph.Fragment, ...]:
        return tuple(self.b.add(ph.Lane, INDEX, (d,), dim=d, name=d.name) for d in dims)

    def _effect(self, node: type[ph.Op], op: ph.Op, **payload: Any) -> None:
        self.b.append(node(id=self.b.fresh(), origin=op.origin, span=op.span, **payload))

    def _zeroed(self, op: ph.Histogram, *, inside: bool) -> tuple[ph.Buffer, list[ph.Op]]:
        """Fresh counters for every lane of the result, all zero."""
        b, dims, dtype = self.b, op.result.dims, _dtype(op)
        shape = tuple(const(d.size) for d in dims)
        buffer = ph.Buffer(id=b.fresh(), name=f"{op.bins.name}_counters", dtype=dtype, shape=shape)
        self.buffers.append(buffer)
        b.span, b.origin = op.span, op.origin
        with b.region(alone=True) as made:
            self._effect(ph.BufferAlloc, op, buffer=buffer)
            if inside:
                # The storage is that of the pass before, whose reads by other lanes must be over.
                self._effect(ph.Fence, op, target=buffer)
            lanes, zero = self._lanes(op, dims), b.constant(0, dtype)
            proofs = tuple(ph.REGION for _ in dims)
            self._effect(ph.Store, op, target=buffer, coordinates=lanes, value=zero, dims=dims, proofs=proofs)
            self._effect(ph.Fence, op, target=buffer)
        return buffer, made

    def _counts(self, op: ph.Histogram, buffer: ph.Buffer) -> list[ph.Op]:
        """One more in the counter of each value that counts."""
        b = self.b
        b.span, b.origin = op.span, op.origin
        with b.region(alone=True) as made:
            # Compared as coordinates: narrowing the bin to the values' dtype could make it another bin.
            value = op.values
            if value.dtype is not INDEX:
                value = b.add(ph.Cast, INDEX, value.dims, value=value)
            test = b.pointwise(
                "and", b.compare("ge", value, b.index(0)), b.compare("lt", value, b.index(op.bins.size))
            )
            if op.valid is not None:
                test = b.pointwise("and", test, op.valid)
            lanes = dict(zip(op.result.dims, self._lanes(op, op.result.dims), strict=True))
            at = tuple(value if d == op.bins else lanes[d] for d in op.result.dims)
            proofs = tuple(ph.GUARD if d == op.bins else ph.REGION for d in op.result.dims)
            one = b.constant(1, buffer.dtype)
            self._effect(
                ph.Atomic, op, target=buffer, coordinates=at, kind="add", operands=(one,), valid=test,
                sharing="instance", dims=b.union((*at, test)), proofs=proofs,
            )  # fmt: skip
        return made

    def _read(
        self, op: ph.Histogram, buffer: ph.Buffer, result: ph.Fragment, before: ph.Fragment | None
    ) -> list[ph.Op]:
        """What was counted, on top of ``before``, as ``result``."""
        b, dims = self.b, result.dims
        b.span, b.origin = op.span, op.origin
        with b.region(alone=True) as made:
            self._effect(ph.Fence, op, target=buffer)
            lanes, proofs = self._lanes(op, dims), tuple(ph.REGION for _ in dims)
            load: dict[str, Any] = {"source": buffer, "coordinates": lanes, "proofs": proofs}
            total = b.add(ph.Load, buffer.dtype, dims, name=result.name, **load)
            if total.dtype is not result.dtype:
                total = b.add(ph.Cast, result.dtype, dims, value=total, name=result.name)
            if before is not None and b.known.value(before) != 0:
                b.pointwise("add", before, total, name=result.name)
        made[-1] = replace(made[-1], results=(result,))
        return made
