"""Quotients and remainders of one another: mixed-radix digits of an integer as extents in a normal form."""

from __future__ import annotations

from intent.types import Extent
from intent.types.extent import Atom, Call, floordiv

__all__ = ["atom_of", "quotient", "remainder"]


def quotient(term: Extent, modulus: Extent) -> Extent:
    """``term // modulus`` with ``(t // a) // b`` written as ``t // (a*b)``."""
    atom = atom_of(term)
    if isinstance(atom, Call) and atom.op == "floordiv":
        return quotient(atom.args[0], atom.args[1] * modulus)
    return floordiv(term, modulus)


def remainder(term: Extent, modulus: Extent) -> Extent:
    """``term % modulus`` with ``(t % (a*b)) % b`` written as ``t % b``."""
    atom = atom_of(term)
    if isinstance(atom, Call) and atom.op == "mod" and (atom.args[1] % modulus).const == 0:
        return remainder(atom.args[0], modulus)
    return Extent((((Call("mod", (term, modulus)),), 1),))


def atom_of(term: Extent) -> Atom | None:
    """The atom that the extent is, if it is one."""
    if len(term.terms) == 1 and term.terms[0][1] == 1 and len(term.terms[0][0]) == 1:
        return term.terms[0][0][0]
    return None
