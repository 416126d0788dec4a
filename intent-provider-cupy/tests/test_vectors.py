"""Which accesses move several lanes at once, and what the layout has to say for that."""

from __future__ import annotations

import re

import pytest

from intent.physical import Buffer, Dim, View
from intent.types.dtypes import BOOL, BY_NAME, I32, INDEX
from intent.types.extent import const, symbol
from intent_provider_cupy.emit import emit
from intent_testkit.programs import Builder

N = Dim("n", 1024)
SIZE = 1 << 20


def kernel(access, *, strides=(1,), shape=(SIZE,), dtype="f32", knobs=()):
    """``y[n] = x[access(...)]`` for 1024 lanes of 256 threads; ``access`` gives coordinates, and may give a mask."""
    b = Builder(N)
    extents = [const(s) if isinstance(s, int) else symbol(s) for s in shape]
    x = View(name="x", dtype=BY_NAME[dtype], shape=tuple(extents), mode="in", strides=strides)
    y = View(name="y", dtype=BY_NAME[dtype], shape=(const(SIZE),), mode="out", strides=(1,))

    def body(program):
        lane = b.lane(N)
        made = access(b, lane, program)
        coordinates, valid = made if isinstance(made, tuple) else ([made], None)
        b.store(y, [lane], b.load(x, *coordinates, valid=valid))

    made = b.program("moved", [x, y], b.segment([("one", const(4), 1)], body))
    emitted = emit(made if not knobs else type(made)(**{**vars(made), "knobs": knobs}))
    return emitted.text[emitted.text.index('extern "C"') :]


def loaded(text):
    """The most lanes that one access reads."""
    return max((int(w) for w in re.findall(r"it_load<(\d+)>", text)), default=1)


def needed(text):
    """What the layout has to say for the widest accesses."""
    facts = re.search(r"n_run = (.*) \? 4 : 1;", text)[1].split(" && ")
    assert len(facts) == len(set(facts))
    return set(facts)


X, Y = "x_divisor >= 16", "y_divisor >= 16"


@pytest.mark.parametrize(("offset", "width"), [(0, 4), (1, 1), (2, 2), (3, 1), (4, 4), (6, 2), (8, 4)])
def test_constant_offsets(offset, width):
    assert loaded(kernel(lambda b, lane, _: b.op("add", lane, b.constant(offset)))) == width
    assert loaded(kernel(lambda b, lane, _: b.op("add", b.constant(offset), lane))) == width


def test_plain_accesses_need_alignment_alone():
    text = kernel(lambda b, lane, _: lane)
    assert needed(text) == {X, Y}
    assert "it_store<4>" in text
    assert text.count("if constexpr (n_run >= 4) {") == 2


def test_offsets_that_the_launch_knows_are_asked_of_the_layout():
    text = kernel(lambda b, lane, _: b.op("add", lane, b.launch("S")))
    assert (loaded(text), needed(text)) == (4, {X, Y, "S_divisor >= 4"})
    text = kernel(
        lambda b, lane, _: b.op("add", lane, b.launch(symbol("S") * 4 + symbol("T") * symbol("U") * 2))
    )
    assert (loaded(text), needed(text)) == (4, {X, Y, "T_divisor >= 4"})
    text = kernel(lambda b, lane, _: b.op("add", lane, b.launch(symbol("S") + 2)))
    assert loaded(text) == 2
    assert "S_divisor >= 2" in text
    assert loaded(kernel(lambda b, lane, _: b.op("add", lane, b.launch(symbol("S") // 2)))) == 1


UNIFORM = {
    "program": (lambda b, p: p, 1),
    "4 * program": (lambda b, p: b.op("mul", p, b.constant(4)), 4),
    "program * 6": (lambda b, p: b.op("mul", b.constant(6), p), 2),
    "program * 0": (lambda b, p: b.op("mul", p, b.constant(0)), 4),
    "2 * (2 * program)": (lambda b, p: b.op("mul", b.constant(2), b.op("mul", p, b.constant(2))), 4),
    "S * program": (lambda b, p: b.op("mul", b.launch("S"), p), 4),
    "program * program": (lambda b, p: b.op("mul", p, p), 1),
    "8 - 4 * program": (lambda b, p: b.op("sub", b.constant(8), b.op("mul", p, b.constant(4))), 4),
    "min(4 * program, 6)": (
        lambda b, p: b.op("minimum", b.op("mul", p, b.constant(4)), b.constant(6)), 2,
    ),
    "max(4 * program, 12)": (
        lambda b, p: b.op("maximum", b.op("mul", p, b.constant(4)), b.constant(12)), 4,
    ),
    "4 * program % 8": (lambda b, p: b.op("mod", b.op("mul", p, b.constant(4)), b.constant(8)), 4),
    "8 // 2": (lambda b, p: b.op("floordiv", b.constant(8), b.constant(2)), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", UNIFORM)
def test_what_is_known_of_uniform_values(name):
    made, width = UNIFORM[name]
    assert loaded(kernel(lambda b, lane, p: b.op("add", lane, made(b, p)))) == width


@pytest.mark.parametrize(
    ("begin", "step", "width"), [(0, 4, 4), (0, 1024, 4), (0, 6, 2), (2, 4, 2), (4, 1, 1), (8, 8, 4)]
)
def test_the_index_of_a_loop(begin, step, width):
    b = Builder(N)
    views = [
        View(name=n, dtype=BY_NAME["f32"], shape=(const(SIZE),), mode="inout", strides=(1,))
        for n in ("x", "y")
    ]

    def segment(_):
        lane = b.lane(N)

        def walk(index):
            b.store(views[1], [lane], b.load(views[0], b.op("add", lane, index)))
            return []

        b.loop(b.constant(begin), b.constant(4096), b.constant(step), [], walk)

    text = emit(b.program("moved", views, b.segment([("one", const(1), 1)], segment))).text
    assert loaded(text[text.index('extern "C"') :]) == width


MASKS = {
    "lane < 1000": (lambda b, i: b.op("lt", i, b.constant(1000)), 4),
    "lane < 1002": (lambda b, i: b.op("lt", i, b.constant(1002)), 2),
    "lane < 1001": (lambda b, i: b.op("lt", i, b.constant(1001)), 1),
    "lane >= 8": (lambda b, i: b.op("ge", i, b.constant(8)), 4),
    "lane <= 1000": (lambda b, i: b.op("le", i, b.constant(1000)), 1),
    "1000 < lane": (lambda b, i: b.op("lt", b.constant(1000), i), 1),
    "lane + 2 < 1000": (lambda b, i: b.op("lt", b.op("add", i, b.constant(2)), b.constant(1000)), 2),
    "2 * lane < 1000": (lambda b, i: b.op("lt", b.op("mul", i, b.constant(2)), b.constant(1000)), 1),
    "lane < lane + 4": (lambda b, i: b.op("lt", i, b.op("add", i, b.constant(4))), 1),
    "not lane < 1000": (lambda b, i: b.op("not", b.op("lt", i, b.constant(1000))), 4),
    "8 <= lane < 1000": (
        lambda b, i: b.op("and", b.op("ge", i, b.constant(8)), b.op("lt", i, b.constant(1000))), 4,
    ),
    "8 <= lane < 1001": (
        lambda b, i: b.op("and", b.op("ge", i, b.constant(8)), b.op("lt", i, b.constant(1001))), 1,
    ),
    "lane < 1000 or lane >= 1002": (
        lambda b, i: b.op("or", b.op("lt", i, b.constant(1000)), b.op("ge", i, b.constant(1002))), 2,
    ),
    "5 < 7": (lambda b, i: b.op("lt", b.constant(5), b.constant(7)), 4),
    "lane < 4 * lane": (lambda b, i: b.op("lt", i, b.op("mul", i, b.constant(4))), 1),
    "lane + 4 * lane < 1000": (
        lambda b, i: b.op("lt", b.op("add", i, b.op("mul", i, b.constant(4))), b.constant(1000)), 1,
    ),
    "lane + lane < 1000": (lambda b, i: b.op("lt", b.op("add", i, i), b.constant(1000)), 1),
    "2 * lane + 4 < 1000": (
        lambda b, i: b.op("lt", b.op("add", b.op("mul", i, b.constant(2)), b.constant(4)), b.constant(1000)), 1,
    ),
    "i32(lane) < 1000": (lambda b, i: b.op("lt", b.cast(i, I32), b.constant(1000, I32)), 4),
    "index(f32(lane)) < 1000": (
        lambda b, i: b.op("lt", b.cast(b.cast(i, BY_NAME["f32"]), INDEX), b.constant(1000)), 1,
    ),
    "f32(lane) == f32(lane)": (
        lambda b, i: b.op("lt", b.bitcast(b.bitcast(b.cast(i, I32), BY_NAME["f32"]), I32), b.constant(4, I32)), 1,
    ),
    "a cast": (lambda b, i: b.cast(b.cast(i, I32), BOOL), 1),
    "lane == 4": (lambda b, i: b.op("eq", i, b.constant(4)), 1),
}  # fmt: skip


@pytest.mark.parametrize("name", MASKS)
def test_all_lanes_of_a_vector_are_active_or_none(name):
    mask, width = MASKS[name]
    assert loaded(kernel(lambda b, lane, _: ([lane], mask(b, lane)))) == width


@pytest.mark.parametrize(
    ("strides", "row", "width"),
    [
        ((1024, 1), 1, 4), ((6, 1), 1, 2), ((7, 1), 1, 1), ((6, 1), 4, 4), ((1024, 2), 1, 1), ((8, 0), 1, 1),
        ((None, 1), 1, 4), (None, 1, 4),
    ],
)  # fmt: skip
def test_strides(strides, row, width):
    text = kernel(
        lambda b, lane, p: ([b.op("mul", p, b.constant(row)), lane], None), strides=strides, shape=(64, 4096)
    )
    assert loaded(text) == width
    if strides is None:
        assert needed(text) == {X, Y, "x_stride_0_divisor >= 4", "x_stride_1_is_one"}
    elif strides[0] is None:
        assert needed(text) == {X, Y, "x_stride_0_divisor >= 4"}


def test_a_row_that_is_always_the_first_needs_its_stride_all_the_same():
    text = kernel(lambda b, lane, _: ([b.constant(0), lane], None), strides=None, shape=(64, 4096))
    assert needed(text) == {X, Y, "x_stride_0_divisor >= 4", "x_stride_1_is_one"}


BUFFERS = [
    # scope, shape, row, width, what the layout is asked for
    ("program", (65536,), False, 4, "held_buffer_divisor >= 16"),
    ("program", (65538,), False, 2, "held_buffer_divisor >= 8"),
    ("program", (1026,), False, 4, None),
    ("program", (4, 1026), True, 2, None),
    ("program", ("S",), False, 4, "S_divisor >= 4"),
    ("invocation", (65538,), False, 4, "held_buffer_divisor >= 16"),
    ("invocation", (4, 65538), True, 2, "held_buffer_divisor >= 8"),
]


@pytest.mark.parametrize("scan", [False, True])
@pytest.mark.parametrize(("scope", "shape", "row", "width", "fact"), BUFFERS)
def test_buffers(scope, shape, row, width, fact, scan):
    """A program's slice begins at a multiple of its size; a scan wants lanes where they are, so that none are moved."""
    b = Builder(N)
    extents = tuple(const(s) if isinstance(s, int) else symbol(s) for s in shape)
    held = Buffer(id=900, name="held", dtype=BY_NAME["f32"], shape=extents, scope=scope)
    y = View(name="y", dtype=BY_NAME["f32"], shape=(const(SIZE),), mode="out", strides=(1,))

    def body(program):
        b.alloc(held)
        lane = b.lane(N)
        value = b.load(held, *([program] if row else []), lane)
        b.store(y, [lane], b.scan(value, N) if scan else value)

    text = emit(b.program("held", [y], b.segment([("one", const(4), 1)], body))).text
    text = text[text.index('extern "C"') :]
    assert loaded(text) == width
    chosen = (
        re.findall(r"if constexpr \((.*)\) {", text)[0] if scan else re.search(r"n_run = (.*) \? ", text)[1]
    )
    assert (fact in chosen) if fact else ("held_buffer_divisor" not in chosen)
    if scan and not fact:
        assert chosen == "true"


def test_lanes_along_other_axes_are_no_vectors():
    first = kernel(lambda b, lane, p: ([lane, p], None), strides=(1, 4096), shape=(4096, 64))
    both = kernel(lambda b, lane, _: ([lane, lane], None), strides=(4, 1), shape=(4096, 4096))
    assert loaded(first) == loaded(both) == 1


@pytest.mark.parametrize(
    ("dtype", "bytes_", "warps", "width"),
    [
        ("f32", 16, 8, 4), ("f32", 8, 8, 2), ("f32", 4, 8, 1), ("f64", 16, 8, 2), ("f64", 4, 8, 1), ("i8", 4, 8, 4),
        ("f32", 16, 16, 2), ("f32", 16, 32, 1),
    ],
)  # fmt: skip
def test_bytes_and_lanes_of_an_access(dtype, bytes_, warps, width):
    knobs = (("num_warps", warps), ("vector_bytes", bytes_))
    assert loaded(kernel(lambda b, lane, _: lane, dtype=dtype, knobs=knobs)) == width


def test_threads_hold_lanes_far_apart_where_no_access_is_one_of_vectors():
    """Neighbouring threads read neighbouring elements then."""
    b = Builder(N)
    x = View(name="x", dtype=BY_NAME["f32"], shape=(const(SIZE),), mode="inout", strides=(1,))

    def body(_):
        at = b.op("add", b.lane(N), b.constant(1))
        b.store(x, [at], b.load(x, at))

    text = emit(b.program("moved", [x], b.segment([("one", const(1), 1)], body))).text
    assert "constexpr int n_run = 1;" in text


def test_index_values_behind_casts_and_broadcasts():
    k = Dim("k", 4)
    b = Builder(N, k)
    x = View(name="x", dtype=BY_NAME["f32"], shape=(const(64), const(4096)), mode="in", strides=(4096, 1))
    y = View(name="y", dtype=BY_NAME["f32"], shape=(const(4), const(4096)), mode="out", strides=(4096, 1))

    def body(_):
        row, lane = b.lane(k), b.broadcast(b.cast(b.lane(N), INDEX), k)
        valid = b.broadcast(b.op("lt", b.lane(N), b.broadcast(b.constant(1000), N)), k)
        b.store(y, [row, lane], b.load(x, row, lane, valid=valid), dims=(N, k))

    text = emit(b.program("moved", [x, y], b.segment([("one", const(1), 1)], body))).text
    assert loaded(text[text.index('extern "C"') :]) == 1, (
        "a coordinate that is no lane plus something uniform"
    )


@pytest.mark.parametrize(("by_lane", "width"), [(False, 4), (True, 1)])
def test_what_stands_in_for_elements_is_one_number_or_each_lane_s_own(by_lane, width):
    b = Builder(N)
    x, y = (
        View(name=name, dtype=BY_NAME["f32"], shape=(const(SIZE),), mode=mode, strides=(1,))
        for name, mode in (("x", "in"), ("y", "out"))
    )

    def body(program):
        lane, zero = b.lane(N), b.constant(0)
        fill = b.cast(lane if by_lane else program, BY_NAME["f32"])
        b.store(y, [lane], b.load(x, lane, valid=b.op("eq", program, zero), fill=fill))

    emitted = emit(b.program("filled", [x, y], b.segment([("one", const(4), 1)], body)))
    assert loaded(emitted.text[emitted.text.index('extern "C"') :]) == width
