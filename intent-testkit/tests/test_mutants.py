"""Faults put into the compiler: what the operators make of a text, and that a trial notices a wrong compiler."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from intent_testkit.mutants import Mutant, mutants_of
from intent_testkit.mutants.operators import OPERATORS
from intent_testkit.mutants.survivors import KNOWN


def _wrong(text: str) -> dict[str, list[str]]:
    """What each operator makes of the nodes of a statement."""
    found: dict[str, list[str]] = {}
    for fault, operator in OPERATORS.items():
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
    ],
)
def test_operators(text: str, fault: str, wrong: list[str]) -> None:
    assert _wrong(text)[fault] == wrong


def test_every_fault_has_places_in_construction_and_each_is_still_python() -> None:
    found = [m for room in ("access", "scan", "held", "context", "statements", "pointwise", "relocate", "region_scan")
             for m in mutants_of(f"intent.construct.{room}")]  # fmt: skip
    for mutant in found:
        ast.parse(mutant.source)
        assert mutant.before != mutant.after
    assert len({m.name for m in found}) == len(found)
    assert {m.fault for m in found} >= OPERATORS.keys() - {"swap-extreme"}


def test_a_name_that_is_no_module() -> None:
    with pytest.raises(ModuleNotFoundError):
        list(mutants_of("intent.nothing"))


def _trial(mutant: Mutant, case: str, folder: Path) -> subprocess.CompletedProcess[str]:
    path = folder / "wrong.py"
    path.write_text(mutant.source, encoding="utf-8")
    command = [sys.executable, "-m", "intent_testkit.mutants.trial", mutant.module, str(path), case]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


def _without_change(module: str) -> Mutant:
    mutant = next(mutants_of(module))
    right = mutant.source.replace(mutant.after, mutant.before, 1)
    return Mutant(**{**{f: getattr(mutant, f) for f in mutant.__dataclass_fields__}, "source": right})


def test_a_right_compiler_passes_its_trial(tmp_path: Path) -> None:
    done = _trial(_without_change("intent.construct.held"), "softmax", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("module", "place", "fault", "case"),
    [
        ("intent.construct.context", "Context.resident_point", "widen-guard", "softmax"),
        ("intent.construct.scan", "", "swap-operands", "affine_scan"),
        ("intent.construct.reduce", "mask_dead", "drop-mask", "softmax"),
        ("intent.construct.held", "Held.settle", "forget-fence", "prefix_plus_transpose"),
    ],
)
def test_a_wrong_compiler_is_found(module: str, place: str, fault: str, case: str, tmp_path: Path) -> None:
    wrong = next(m for m in mutants_of(module) if place in m.place and m.fault == fault)
    done = _trial(wrong, case, tmp_path)
    assert done.returncode == 1, f"{wrong} was not found"
    assert done.stdout.strip()


def test_reasons_for_survivors_name_mutants_that_exist() -> None:
    known: dict[str, set[str]] = {}
    for name in KNOWN:
        module = "intent." + name.split(":")[0]
        known.setdefault(module, {m.name for m in mutants_of(module)})
        assert name in known[module], f"{name} is gone: delete its reason"
