"""Whether a destination relation reaches every element at most once (spec: logical-program 9).

Each coordinate is read back, through its SSA definition, as an integer expression over one unknown per relation axis.
The relation is injective when the coordinates determine every unknown. The rules are structural:

* an affine coordinate ``k*a + c`` (constant k != 0) determines axis a;
* ``t`` is determined by ``t // m`` and ``t % m``, so mixed-radix digits ``e//(a*b), e%(a*b)//b, e%b`` determine e;
* a linear coordinate ``a0*S0 + a1*S1 + ...`` whose strides are products of the extents below is a flattened index.

What they do not show is not proven; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from intent.kir import (
    Broadcast,
    Cast,
    Constant,
    ExtentValue,
    Iota,
    Op,
    Pointwise,
    Relation,
    Reshape,
    Transpose,
    Value,
)
from intent.types import Extent
from intent.types.extent import Call, Dyn, const, dyn, floordiv

if TYPE_CHECKING:
    from intent.frontend.emission import Emitter

_UNKNOWN_BASE = -1
"""Unknown of relation axis k is ``Dyn(-1 - k)``: no SSA value has a negative id."""


def injective(emitter: Emitter, relation: Relation, shape: tuple[Extent, ...]) -> bool:
    """Whether distinct elements of ``shape`` have distinct coordinates, by the rules above."""
    unknowns = {k: position(k) for k in range(len(shape)) if shape[k].const != 1}
    found: set[Extent] = set()
    for coordinate, axes in zip(relation.coordinates, relation.axes, strict=True):
        expression = read_back(emitter.defs, coordinate, axes)
        if expression is not None:
            found.add(expression)
    return _determined(found, unknowns, shape)


def _determined(found: set[Extent], unknowns: dict[int, Dyn], shape: tuple[Extent, ...]) -> bool:
    """Whether the expressions fix every unknown; solved unknowns become known and help with the rest."""
    open_ = dict(unknowns)
    progress = True
    while open_ and progress:
        progress = False
        for axis, unknown in list(open_.items()):
            others = [u for u in open_.values() if u != unknown]
            usable = {e for e in found if not any(a in others for a in e.atoms())}
            if _fixes(usable, unknown):
                del open_[axis]
                progress = True
        if not progress:
            for expression in found:
                solved = _flattened(expression, open_, shape)
                if solved:
                    for axis in solved:
                        del open_[axis]
                    progress = True
                    break
    return not open_


def _fixes(found: set[Extent], unknown: Dyn) -> bool:
    """Whether expressions in one unknown determine it."""
    target = Extent((((unknown,), 1),))
    # Known atoms count as constants: an expression determines each of its single terms that holds the unknown.
    known = {_single(e, unknown) for e in found}
    moduli = {
        a.args[1] for e in found for a in e.atoms() if isinstance(a, Call) and a.op in ("floordiv", "mod")
    }
    return _reachable(target, known, moduli, len(known))


def _reachable(term: Extent, known: set[Extent | None], moduli: set[Extent], fuel: int) -> bool:
    """Whether ``term`` follows from known digits; each step down uses at least one of them (``fuel``)."""
    if term in known:
        return True
    return fuel > 1 and any(
        _reachable(_remainder(term, m), known, moduli, fuel - 1)
        and _reachable(_quotient(term, m), known, moduli, fuel - 1)
        for m in moduli
    )


def _single(expression: Extent, unknown: Dyn) -> Extent | None:
    """The only term that holds the unknown, if its coefficient is a constant: ``3*(e//m) + c`` gives ``e//m``."""
    holding = [m for m, _ in expression.terms if any(_holds(a, unknown) for a in m)]
    if len(holding) != 1 or len(holding[0]) != 1:
        return None
    return Extent(((holding[0], 1),))


def _holds(atom: object, unknown: Dyn) -> bool:
    return atom == unknown or (
        isinstance(atom, Call) and any(a == unknown for e in atom.args for a in e.atoms())
    )


def _quotient(term: Extent, modulus: Extent) -> Extent:
    """``term // modulus`` with ``(t // a) // b`` written as ``t // (a*b)``."""
    atom = _atom(term)
    if isinstance(atom, Call) and atom.op == "floordiv":
        return _quotient(atom.args[0], atom.args[1] * modulus)
    return floordiv(term, modulus)


def _remainder(term: Extent, modulus: Extent) -> Extent:
    """``term % modulus`` with ``(t % (a*b)) % b`` written as ``t % b``."""
    atom = _atom(term)
    if isinstance(atom, Call) and atom.op == "mod" and (atom.args[1] % modulus).const == 0:
        return _remainder(atom.args[0], modulus)
    return Extent((((Call("mod", (term, modulus)),), 1),))


def _atom(term: Extent) -> object:
    if len(term.terms) == 1 and term.terms[0][1] == 1 and len(term.terms[0][0]) == 1:
        return term.terms[0][0][0]
    return None


def _flattened(expression: Extent, open_: dict[int, Dyn], shape: tuple[Extent, ...]) -> list[int]:
    """Axes fixed by one linear expression whose strides are mixed-radix; empty when it is not of that form."""
    strides: dict[int, Extent] = {}
    for monomial, k in expression.terms:
        held = [axis for axis, u in open_.items() if any(_holds(a, u) for a in monomial)]
        if not held:
            continue
        axis = held[0]
        rest = tuple(a for a in monomial if a != open_[axis])
        if (
            len(held) != 1
            or len(rest) != len(monomial) - 1
            or any(_holds(a, open_[axis]) for a in rest)
            or k < 0
        ):
            return []
        strides[axis] = strides.get(axis, const(0)) + Extent(((rest, k),))
    order: list[int] = []
    remaining = dict(strides)
    following = _smallest(remaining)
    while following is not None:
        step = remaining.pop(following) * shape[following]
        order.append(following)
        following = next((axis for axis, stride in remaining.items() if stride is step), None)
    return [] if remaining else order


def _smallest(strides: dict[int, Extent]) -> int | None:
    """The axis with the smallest constant stride."""
    constant = {a: s.const for a, s in strides.items() if s.const is not None and s.const > 0}
    return min(constant, key=lambda a: constant[a]) if constant else None


def position(axis: int) -> Dyn:
    """The unknown that stands for the position along a relation axis."""
    return Dyn(_UNKNOWN_BASE - axis)


def read_back(defs: dict[int, Op], value: Value, axes: tuple[int | None, ...]) -> Extent | None:
    """``value`` as an expression over the unknowns of ``axes``, or None when it has no such form.

    ``axes`` names the relation axis of each axis of the value; None stands for position 0.
    """
    op = defs.get(value.id)
    if isinstance(op, Iota):
        begin, step = read_back(defs, op.begin, ()), read_back(defs, op.step, ())
        if begin is None or step is None:
            return None
        return begin if axes[0] is None else begin + step * dyn(_UNKNOWN_BASE - axes[0])
    if isinstance(op, Broadcast):
        inner: list[int | None] = []
        for extent, axis in zip(op.value.shape, op.axes, strict=True):
            if extent is not value.shape[axis] and extent.const != 1:
                return None
            inner.append(axes[axis] if extent is value.shape[axis] else None)
        return read_back(defs, op.value, tuple(inner))
    if isinstance(op, Transpose):
        inverse: list[int | None] = [None] * len(axes)
        for k, a in enumerate(op.permutation):
            inverse[a] = axes[k]
        return read_back(defs, op.value, tuple(inverse))
    if isinstance(op, Reshape) and op.value.rank == 1 and value.rank == 1:
        return read_back(defs, op.value, axes)
    if isinstance(op, Cast):
        return read_back(defs, op.value, axes)
    if isinstance(op, Pointwise):
        return _pointwise(op, [read_back(defs, o, axes) for o in op.operands])
    if value.shape:
        return None
    return _scalar(op, value)


def _scalar(op: Op | None, value: Value) -> Extent:
    if isinstance(op, Constant) and isinstance(op.value, int):
        return const(op.value)
    if isinstance(op, ExtentValue):
        return op.extent
    return dyn(value.id)


def _pointwise(op: Pointwise, operands: Iterable[Extent | None]) -> Extent | None:
    parts = [o for o in operands if o is not None]
    if len(parts) != len(op.operands):
        return dyn(op.result.id) if not op.result.shape else None
    match op.fn:
        case "add":
            return parts[0] + parts[1]
        case "sub":
            return parts[0] - parts[1]
        case "mul":
            return parts[0] * parts[1]
        case "neg":
            return -parts[0]
        case "floordiv":
            return _quotient(parts[0], parts[1])
        case "mod":
            return _remainder(parts[0], parts[1])
        case _:
            return dyn(op.result.id) if not op.result.shape else None
