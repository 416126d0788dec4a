"""How often and where values are used: what is dead, and what may be written inside of another expression."""

from __future__ import annotations

from typing import Any

from intent.physical import Dim, Fragment, Load, Op, Region
from intent.physical.walk import operands_of, walk
from intent.provider.emission import Usage
from intent.types.dtypes import BOOL
from intent_testkit.programs import Builder, view

LANE = Dim("n", 8)
X, Y = view("x", "f32", "N"), view("y", "f32", "N", "out")


def used(fill: Any) -> tuple[dict[str, Fragment], Region, Usage]:
    b = Builder(LANE)
    found: dict[str, Fragment] = {}
    region = b.region((b.fragment(BOOL),), lambda flag: found.update(fill(b, flag)))
    return found, region, Usage(region)


def _makes(region: Region, value: Fragment) -> Op:
    return next(op for op in walk(region) if value in op.results)


def test_what_nothing_needs_is_dead_and_does_not_count() -> None:
    def fill(b: Builder, _: Fragment) -> dict[str, Fragment]:
        lane = b.lane(LANE)
        value = b.load(X, lane)
        dead = b.op("add", value, value)
        b.op("mul", dead, value)
        b.store(Y, [lane], value)
        return {"lane": lane, "value": value, "dead": dead}

    found, region, usage = used(fill)
    live = {name: usage.live(_makes(region, value)) for name, value in found.items()}
    assert live == {"lane": True, "value": True, "dead": False}
    assert {name: usage.count[v.id] for name, v in found.items()} == {"lane": 2, "value": 1, "dead": 0}
    assert {name: usage.stays(v.id) for name, v in found.items()} == {
        "lane": False, "value": True, "dead": False,
    }  # fmt: skip


def test_effects_in_inner_regions_keep_what_is_around_them() -> None:
    def fill(b: Builder, flag: Fragment) -> dict[str, Fragment]:
        lane = b.lane(LANE)
        outer = b.load(X, lane)
        inside: dict[str, Fragment] = {}

        def then() -> None:
            inside["inner"] = b.op("add", outer, outer)
            b.store(Y, [lane], inside["inner"])

        b.branch(flag, then, lambda: None)
        b.branch(flag, lambda: inside.update(idle=b.op("mul", outer, outer)) or None, lambda: None)
        return {"outer": outer, "lane": lane, **inside}

    found, region, usage = used(fill)
    first, second = (op for op in region.ops if type(op).__name__ == "If")
    assert (usage.live(first), usage.live(second)) == (True, False)
    assert usage.count[region.args[0].id] == 1
    assert usage.stays(region.args[0].id)
    assert {name: usage.count[v.id] for name, v in found.items()} == {
        "outer": 2, "lane": 2, "inner": 1, "idle": 0,
    }  # fmt: skip
    assert usage.stays(found["inner"].id)


def test_one_use_in_an_inner_region_would_move_the_value() -> None:
    def fill(b: Builder, flag: Fragment) -> dict[str, Fragment]:
        lane = b.lane(LANE)
        outer = b.load(X, lane)
        b.branch(flag, lambda: b.store(Y, [lane], outer), lambda: None)
        return {"outer": outer}

    found, _, usage = used(fill)
    assert usage.count[found["outer"].id] == 1
    assert not usage.stays(found["outer"].id)


def test_carries_keep_what_their_loops_yield() -> None:
    def fill(b: Builder, _: Fragment) -> dict[str, Fragment]:
        lane = b.lane(LANE)
        start = b.load(X, lane)
        inside: list[Fragment] = []

        def body(index: Fragment, carry: Fragment) -> Fragment:
            inside.append(index)
            inside.append(b.op("add", carry, start))
            return inside[1]

        (total,) = b.loop(b.constant(0), b.launch("N"), b.constant(1), [start], body)
        (unused,) = b.loop(b.constant(0), b.launch("N"), b.constant(1), [start], body)
        b.store(Y, [lane], total)
        return {"start": start, "sum": inside[1], "idle": inside[3], "total": total, "unused": unused}

    found, region, usage = used(fill)
    live = {name: usage.live(_makes(region, value)) for name, value in found.items()}
    assert live == {"start": True, "sum": True, "idle": False, "total": True, "unused": False}
    assert usage.count[found["sum"].id] == 1
    assert usage.count[found["start"].id] == 2
    assert usage.stays(found["sum"].id)


def test_a_text_may_read_less_than_the_operation() -> None:
    def fill(b: Builder, _: Fragment) -> dict[str, Fragment]:
        lane, place = b.lane(LANE), b.lane(LANE)
        b.store(Y, [lane], b.load(X, place))
        return {"place": place}

    found, region, _ = used(fill)
    usage = Usage(region, operands=lambda op: () if isinstance(op, Load) else operands_of(op))
    assert not usage.live(_makes(region, found["place"]))
    assert usage.count[found["place"].id] == 0
