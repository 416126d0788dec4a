"""Small programs by name, each with something of its own in its text: for files that are read when texts change."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator
from typing import Final

from intent.physical import Program
from intent_testkit.programs import atomic, rare, single

_REDUCED: Final = (
    ("sum", "f32"), ("sum", "f16"), ("sum", "i8"), ("prod", "f16"), ("prod", "i8"), ("max", "f32"), ("min", "f16"),
    ("max", "i32"), ("min", "u8"), ("any", "bool"), ("all", "bool"),
)  # fmt: skip
_SCANNED: Final = (
    ("sum", "f32", False), ("sum", "i8", True), ("prod", "f16", False), ("max", "f32", True), ("min", "i16", False),
)  # fmt: skip
_WIDTHS: Final = (
    ("add", "lane", "place"), ("and", "lane", "memory"), ("lt", "memory", "lane"), ("maximum", "place", "memory"),
)  # fmt: skip


def programs() -> Iterator[tuple[str, Program]]:
    """Every program that all providers spell, and its name in words."""
    yield "a condition that reads memory", rare.leading()
    yield "two segments, one of them silent", rare.silent(alone=False)
    yield "functions of extents", rare.launch_values()
    yield "narrow sums of products", rare.narrow_sum()
    yield "an atomic whose old value is not read", rare.unread("add", "f32")
    yield "an exchange whose old value is not read", rare.unread("compare_exchange", "f32")
    trees = [("sub", "sub", "right"), ("mul", "add", "left"), ("add", "mul", "right")]
    yield "operators in operators", rare.nested(trees, "f32", "f32")
    trees = [("and", "lt", "eq"), ("or", "ne", "ge"), ("xor", "le", "gt")]
    yield "functions of comparisons", rare.compared(trees)
    yield "a product that slides", rare.product_at(16, 8)
    yield "an axis renamed", rare.renamed()
    yield "a combine that captures", rare.clipped(2)
    yield "a combine of places", rare.last_place()
    yield "a product of places", rare.product_of_places()
    yield "far numbers", rare.far_numbers()
    yield "lanes that hold a constant", rare.spread_constants(3, "f32")
    yield "the best of a block", rare.best_places("argmax", "f16")
    yield "the least of a block", rare.best_places("argmin", "i8")
    yield "a power of a scalar", single.power_of_scalar()
    for kind, dtype in _REDUCED:
        yield f"{kind} of {dtype}", single.reduction(kind, dtype)
    for kind, dtype, reverse in _SCANNED:
        yield f"prefixes by {kind} of {dtype}", single.scan(kind, dtype, reverse=reverse)
    for fn, first, second in _WIDTHS:
        yield f"{fn} of {first} and {second}", single.two_widths(fn, first, second)
    yield "an exchange of f32", atomic.exchange("f32")
    yield "an exchange of all i64", atomic.exchange("i64", masked=False)
    yield "an atomic load", atomic.load("i32")
    yield "an atomic store", atomic.store("i32")


def texts(written: Callable[[Program], str], shared: Collection[str]) -> str:
    """All of them as ``written`` has them, in turn, without the functions ``shared`` that all texts have."""
    return "\n\n\n".join(_shown(name, written(program), shared) for name, program in programs()) + "\n"


def _shown(name: str, text: str, shared: Collection[str]) -> str:
    parts = text.strip().split("\n\n\n")[1:]
    own = [part for part in parts if not set(re.findall(r"^def (\w+)", part, re.MULTILINE)) & set(shared)]
    return f"# {name}\n" + "\n\n".join(own)
