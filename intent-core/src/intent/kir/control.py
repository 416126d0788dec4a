"""Structured control of the logical IR. break, continue and return are already normalised away."""

from __future__ import annotations

from dataclasses import dataclass

from intent.kir import roles as role
from intent.kir.ops import Op
from intent.kir.value import DomainID, Region, Value


@dataclass(frozen=True, kw_only=True)
class For(Op):
    """Iteration over ``begin, begin+step, ... < end`` (index scalars, step > 0). Results: final carries.

    ``body.args`` is (point, carries...), ``body.yields`` the next carries. ``parallel`` is the unordered forall
    of spec: logical-program 3 and has no carries. A ``for`` without effects is a value that yields.
    """

    begin: Value = role.operand()
    end: Value = role.operand()
    step: Value = role.operand()
    inits: tuple[Value, ...] = role.operands(())
    body: Region = role.region()
    parallel: bool = role.attribute(False)
    domain: DomainID = role.attribute()


@dataclass(frozen=True, kw_only=True)
class If(Op):
    """Scalar condition; both regions yield the results."""

    condition: Value = role.operand()
    then: Region = role.region()
    orelse: Region = role.region()


@dataclass(frozen=True, kw_only=True)
class While(Op):
    """``condition`` and ``body`` take the carries; ``condition`` yields one bool scalar.

    ``domain``: the subregion that a ``for`` with an early exit walks, its coordinate being the first carry, where
    only device data decides whether it lies inside its parent.
    """

    inits: tuple[Value, ...] = role.operands(())
    domain: DomainID | None = role.attribute(None)
    condition: Region = role.region()
    body: Region = role.region()
