"""What predicates of a program say about its integers: all that is certain, and nothing else."""

from __future__ import annotations

from itertools import product

import pytest

from intent import physical as ph
from intent.construct.emission import DimOrder, Emitter
from intent.construct.predicates import Predicates
from intent.proof import holds
from intent.types import DType, dtypes
from intent.types.extent import Extent, Var, maximum, minimum, symbol

N, M = symbol("N"), symbol("M")


class Built:
    """A segment in which fragments are made."""

    def __init__(self) -> None:
        self.emitter = Emitter(DimOrder())
        self.predicates = Predicates(self.emitter)

    def unknown(self, dtype: DType = dtypes.INDEX, name: str = "") -> ph.Fragment:
        return self.emitter.fragment(dtype, (), self.emitter.root, name)

    def launch(self, extent: Extent) -> ph.Fragment:
        return self.emitter.emit(ph.LaunchValue, ((dtypes.INDEX, ()),), extent=extent)[0]

    def cast(self, value: ph.Fragment, dtype: DType) -> ph.Fragment:
        return self.emitter.emit(ph.Cast, ((dtype, ()),), value=value)[0]

    def own(self, fragment: ph.Fragment) -> Extent:
        return Extent((((Var(f"%{fragment.id}"),), 1),))

    def value(self, fragment: ph.Fragment) -> Extent:
        return self.predicates.value(fragment)


@pytest.fixture
def built() -> Built:
    return Built()


def test_arithmetic_of_indices_is_that_of_numbers(built: Built) -> None:
    n, m, seven, p = built.launch(N), built.launch(M), built.emitter.index(7), built.emitter.pointwise
    assert built.value(seven).const == 7
    assert built.value(p("add", n, seven)) is N + 7
    assert built.value(p("sub", n, m)) is N - M
    assert built.value(p("mul", n, m)) is N * M
    assert built.value(p("neg", n)) is -N
    assert built.value(p("minimum", n, m)) is minimum(N, M)
    assert built.value(p("maximum", n, seven)) is maximum(N, 7)
    assert built.value(p("floordiv", n, seven)) is N // 7
    assert built.value(p("mod", n, seven)) is N % 7
    assert built.value(built.emitter.broadcast(n, ())) is N
    i64 = built.emitter.pointwise("add", built.cast(n, dtypes.I64), built.emitter.constant(2, dtypes.I64))
    assert built.value(i64) is N + 2


def test_what_may_wrap_or_is_no_function_of_numbers_stands_for_itself(built: Built) -> None:
    n, m, p = built.launch(N), built.launch(M), built.emitter.pointwise
    zero, less = built.emitter.index(0), built.emitter.index(-3)
    narrow, wide = built.unknown(dtypes.I32), built.unknown(dtypes.U64)
    for made in (
        p("floordiv", n, m), p("mod", n, m), p("floordiv", n, zero), p("mod", n, less), p("xor", n, m),
        p("add", narrow, narrow), p("mul", wide, wide), built.cast(n, dtypes.I32), built.cast(wide, dtypes.INDEX),
        built.cast(built.unknown(dtypes.F32), dtypes.INDEX), built.cast(narrow, dtypes.F64), built.unknown(),
        built.emitter.constant(1.5, dtypes.F64),
    ):  # fmt: skip
        assert built.value(made) is built.own(made), made
    assert built.value(built.cast(narrow, dtypes.INDEX)) is built.own(narrow)
    half = built.unknown(dtypes.U32)
    assert built.value(built.cast(half, dtypes.I64)) is built.own(half)


def test_variables_have_the_names_that_people_know(built: Built) -> None:
    lane = built.emitter.lane(dim(built, "rows", 4))
    named = built.unknown(name="where")
    for fragment in (lane, named, built.unknown()):
        built.value(fragment)
    assert sorted(built.predicates.names.values()) == ["lane of rows", "where"]


def dim(built: Built, name: str, size: int) -> ph.Dim:
    made = ph.Dim(name, size)
    built.emitter.order.add(made)
    return made


COMPARED = {
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
}


@pytest.mark.parametrize("one", COMPARED)
@pytest.mark.parametrize("other", COMPARED)
@pytest.mark.parametrize("joined", ["and", "or", "not"])
def test_a_predicate_says_what_it_computes(built: Built, one: str, other: str, joined: str) -> None:
    a, b = built.unknown(), built.unknown()
    e = built.emitter
    first, second = e.compare(one, a, b), e.compare(other, a, e.index(1))
    test = e.pointwise("not", first) if joined == "not" else e.pointwise(joined, first, second)
    claims = [fact.claim for fact in built.predicates.facts([e.broadcast(test, (dim(built, "lanes", 4),))])]
    assert claims
    for x, y in product(range(-1, 4), repeat=2):
        left, right = COMPARED[one](x, y), COMPARED[other](x, 1)
        wanted = {"and": left and right, "or": left or right, "not": not left}[joined]
        env = {Var(f"%{a.id}"): x, Var(f"%{b.id}"): y}
        assert all(holds(claim, env) for claim in claims) is wanted


def test_what_is_not_about_whole_numbers_says_nothing(built: Built) -> None:
    e = built.emitter
    index, float_, wide, bool_ = built.unknown(), *map(built.unknown, (dtypes.F32, dtypes.U64, dtypes.BOOL))
    sure = e.compare("lt", index, e.index(3))
    unsure = [
        e.compare("lt", float_, float_),
        e.compare("ge", wide, wide),
        bool_,
        e.compare("eq", bool_, bool_),
    ]
    for fragment in unsure:
        assert built.predicates.facts([fragment]) == ()
        assert len(built.predicates.facts([e.pointwise("and", sure, fragment)])) == 1
        assert built.predicates.facts([e.pointwise("or", sure, fragment)]) == ()
        assert built.predicates.facts([e.pointwise("not", fragment)]) == ()
    assert len(built.predicates.facts([sure, e.compare("ne", index, e.index(5))])) == 2
