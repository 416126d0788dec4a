"""Every case of the testkit: ``ALL`` in file order, ``BY_NAME`` by name."""

from __future__ import annotations

from typing import Final

from intent_testkit.cases import (
    atomics,
    attention,
    broadcast,
    casts,
    collisions,
    control,
    corners,
    counting,
    dependent,
    effects,
    elementary,
    folds,
    foreseen,
    functions,
    gathers,
    generic_reduce,
    hazards,
    integers,
    layouts,
    loops,
    losses,
    matmul,
    memory,
    norms,
    ordered,
    packed,
    pointwise,
    products,
    ragged,
    reductions,
    scans,
    selection,
    serving,
    slices,
    softmax,
    states,
    workloads,
    workspaces,
)
from intent_testkit.cases.case import Case

_FAMILIES = (
    pointwise,
    elementary,
    integers,
    casts,
    broadcast,
    softmax,
    norms,
    losses,
    reductions,
    generic_reduce,
    matmul,
    layouts,
    slices,
    gathers,
    loops,
    dependent,
    control,
    functions,
    effects,
    hazards,
    corners,
    scans,
    selection,
    folds,
    attention,
    states,
    ordered,
    ragged,
    memory,
    packed,
    atomics,
    collisions,
    counting,
    workspaces,
    foreseen,
    workloads,
    products,
    serving,
)

ALL: Final[tuple[Case, ...]] = tuple(case for family in _FAMILIES for case in family.CASES)
BY_NAME: Final[dict[str, Case]] = {case.name: case for case in ALL}

if len(BY_NAME) != len(ALL):
    raise RuntimeError("two cases share a name")
