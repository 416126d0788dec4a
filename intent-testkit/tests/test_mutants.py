"""Faults put into the compiler: what the operators make of a text, and that a trial notices a wrong compiler."""

from __future__ import annotations

import ast
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from intent.provider.registry import registry
from intent_testkit.cases import ALL, BY_NAME
from intent_testkit.mutants import Mutant, code, mutants_of, watching_texts
from intent_testkit.mutants.asked import watched_conditions
from intent_testkit.mutants.campaign import drawn, outcomes
from intent_testkit.mutants.decisions import DECISIONS
from intent_testkit.mutants.expense import dearer, together
from intent_testkit.mutants.operators import OPERATORS, mark_unordered
from intent_testkit.mutants.replacing import NotReplaceable, put_in
from intent_testkit.mutants.right import Right, load
from intent_testkit.mutants.rooms import ROOMS
from intent_testkit.mutants.sites import placed
from intent_testkit.mutants.survivors import KNOWN
from intent_testkit.mutants.tally import Tally
from intent_testkit.mutants.tested import of_core
from intent_testkit.mutants.trial import Constructed, Outcome
from intent_testkit.plans import Compiled
from intent_testkit.programs import whole
from intent_testkit.suite import compile_case


def _wrong(text: str) -> dict[str, list[str]]:
    """What each operator makes of the nodes of a statement."""
    found: dict[str, list[str]] = {}
    for fault, operator in {**OPERATORS, **DECISIONS}.items():
        made = [
            ast.unparse(ast.fix_missing_locations(w)) for n in ast.walk(ast.parse(text)) for w in operator(n)
        ]
        if made:
            found[fault] = made
    return found


@pytest.mark.parametrize(
    ("text", "fault", "wrong"),
    [
        ("valid = e.conjunction(tests)", "drop-mask", ["None"]),
        ("members = a.members | b.members", "drop-mask", ["a.members", "b.members"]),
        ('inside = e.compare("lt", i, n)', "widen-guard", ["e.compare('le', i, n)"]),
        ('last = e.pointwise("minimum", a, b)', "swap-extreme", ["e.pointwise('maximum', a, b)"]),
        ('left = e.pointwise("sub", a, b)', "swap-operands", ["e.pointwise('sub', b, a)"]),
        ("both = (*left, *right)", "swap-operands", ["(*right, *left)"]),
        ("used = c.used_dims(at, frame)", "share-lane", ["frozenset()"]),
        ("e.effect(ph.Fence, target=buffer)", "forget-fence", ["pass"]),
        ("c.versions[key] = 3", "lose-token", ["pass"]),
        ("c.dirty |= written", "lose-token", ["pass"]),
        ("x = e.emit(node, least=scope)", "float-out", ["least=None"]),
        ("end = begin + 1", "shift-segment", ["begin"]),
        ("first = e.index(0)", "shift-segment", ["e.index(1)"]),
        ("zero = e.constant(0, dtype)", "wrong-identity", ["e.constant(7, dtype)"]),
        ("always = e.constant(True, dtype)", "wrong-identity", ["e.constant(False, dtype)"]),
        ("x = a if held else b", "negate-condition", ["a if not held else b"]),
        ("if a and b:\n    c()", "skip-decision", ["b", "a"]),
        ("fits = high <= limit", "blur-bound", ["high < limit"]),
        ("held = any(f(x) for x in xs)", "other-question", ["all((f(x) for x in xs))"]),
        ("kept = [x for x in xs if x.live]", "forget-filter", ["[x for x in xs]"]),
        ("writer.line(text)", "forget-step", ["pass"]),
        ("least = bounds.low", "other-side", ["bounds.high"]),
        ("end = at + size", "other-arithmetic", ["at - size"]),
        ('total = b.pointwise("add", x, y)', "other-function", ["b.pointwise('sub', x, y)"]),
        ("order = sorted(dims, reverse=True)", "flip-flag", ["reverse=False"]),
        ('text = f"{i} < {n}"', "wrong-text", ["f'{i} <= {n}'"]),
        ('text = f"tl.load({at}, mask={mask})"', "swap-fields", ["f'tl.load({mask}, mask={at})'"]),
        ('text = f"for (int {k} = 0; {k} < {n}; ++{k})"', "swap-fields", []),
        (
            "match op:\n    case Load(valid=None, fill=f) if f:\n        pass",
            "forget-part",
            ["match op:\n    case Load(valid=None, fill=f):\n        pass", "Load(fill=f)"],
        ),
    ],
)
def test_operators(text: str, fault: str, wrong: list[str]) -> None:
    assert _wrong(text).get(fault, []) == wrong


def test_every_fault_has_places_in_construction_and_each_is_still_python() -> None:
    found = [m for room in ("access", "scan", "held", "context", "statements", "pointwise", "relocate", "region_scan")
             for m in mutants_of(f"intent.construct.{room}")]  # fmt: skip
    for mutant in found:
        ast.parse(mutant.source)
        assert mutant.before != mutant.after
    assert len({m.name for m in found}) == len(found)
    assert {m.fault for m in found} >= OPERATORS.keys() - {"swap-extreme"}


def test_sequences_without_an_order_are_not_swapped() -> None:
    text = "x = e.sort((*a, *b)); y = {v for v in (*a, *b)}; any(v for v in (*a, *b)); z = tuple(v for v in (*a, *b))"
    tree = ast.parse(f"for y in (*a, *b):\n    {text}")
    mark_unordered(tree)
    swap = OPERATORS["swap-operands"]
    assert [ast.unparse(w) for n in ast.walk(tree) for w in swap(n)] == ["(*b, *a)"]


def test_a_name_that_is_no_module() -> None:
    with pytest.raises(ModuleNotFoundError):
        list(mutants_of("intent.nothing"))


_ROOM = ROOMS["construct"]


@cache
def _right() -> Right:
    """Programs of a few cases, with no lines: the cases are named here."""
    names = ("softmax", "rolling_hash", "prefix_plus_transpose")
    right = Right(
        lines={}, programs={}, expenses={}, compiled={name: Compiled(BY_NAME[name]) for name in names}
    )
    for name, compiled in right.compiled.items():
        all_made = list(_ROOM.made(compiled))
        right.programs[name] = frozenset(m.digest for m in all_made if m.digest is not None)
        right.expenses[name] = together(m.expense for m in all_made)
    return right


def _trial(mutant: Mutant, *names: str) -> Outcome:
    """In a fork, which takes the wrong compiler with it."""
    lines = {mutant.module: {mutant.line: list(names)}}
    (outcome,) = outcomes([mutant], Constructed(right=replace(_right(), lines=lines), room=_ROOM), 1)
    return outcome


def test_a_compiler_that_makes_the_same_programs_passes_its_trial() -> None:
    mutant = next(m for m in mutants_of("intent.construct.relocate") if m.place == "_through_buffer")
    outcome = _trial(mutant, "softmax")
    assert (outcome.noticed, outcome.other) == (None, 0)


@pytest.mark.parametrize(
    ("module", "place", "fault", "case"),
    [
        ("intent.construct.context", "Context.resident_point", "widen-guard", "softmax"),
        ("intent.construct.scan", "_elements", "swap-operands", "rolling_hash"),
        ("intent.construct.reduce", "mask_dead", "drop-mask", "softmax"),
        ("intent.construct.held", "Held.settle", "forget-fence", "prefix_plus_transpose"),
    ],
)
def test_a_wrong_compiler_is_found(module: str, place: str, fault: str, case: str) -> None:
    wrong = next(m for m in mutants_of(module) if place in m.place and m.fault == fault)
    outcome = _trial(wrong, case)
    assert outcome.noticed is not None, f"{wrong} was not found"


def test_programs_are_dearer_where_they_have_more_of_something() -> None:
    compiled = _right().compiled["softmax"]
    first, *rest = (m.expense for m in _ROOM.made(compiled))
    assert first["loads"] > 0
    assert first["axes spread over instances"] < 0
    total = together([first, *rest])
    assert dearer(total, total) == []
    assert dearer(together([total, Counter(fences=1)]), total) == ["fences"]
    assert dearer(total, together([total, Counter({"axes spread over instances": -1})])) == [
        "axes spread over instances"
    ]


def test_what_is_watched_is_kept_until_the_sources_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "right.json"
    assert load(kept) is None
    _right().save(kept)
    found = load(kept)
    assert found is not None
    assert found.programs == _right().programs
    monkeypatch.setattr("intent_testkit.mutants.right.sources", lambda: "others")
    assert load(kept) is None


def test_a_test_of_the_core_finds_what_no_case_tells() -> None:
    mutant = next(m for m in mutants_of("intent.construct.reduce") if m.place == "reduce")
    wrong = replace(mutant, source=mutant.original.replace("return found[index]", "return found[index + 1]"))
    (file,) = of_core("construct/test_lanes.py")
    assert _trial(wrong).noticed is None
    outcome = _trial(wrong, f"{file}::test_normalisations_of_both_axes[1]")
    assert (outcome.noticed is not None, outcome.cases, outcome.tests) == (True, 0, 1)


def test_what_does_not_end_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("intent_testkit.mutants.trial.SECONDS", 1)
    mutant = next(m for m in mutants_of("intent.construct.reduce") if m.place == "mask_dead")
    first = '    """Padding lanes'
    wrong = replace(mutant, source=mutant.original.replace(first, f"    while True:\n        pass\n{first}"))
    outcome = _trial(wrong, "softmax")
    assert outcome.noticed is not None
    assert "NoEnd" in outcome.noticed


def test_a_condition_matters_where_another_answer_would_be_given() -> None:
    wrong = [
        m
        for m in mutants_of("intent.construct.reduce")
        if m.fault == "skip-decision" and m.place == "mask_dead"
    ]
    compiled = _right().lowered("softmax")
    with watched_conditions(["intent.construct.reduce", "intent.construct.facts"]) as asking:
        asking.current = "softmax"
        list(_ROOM.made(compiled))
    assert {m.name for m in wrong} <= asking.known
    mattered = {name for name, cases in asking.mattered.items() if cases}
    assert wrong[1].name in mattered, "a maximum's constant is not zero"
    assert not mattered & {
        m.name for m in mutants_of("intent.construct.facts") if "isinstance(claim" in m.before
    }
    assert all(m.digest in _right().programs["softmax"] for m in _ROOM.made(_right().lowered("softmax")))


def test_a_draw_is_the_same_again_and_has_as_many_of_each_kind() -> None:
    every = list(mutants_of("intent.construct.access"))
    first = drawn(every, 2, 3)
    assert [m.name for m in first] == [m.name for m in drawn(every, 2, 3)]
    assert max(Counter(m.fault for m in first).values()) == 2
    assert sorted(m.name for m in drawn(every, 0, 3)) == sorted(m.name for m in every)


def test_the_rate_is_of_those_neither_dearer_nor_known() -> None:
    mutant = next(mutants_of("intent.construct.relocate"))
    known = next(m for m in mutants_of("intent.construct.access") if m.name in KNOWN)
    tally = Tally(name="construct")
    for outcome in (
        Outcome(mutant=mutant, noticed="a wrong result", cases=1),
        Outcome(mutant=mutant, noticed=None, cases=1),
        Outcome(mutant=mutant, noticed=None, cases=1, dearer=("fences",)),
        Outcome(mutant=known, noticed=None, cases=1),
    ):
        tally.add(outcome)
    assert tally.total == Counter(found=1, open=1, dearer=1, known=1)
    assert tally.rate == 0.5


def test_a_condition_on_lines_of_its_own_is_reached_by_the_line_that_runs() -> None:
    tree = ast.parse(
        "def f(a, b):\n    if (\n        a\n        and b\n    ):\n        return 1\n    return 2\n"
    )
    lines = {type(node).__name__: line for _, line, node in placed(tree)}
    assert lines["If"] == lines["BoolOp"] == 3


def test_code_that_has_run_already_is_not_replaced() -> None:
    mutant = next(mutants_of("intent.construct.relocate"))
    with pytest.raises(NotReplaceable):
        put_in(replace(mutant, source=mutant.original))


def test_a_provider_that_spells_something_wrong_is_found() -> None:
    module = "intent_provider_triton.emit.access"
    right = watching_texts.watch("triton", [module], [case.name for case in ALL[::60]], tests=())
    reached = [m for m in mutants_of(module, DECISIONS) if right.cases(m)]
    wrong = next(m for m in reached if m.fault == "wrong-text" and m.place == "pointer_of")
    same = next(m for m in reached if m.fault == "flip-flag" and m.place == "load")
    (found,), (other,) = outcomes([wrong], right, 1), outcomes([same], right, 1)
    assert found.noticed is not None
    assert found.other, "it spells something otherwise"
    assert other.noticed is None, "where a value has a name changes nothing"
    assert other.alike, "and not the code"


def test_programs_of_tests_are_told_apart_too() -> None:
    with code.spelling("triton") as spelled:
        program = whole.add(64)
        registry().get("triton").serialize(program)
    assert spelled == [program]


def test_what_code_costs() -> None:
    listing = (
        "add:\n\t.loc 1 2 3\n\tld.global.f32 %f1, [%rd1]; // a\n\tbar.sync 0;\n\tcvt.rn.f16.f32 %h, %f1;\n"
    )
    lines = list(code._instructions(listing + "\n\t.section .debug\n\tld.global"))
    assert lines == ["add:", "ld.global.f32 %f1, [%rd1];", "bar.sync 0;", "cvt.rn.f16.f32 %h, %f1;"]
    right = code.price(lines)
    assert right == Counter(instructions=4, accesses=1, barriers=1, conversions=1, exchanges=0)
    assert code.dearer_only(right, right) == []
    assert code.dearer_only(right + Counter(barriers=1), right) == ["barriers"]
    assert code.dearer_only(right + Counter(barriers=1), right + Counter(accesses=1)) == [], "not only dearer"


def test_a_mutant_is_not_hidden_by_what_was_compiled_before_it() -> None:
    case = BY_NAME["softmax"]
    before = compile_case("triton", case).source
    wrong = next(
        m
        for m in mutants_of("intent_provider_triton.emit.access", DECISIONS)
        if m.fault == "wrong-text" and m.place == "pointer_of"
    )
    put_in(wrong)
    try:
        assert compile_case("triton", case).source != before
    finally:
        put_in(replace(wrong, source=wrong.original, original=wrong.source))
    assert compile_case("triton", case).source == before


def test_reasons_for_survivors_name_mutants_that_exist() -> None:
    operators = {**OPERATORS, **DECISIONS}
    modules = {name.split(":")[0] for name in KNOWN}
    made = {
        mutant.name
        for module in modules
        for mutant in mutants_of(module if module.startswith("intent_") else f"intent.{module}", operators)
    }
    assert KNOWN.keys() <= made, f"{sorted(KNOWN.keys() - made)} are gone: delete their reasons"
