"""Bounds of the values of a program: every kind of operation, and what its launch must find for 32 bits."""

from __future__ import annotations

from typing import Any

import pytest

from intent.physical import Dim, Fragment, Pointwise, Region
from intent.provider.emission import INT32_MAX, Bounds, Interval, Width
from intent.types.dtypes import BOOL, F32, I32, I64, INDEX
from intent.types.extent import Extent, const, dyn, maximum, minimum, scalar, symbol
from intent_testkit.programs import Builder

N, LANE = symbol("N"), Dim("n", 8)


def bounded(fill: Any) -> tuple[dict[str, Fragment], Bounds]:
    """The named values that ``fill(builder)`` gives, and the bounds after walking its operations."""
    b = Builder(LANE)
    found: dict[str, Fragment] = {}

    def body() -> None:
        found.update(fill(b))

    region: Region = b.region((), body)
    bounds = Bounds()
    bounds.region(region)
    return found, bounds


def known(fill: Any) -> dict[str, Interval | None]:
    found, bounds = bounded(fill)
    return {name: bounds.interval(value) for name, value in found.items()}


def _between(low: Extent | int, high: Extent | int) -> Interval:
    return Interval(N * 0 + low, N * 0 + high)


def test_leaves_and_what_keeps_a_value() -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        lane = b.lane(LANE)
        return {
            "constant": b.constant(7),
            "launch": b.launch(N),
            "unseen": b.launch(dyn(3)),
            "argument": b.argument("s", INDEX),
            "lane": lane,
            "broadcast": b.broadcast(b.constant(3), LANE),
            "cast": b.cast(b.cast(lane, INDEX), INDEX),
            "narrow": b.cast(b.argument("k", I32), INDEX),
            "wide": b.cast(b.argument("w", I64), INDEX),
            "flag": b.cast(b.argument("f", BOOL), INDEX),
            "picked": b.op("select", b.argument("c", BOOL), b.constant(2), b.launch(N)),
        }

    assert known(fill) == {
        "constant": _between(7, 7), "launch": _between(N, N), "unseen": None,
        "argument": _between(scalar("s"), scalar("s")), "lane": _between(0, 7), "broadcast": _between(3, 3),
        "cast": _between(0, 7), "narrow": _between(-(1 << 31), INT32_MAX), "wide": None, "flag": _between(0, 1),
        "picked": _between(minimum(N, 2), maximum(N, 2)),
    }  # fmt: skip


def test_an_index_runs_up_to_its_end_and_the_launch_asks_whether_it_may_pass_it() -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        inside: list[Fragment] = []

        def body(index: Fragment) -> None:
            inside.append(b.op("add", index, b.constant(1)))
            inside.append(index)

        b.loop(b.constant(4), b.launch(N), b.constant(64), [], body)
        return {"next": inside[0], "index": inside[1]}

    found, bounds = bounded(fill)
    assert bounds.interval(found["index"]) == _between(4, N - 1)
    assert bounds.interval(found["next"]) == _between(5, N)
    assert Interval(N + 64, N + 64) in bounds.launch_facts()


@pytest.mark.parametrize("lost", ["begin", "end"])
def test_an_index_between_bounds_that_are_not_known(lost: str) -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        ends = {"begin": b.constant(4), "end": b.launch(N), lost: b.launch(dyn(3))}
        inside: list[Fragment] = []
        b.loop(ends["begin"], ends["end"], b.constant(2), [], inside.append)
        return {"index": inside[0]}

    found, bounds = bounded(fill)
    assert bounds.interval(found["index"]) is None
    assert bounds.width(found["index"]) is Width.LONG


def test_values_inside_of_control_and_of_either_side() -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        inside: dict[str, Fragment] = {}

        def side(name: str, value: int) -> Any:
            def body() -> Fragment:
                inside[name] = b.op("add", b.launch(N), b.constant(value))
                return inside[name]

            return body

        (joined,) = b.branch(b.argument("c", BOOL), side("then", 1), side("else", 5), [b.launch(N)])
        (half,) = b.branch(b.argument("c", BOOL), side("also", 0), lambda: b.launch(dyn(3)), [b.launch(N)])

        def test(carry: Fragment) -> Fragment:
            inside["tested"] = b.op("mul", b.launch(N), b.constant(2))
            return b.op("lt", carry, inside["tested"])

        def step(carry: Fragment) -> Fragment:
            inside["stepped"] = b.op("mul", b.launch(N), b.constant(3))
            return carry

        (last,) = b.while_loop([b.constant(0)], test, step)
        return {**inside, "joined": joined, "half": half, "last": last}

    assert known(fill) == {
        "then": _between(N + 1, N + 1), "else": _between(N + 5, N + 5), "also": _between(N, N),
        "joined": Interval(minimum(N + 1, N + 5), maximum(N + 1, N + 5)), "half": None, "last": None,
        "tested": _between(N * 2, N * 2), "stepped": _between(N * 3, N * 3),
    }  # fmt: skip


def test_reductions_pick_or_make_values() -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        lane = b.lane(LANE)
        value = b.broadcast(b.constant(1.0, F32), LANE)
        _, at = b.arg_reduce(value, b.op("add", lane, b.launch(N)), LANE)
        return {
            "most": b.reduce(lane, LANE, kind="max"),
            "least": b.reduce(lane, LANE, kind="min"),
            "at": at,
            "sum": b.reduce(lane, LANE, kind="sum"),
        }

    assert known(fill) == {
        "most": _between(0, 7),
        "least": _between(0, 7),
        "at": _between(N, N + 7),
        "sum": None,
    }


def test_widths_and_what_the_launch_must_find() -> None:
    found, bounds = bounded(
        lambda b: {
            "small": b.op("add", b.lane(LANE), b.constant(1)),
            "index": b.op("mul", b.launch(N), b.constant(5)),
            "long": b.op("add", b.launch(dyn(3)), b.constant(1)),
            "large": b.op("mul", b.constant(1 << 30), b.constant(2)),
            "kept": b.op("mod", b.launch(dyn(4)), b.constant(8)),
        }
    )
    widths = {name: bounds.width(value) for name, value in found.items()}
    assert widths == {
        "small": Width.SMALL, "index": Width.INDEX, "long": Width.LONG, "large": Width.LONG, "kept": Width.LONG,
    }  # fmt: skip
    assert bounds.interval(found["kept"]) == _between(0, 7)
    assert bounds.interval(found["large"]) is None
    assert bounds.launch_facts() == (Interval(N * 5, N * 5), Interval(N, N))


def test_what_the_text_computes_besides() -> None:
    bounds = Bounds()
    bounds.require(N * N, const(4), dyn(2))
    bounds.require(N)
    argument = Fragment(id=1, dtype=INDEX)
    bounds.force(argument, Width.INDEX)
    assert bounds.width(argument) is Width.INDEX
    assert bounds.launch_facts() == (Interval(N, N), Interval(N * N, N * N))


def test_facts_are_in_order_of_both_ends() -> None:
    bounds, m = Bounds(), symbol("M")
    for k, ends in enumerate([(N, m), (m, N), (N, N), (m, m)]):
        bounds.bind(Fragment(id=k, dtype=INDEX), Interval(*ends))
    assert bounds.launch_facts() == tuple(Interval(*e) for e in [(m, m), (m, N), (N, m), (N, N)])


def test_other_values_have_no_bounds_and_no_say() -> None:
    bounds = Bounds()
    flag, number, index = Fragment(id=1, dtype=BOOL), Fragment(id=2, dtype=I64), Fragment(id=3, dtype=INDEX)
    bounds.bind(flag, Interval(const(0), const(1)))
    assert bounds.interval(flag) is None
    bounds.bind(index, Interval(const(0), const(1)), (number, flag))
    assert bounds.width(index) is Width.SMALL


def test_what_follows_a_division_that_the_launch_decides_leans_on_it() -> None:
    found, bounds = bounded(
        lambda b: {
            "divided": (d := b.op("floordiv", b.argument("s", INDEX), b.constant(4))),
            "next": (n := b.op("add", d, b.constant(1))),
            "again": b.op("floordiv", n, b.constant(2)),
            "rest": b.op("mod", b.argument("s", INDEX), b.constant(4)),
            "free": b.op("floordiv", b.lane(LANE), b.constant(2)),
        }
    )
    assert {name: bounds.leans(v) for name, v in found.items()} == {
        "divided": True, "next": True, "again": True, "rest": True, "free": False,
    }  # fmt: skip
    assert bounds.launch_signs() == (scalar("s"),)
    assert bounds.interval(found["divided"]) == Interval(const(0), scalar("s") // 4)
    assert bounds.width(found["divided"]) is Width.INDEX
    assert bounds.width(found["rest"]) is Width.INDEX
    assert bounds.width(found["free"]) is Width.SMALL


def test_a_target_that_always_floors_asks_for_no_signs() -> None:
    b = Builder(LANE)
    result: list[Fragment] = []
    region = b.region((), lambda: result.append(b.op("mod", b.argument("s", INDEX), b.constant(4))))
    bounds = Bounds(signs_at_launch=False)
    bounds.region(region)
    assert bounds.launch_signs() == ()
    assert bounds.interval(result[0]) == _between(0, 3)
    assert not bounds.leans(result[0])


def test_a_loop_between_values_that_are_bounded() -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        begin = b.op("add", b.op("mod", b.launch(dyn(1)), b.constant(8)), b.constant(2))
        end = b.op("mod", b.launch(dyn(2)), b.launch(N))
        step = b.op("add", b.op("mod", b.launch(dyn(3)), b.constant(4)), b.constant(1))
        inside: list[Fragment] = []
        b.loop(begin, end, step, [], inside.append)
        return {"index": inside[0]}

    found, bounds = bounded(fill)
    assert bounds.interval(found["index"]) == _between(2, N - 2)
    assert Interval(N + 3, N + 3) in bounds.launch_facts()


@pytest.mark.parametrize("long", [0, 1, 2])
def test_an_index_is_as_wide_as_what_it_is_made_of(long: int) -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        ends = [b.constant(1), b.constant(9), b.constant(2)]
        ends[long] = b.op("mod", b.launch(dyn(1)), b.constant(8))
        inside: list[Fragment] = []
        b.loop(ends[0], ends[1], ends[2], [], inside.append)
        return {"index": inside[0]}

    found, bounds = bounded(fill)
    assert bounds.width(found["index"]) is Width.LONG


def test_a_loop_of_unknown_steps_asks_for_nothing() -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        b.loop(b.constant(0), b.constant(9), b.launch(dyn(3)), [], lambda _: None)
        return {}

    assert bounded(fill)[1].launch_facts() == ()


def _divisions(fill: Any) -> tuple[dict[str, bool], Bounds]:
    """Which divisions, by name, need no flooring wherever the launch finds the signs."""
    b, found = Builder(LANE), dict[str, Fragment]()
    region = b.region((), lambda: found.update(fill(b)))
    bounds = Bounds()
    bounds.region(region)
    made = {op.result.id: op for op in region.ops if isinstance(op, Pointwise)}
    return {name: bounds.floors_by_fact(made[value.id]) for name, value in found.items()}, bounds


def test_which_divisions_are_left_to_the_launch() -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        s, t, four = b.argument("s", INDEX), b.argument("t", INDEX), b.constant(4)
        divided = b.op("floordiv", s, four)
        return {
            "divided": divided,
            "both": b.op("mod", s, t),
            "again": b.op("floordiv", b.op("add", divided, four), four),
            "below": b.op("floordiv", b.op("sub", divided, b.launch(N)), four),
            "of unknown": b.op("floordiv", b.launch(dyn(1)), s),
            "by unknown": b.op("mod", s, b.launch(dyn(1))),
            "by negative": b.op("floordiv", s, b.constant(-2)),
            "proven": b.op("floordiv", b.launch(N), four),
            "no division": b.op("maximum", s, t),
        }

    found, bounds = _divisions(fill)
    assert {name for name, floors in found.items() if floors} == {"divided", "both", "again"}
    assert set(bounds.launch_signs()) == {scalar("s"), scalar("t")}


def test_bounds_of_what_leans_on_the_launch() -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        wide = b.op("add", b.argument("s", INDEX), b.op("mod", b.launch(dyn(1)), b.launch(N)))
        return {"part": b.op("floordiv", wide, b.constant(4)), "sum": b.op("add", wide, b.lane(LANE))}

    found, bounds = bounded(fill)
    assert bounds.interval(found["part"]) == Interval(const(0), (scalar("s") + N - 1) // 4)
    assert bounds.leans(found["part"])
    assert not bounds.leans(found["sum"])


def test_one_side_of_a_branch_that_is_not_known() -> None:
    def fill(b: Builder) -> dict[str, Fragment]:
        flag = b.argument("c", BOOL)
        eight, unknown = b.op("mod", b.launch(dyn(1)), b.constant(8)), b.launch(dyn(3))
        wide = b.op("add", b.op("mod", b.launch(dyn(2)), b.launch(N)), b.constant(3))
        return {
            "first": b.op("select", flag, unknown, eight),
            "second": b.op("select", flag, eight, unknown),
            "hull": b.op("select", flag, eight, wide),
        }

    assert known(fill) == {
        "first": None, "second": None, "hull": Interval(const(0), maximum(7, N + 2)),
    }  # fmt: skip
