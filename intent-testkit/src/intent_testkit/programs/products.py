"""Products over any number of dims of each kind, for tests of how a provider computes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from intent.physical import Dim, Fragment, Program, View
from intent.types.dtypes import BY_NAME, I32
from intent.types.extent import const
from intent_testkit.cases.draw import Array
from intent_testkit.programs.builder import Builder, view

Sizes = tuple[int, ...]
Mode = Literal["in", "out", "inout"]

SEVERAL: dict[str, dict[str, Any]] = {
    "one of each": {},
    "two dims of rows": {"rows": (4, 8)},
    "two of each": {"rows": (4, 2), "columns": (2, 4), "summed": (4, 8)},
    "pairs": {"batch": (2,)},
    "pairs of pairs": {"batch": (2, 2), "rows": (2, 8)},
    "a short sum": {"summed": (2, 4)},
    "beside another dim": {"others": (4,)},
    "a short sum beside another dim": {"others": (4,), "rows": (2,)},
}
"""Arguments of :func:`product`."""


def product(
    rows: Sizes = (16,), columns: Sizes = (16,), summed: Sizes = (16,), *, dtype: str = "f16", result: str = "f32",
    batch: Sizes = (), loops: int = 1, products: int = 1, start: bool = False, others: Sizes = (),
) -> Program:  # fmt: skip
    """``y = a @ b`` over dims of these sizes, ``loops`` loops deep; ``products`` of them in one loop.

    ``start``: a sum starts from ``c``. ``others``: sizes of dims that the product has not.
    """
    groups = [
        tuple(Dim(f"{name}{k}", size) for k, size in enumerate(sizes))
        for name, sizes in (("b", batch), ("m", rows), ("n", columns), ("k", summed), ("o", others))
    ]
    outer, m, n, k, rest = groups
    b = Builder(*rest, *outer, *m, *n, *k)

    def array(name: str, dims: Sequence[Dim], kind: str, mode: Mode = "in") -> View:
        return view(name, kind, " ".join(str(d.size) for d in dims), mode)

    left, right = array("a", (*outer, *m, *k), dtype), array("b", (*outer, *k, *n), dtype)
    c, y = array("c", (*outer, *m, *n), result), array("y", (*outer, *m, *n), result, "inout")
    z = array("z", rest, "i32", "inout") if rest else None

    def body(_: Fragment) -> None:
        lanes = {d: b.lane(d) for d in b.dims}

        def at(dims: Sequence[Dim]) -> list[Fragment]:
            return [lanes[d] for d in dims]

        def step() -> None:
            for _ in range(products):
                a_, b_ = b.load(left, *at((*outer, *m, *k))), b.load(right, *at((*outer, *k, *n)))
                first = b.load(c, *at((*outer, *m, *n))) if start else None
                made = b.contract(a_, b_, *k, dtype=BY_NAME[result], accumulator=first)
                b.store(y, at((*outer, *m, *n)), made)

        def loop(depth: int) -> None:
            if not depth:
                step()
                return
            ends = (b.constant(0), b.constant(1), b.constant(1))
            b.loop(*ends, [], lambda _: loop(depth - 1))

        loop(loops)
        if z is not None:
            b.store(z, at(rest), b.cast(lanes[rest[0]], I32))

    views = [left, right, c, y, *([z] if z is not None else [])]
    return b.program("product", views, b.segment([("one", const(1), 1)], body))


def reference(
    a: Array,
    b: Array,
    *,
    rows: Sizes = (16,),
    columns: Sizes = (16,),
    summed: Sizes = (16,),
    batch: Sizes = (),
) -> Array:
    """The product in f64 or i64."""
    wide = np.int64 if a.dtype.kind == "i" else np.float64
    letters = iter("abcdefghijklmnop")
    x, m, n, k = ("".join(next(letters) for _ in sizes) for sizes in (batch, rows, columns, summed))
    made: Array = np.einsum(f"{x}{m}{k},{x}{k}{n}->{x}{m}{n}", a.astype(wide), b.astype(wide))
    return made
