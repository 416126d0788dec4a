"""Rules on accesses: one coordinate and one proof per axis, validity, dims covered, atomics complete."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, get_args

from intent.physical.fragment import Fragment, View
from intent.physical.ops import Atomic, Load, Store
from intent.physical.program import Program
from intent.physical.proof import ProofKind
from intent.physical.verify.rule import ACCESS, ATOMIC, BOUNDS, OWNERSHIP, Problem, Rule, operations
from intent.physical.verify.values import union
from intent.types.dtypes import BOOL, INDEX

__all__ = ["RULES"]

Access = Load | Store | Atomic


def _accesses(program: Program) -> Iterator[Access]:
    for op in operations(program):
        if isinstance(op, (Load, Store, Atomic)):
            yield op


def access_complete(program: Program) -> Iterator[Problem]:
    """One index coordinate per axis of the resource; validity is bool; value and fill have its dtype."""
    for op in _accesses(program):
        resource = op.source if isinstance(op, Load) else op.target
        if len(op.coordinates) != resource.rank:
            text = f"'{resource.name}' has rank {resource.rank}, the access {len(op.coordinates)} coordinates"
            yield Problem(text=text, op=op)
        if any(coordinate.dtype != INDEX for coordinate in op.coordinates):
            yield Problem(text="every coordinate must be index", op=op)
        if op.valid is not None and op.valid.dtype != BOOL:
            yield Problem(text="validity must be bool", op=op)
        values = _values_of(op)
        if any(value.dtype != resource.dtype for value in values):
            yield Problem(text=f"'{resource.name}' holds {resource.dtype}", op=op)
        if isinstance(op, Load):
            yield from _load(op, program)
        elif isinstance(resource, View) and resource.mode == "in" and getattr(op, "kind", "") != "load":
            yield Problem(text=f"'{resource.name}' is read-only", op=op)


def _values_of(op: Access) -> tuple[Fragment, ...]:
    match op:
        case Load():
            return op.results if op.fill is None else (*op.results, op.fill)
        case Store():
            return (op.value,)
        case Atomic():
            return op.operands


def _load(op: Load, program: Program) -> Iterator[Problem]:
    if len(op.results) != 1:
        yield Problem(text="a load has one result", op=op)
        return
    expected = union(program, *op.coordinates, op.valid)
    if op.result.dims != expected:
        wanted = ", ".join(map(str, expected)) or "none"
        yield Problem(text=f"the result must have the dims {wanted}", op=op)
    if op.fill is not None and not set(op.fill.dims) <= set(expected):
        yield Problem(text="the fill has dims that the result has not", op=op)


def access_proof(program: Program) -> Iterator[Problem]:
    """Every coordinate carries its proof; a proof by guard or predicate needs the validity that it rests on."""
    for op in _accesses(program):
        if len(op.proofs) != len(op.coordinates):
            yield Problem(text=f"{len(op.coordinates)} coordinates have {len(op.proofs)} proofs", op=op)
        for proof in op.proofs:
            if proof.kind not in get_args(ProofKind):
                yield Problem(text=f"'{proof}' is no proof", op=op)
        if op.valid is None and any(proof.kind in _BY_VALIDITY for proof in op.proofs):
            yield Problem(text="a coordinate is proven by guard, but the access has no validity", op=op)


_BY_VALIDITY: Final = ("guard", "predicate")
"""Proofs that hold on the lanes that the access's validity lets through, and on no others."""


def store_cover(program: Program) -> Iterator[Problem]:
    """An effect's operands lie within its execution dims; a store's every lane has coordinates of its own."""
    for op in _accesses(program):
        if isinstance(op, Load):
            continue
        operands = (*op.coordinates, *_values_of(op), *(() if op.valid is None else (op.valid,)))
        outside = {dim for value in operands for dim in value.dims} - set(op.dims)
        for dim in sorted(outside):
            yield Problem(text=f"an operand has dim {dim}, which the effect does not run over", op=op)
        if isinstance(op, Store):
            mentioned = {dim for coordinate in op.coordinates for dim in coordinate.dims}
            if op.valid is not None:  # of lanes that a predicate tells apart, the author promised at most one
                mentioned.update(op.valid.dims)
            for dim in op.dims:
                if dim not in mentioned and dim.size > 1:
                    yield Problem(
                        text=f"no coordinate mentions dim {dim}: its lanes write one element", op=op
                    )


_OPERANDS: Final = {"load": 0, "compare_exchange": 2}


def atomic_schema(program: Program) -> Iterator[Problem]:
    """Operand count, result schema (old value; old value and success) and a sharing domain per kind."""
    for op in _accesses(program):
        if not isinstance(op, Atomic):
            continue
        if len(op.operands) != _OPERANDS.get(op.kind, 1):
            yield Problem(text=f"'{op.kind}' takes {_OPERANDS.get(op.kind, 1)} operands", op=op)
        element = op.target.dtype
        wanted = [element, BOOL] if op.kind == "compare_exchange" else [element]
        if op.kind == "store":
            wanted = []
        # An old value that nothing reads may be left out as a whole, never in part.
        if op.results and [result.dtype for result in op.results] != wanted:
            yield Problem(text=f"'{op.kind}' gives {', '.join(map(str, wanted)) or 'nothing'}", op=op)
        if any(set(result.dims) != set(op.dims) for result in op.results):
            yield Problem(text="old values have the execution dims", op=op)
        if op.sharing == "instance" and isinstance(op.target, View):
            yield Problem(text="an external view is shared by the whole invocation", op=op)


RULES: Final = (
    Rule(name="access-complete", sentence=ACCESS, check=access_complete),
    Rule(name="access-proof", sentence=BOUNDS, check=access_proof),
    Rule(name="store-cover", sentence=OWNERSHIP, check=store_cover),
    Rule(name="atomic-schema", sentence=ATOMIC, check=atomic_schema),
)
