"""Cases of reads through index tensors."""

from __future__ import annotations

from intent_testkit.cases.case import Case, out, segment, sizes, view
from intent_testkit.cases.draw import coordinates, normal, permutation
from intent_testkit.cases.tolerance import accumulated
from intent_testkit.kernels import gathers as k

TABLE = sizes("V D N", (5, 3, 0), (5, 0, 2), (1, 1, 1), (7, 5, 11), (13, 33, 17), (3, 130, 5))

CASES = (
    Case(
        name="embedding",
        kernel=k.embedding,
        parameters=(
            view("table", "f32", "V D", normal()),
            view("ids", "i32", "N", coordinates("V")),
            out("y", "f32", "N D"),
        ),
        oracle=lambda v: {"y": v.table[v.ids]},
        extents=TABLE,
        segments=(segment("N D", "D*N"),),
    ),
    Case(
        name="embedding_whole",
        kernel=k.embedding_whole,
        parameters=(
            view("table", "f16", "V D", normal()),
            view("ids", "i64", "N", coordinates("V")),
            out("y", "f16", "N D"),
        ),
        oracle=lambda v: {"y": v.table[v.ids]},
        extents=TABLE,
        segments=(segment("N D", "D*N"),),
    ),
    Case(
        name="permute_columns",
        kernel=k.permute_columns,
        parameters=(
            view("x", "f32", "M N", normal()),
            view("order", "i32", "N", permutation("N")),
            out("y", "f32", "M N"),
        ),
        oracle=lambda v: {"y": v.x[:, v.order]},
        extents=sizes("M N", (0, 3), (3, 0), (1, 1), (5, 7), (9, 131)),
        segments=(segment("M N"),),
        # A broadcast permutation repeats one column, which is still a legal read.
    ),
    Case(
        name="paired_gather",
        kernel=k.paired_gather,
        parameters=(
            view("x", "f32", "M N", normal()),
            view("r", "i64", "K", coordinates("M")),
            view("c", "i64", "K", coordinates("N")),
            out("y", "f32", "K"),
        ),
        oracle=lambda v: {"y": v.x[v.r, v.c]},
        extents=sizes("M N K", (2, 3, 0), (1, 1, 1), (5, 7, 9), (9, 13, 133)),
        segments=(segment("K"),),
    ),
    Case(
        name="gather_sum",
        kernel=k.gather_sum,
        parameters=(
            view("x", "f32", "V D", normal()),
            view("ids", "i32", "N K", coordinates("V")),
            out("y", "f32", "N D"),
        ),
        oracle=lambda v: {"y": v.x[v.ids].sum(axis=1)},
        tolerance=accumulated(17, scale=2),
        extents=sizes("V D N K", (3, 2, 0, 2), (3, 2, 2, 0), (1, 1, 1, 1), (7, 5, 3, 4), (11, 33, 5, 17)),
        segments=(segment("N D", "D*N"),),
    ),
    Case(
        name="diagonal",
        kernel=k.diagonal,
        parameters=(view("x", "f32", "N N", normal()), out("y", "f32", "N")),
        oracle=lambda v: {"y": v.x.diagonal()},
        extents=sizes("N", 0, 1, 7, 33, 64),
        segments=(segment("N"),),
    ),
)
