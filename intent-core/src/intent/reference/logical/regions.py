"""Homomorphic region operations (spec: logical-program 5): any segmentation, any parenthesisation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent import kir
from intent.reference.logical.machine import Machine

Array = NDArray[Any]
Components = tuple[Array, ...]


def region_fold(machine: Machine, op: kir.RegionFold) -> None:
    """Summaries of contiguous slices, combined in order; the identity for an empty source."""
    identity = _identity(machine, op)
    source = [machine[v] for v in op.source]
    extent = source[0].shape[op.axis]
    summaries = [] if extent == 0 else [
        _summarize(machine, op, source, begin, end) for begin, end in machine.choices.segments(extent)
    ]  # fmt: skip
    if machine.choices.with_identity():
        summaries = [identity, *summaries]
    if machine.choices.with_identity():
        summaries = [*summaries, identity]
    total = _fold(machine, op, summaries, 0, len(summaries) - 1) if summaries else identity
    for value, array in zip(op.results, total, strict=True):
        machine[value] = array


def _identity(machine: Machine, op: kir.RegionFold | kir.RegionScan) -> Components:
    """Identity components at the summary's shapes; a scalar may stand for a whole component."""
    yields = op.combine.yields
    given = [machine[v] for v in op.identity]
    return tuple(
        np.array(np.broadcast_to(g, machine.shape(y.shape))) for g, y in zip(given, yields, strict=True)
    )


def _slice(op: kir.RegionFold | kir.RegionScan, source: list[Array], begin: int, end: int) -> list[Array]:
    where = (slice(None),) * op.axis + (slice(begin, end),)
    return [s[where] for s in source]


def _summarize(
    machine: Machine, op: kir.RegionFold | kir.RegionScan, source: list[Array], begin: int, end: int
) -> Components:
    machine.bind_extent(op.slice_extent, end - begin)
    captures = [machine[v] for v in op.captures]
    return machine.run(op.summarize, [*_slice(op, source, begin, end), *captures])


def _fold(
    machine: Machine, op: kir.RegionFold, summaries: list[Components], first: int, last: int
) -> Components:
    if first == last:
        return summaries[first]
    cut = machine.choices.split(first, last)
    left = _fold(machine, op, summaries, first, cut)
    right = _fold(machine, op, summaries, cut + 1, last)
    return machine.run(op.combine, [*left, *right])


def region_scan(machine: Machine, op: kir.RegionScan) -> None:
    """Slices are emitted with the state that their prefix's summary gives; then the final state."""
    initial = [machine[v] for v in op.initial]
    source = [machine[v] for v in op.source]
    captures = [machine[v] for v in op.captures]
    extent = source[0].shape[op.axis]
    prefix = _identity(machine, op)
    pieces: list[Components] = []
    for begin, end in machine.choices.segments(extent) if extent else []:
        state = machine.run(op.apply, [*prefix, *initial])
        machine.bind_extent(op.slice_extent, end - begin)
        pieces.append(machine.run(op.emit, [*_slice(op, source, begin, end), *state, *captures]))
        summary = _summarize(machine, op, source, begin, end)
        # An identity prefix may or may not take part.
        if len(pieces) == 1 and not machine.choices.with_identity():
            prefix = summary
        else:
            prefix = machine.run(op.combine, [*prefix, *summary])
    outputs = op.results[: op.outputs]
    for k, value in enumerate(outputs):
        if pieces:
            machine[value] = np.concatenate([p[k] for p in pieces], axis=op.output_axis)
        else:
            machine[value] = np.empty(machine.shape(value.shape), value.dtype.numpy)
    for value, array in zip(
        op.results[op.outputs :], machine.run(op.apply, [*prefix, *initial]), strict=True
    ):
        machine[value] = array
