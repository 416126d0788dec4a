"""What a rule is: a named check of a whole kernel that yields the problems it finds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeVar

from intent.kir.kernel import Kernel
from intent.kir.ops import Op, RegionFold, RegionScan
from intent.kir.walk import walk
from intent.types import Extent
from intent.types.extent import Atom, Call, const

__all__ = ["FAMILIES", "RULES", "Facts", "Problem", "Subject", "count", "kernel_rule", "op_rule"]

_Checked = TypeVar("_Checked", bound=Callable[[Any, "Facts"], Iterable[str]])


class Problem(NamedTuple):
    """One violation: what is wrong, and the operation to blame if there is one."""

    text: str
    op: Op | None = None


RULES: Final[dict[str, Check]] = {}
"""Every rule by name, in the order they are checked: later rules may rely on earlier ones."""

FAMILIES: Final[dict[str, str]] = {}
"""The family (the module) of every rule."""


@dataclass(frozen=True)
class Facts:
    """What the kernel establishes about extents: launch conditions (language decision 5) and slice extents."""

    equal: frozenset[frozenset[Extent]]
    equal_or_one: frozenset[frozenset[Extent]]
    slices: frozenset[Atom]

    @classmethod
    def of(cls, kernel: Kernel) -> Facts:
        def pairs(kind: str) -> frozenset[frozenset[Extent]]:
            return frozenset(frozenset((c.lhs, c.rhs)) for c in kernel.conditions if c.kind == kind)

        regions = (op for op in walk(kernel.body) if isinstance(op, RegionFold | RegionScan))
        slices = frozenset(atom for op in regions for atom in op.slice_extent.atoms())
        return cls(pairs("equal"), pairs("equal_or_one"), slices)

    def same(self, a: Extent, b: Extent) -> bool:
        """Equal by identity, by a launch condition, or left to a guard because device data decides.

        The extent of a slice equals only itself: nobody could check it (spec: logical-program 5).
        """
        if a is b or frozenset((a, b)) in self.equal:
            return True
        if any(atom in self.slices for extent in (a, b) for atom in extent.atoms()):
            return False
        return not (a.launch_visible and b.launch_visible)

    def spreads(self, operand: Extent, result: Extent) -> bool:
        """Whether an axis of extent ``operand`` may be broadcast to ``result``."""
        if (
            operand.const == 1
            or self.same(operand, result)
            or frozenset((operand, result)) in self.equal_or_one
        ):
            return True
        return any(isinstance(a, Call) and a.op == "broadcast" and operand in a.args for a in result.atoms())


class Subject:
    """A kernel with what many rules look at, computed once."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel
        self.facts = Facts.of(kernel)
        self._by_type: dict[type[Op], list[Op]] = {}
        for op in walk(kernel.body):
            self._by_type.setdefault(type(op), []).append(op)

    def ops(self, node_types: tuple[type[Op], ...]) -> Iterator[Op]:
        """The operations of these classes, nested ones included."""
        for node_type in node_types:
            yield from self._by_type.get(node_type, ())


Check = Callable[[Subject], Iterable[Problem]]


def kernel_rule(check: Callable[[Kernel], Iterable[Problem]]) -> Callable[[Kernel], Iterable[Problem]]:
    """Register a rule over the whole kernel under the function's name, spelled with dashes."""
    _register(check, lambda subject: check(subject.kernel))
    return check


def op_rule(*node_types: type[Op]) -> Callable[[_Checked], _Checked]:
    """Register a rule ``check(op, facts)`` that is checked for every operation of ``node_types``."""

    def register(check: _Checked) -> _Checked:
        def whole(subject: Subject) -> Iterator[Problem]:
            for op in subject.ops(node_types):
                yield from (Problem(text, op) for text in check(op, subject.facts))

        _register(check, whole)
        return check

    return register


def _register(check: Callable[..., object], rule: Check) -> None:
    name = check.__name__.replace("_", "-")
    RULES[name] = rule
    FAMILIES[name] = check.__module__.rsplit(".", maxsplit=1)[-1]


def count(shape: Iterable[Extent]) -> Extent:
    """The number of elements of a shape."""
    total = const(1)
    for extent in shape:
        total = total * extent
    return total
