from __future__ import annotations

import operator

import numpy as np
import pytest

import intent_testkit
from intent_testkit.cases import ALL, BY_NAME
from intent_testkit.device import Host
from intent_testkit.memory import allocate
from intent_testkit.plans import Compiled
from intent_testkit.run import draw, expected
from intent_testkit.stress.__main__ import main
from intent_testkit.stress.batch import HostBatch, batch_bytes
from intent_testkit.stress.repeat import stress
from intent_testkit.stress.select import features, settles_bits, stress_point, updated_bytes
from intent_testkit.suite import compile_case


class Flaky:
    """The right artifact, but for what ``damage(launch number, arguments by name)`` does after each launch."""

    def __init__(self, name, damage):
        self.case = BY_NAME[name]
        real = compile_case("reference", self.case)
        self.kir, self.program, self._real, self._damage = real.kir, real.program, real, damage
        self.launches = 0

    def __call__(self, *arguments):
        self._real(*arguments)
        named = {spec.name: a for spec, a in zip(self.case.parameters, arguments, strict=True)}
        self._damage(self.launches, named)
        self.launches += 1


def _stress(name, damage=lambda *_: None, **options):
    options = {"repetitions": 20, **options}
    artifact = Flaky(name, damage)
    return stress(stress_point(artifact.case), artifact, Host(), **options), artifact


@pytest.mark.parametrize("name", ["sort_rows", "bit_sets", "scatter_add", "column_sums_by_atomics"])
def test_a_right_kernel_passes_on_fresh_outputs_every_time(name):
    verdict, artifact = _stress(name)
    assert verdict.fault is None
    assert (verdict.repetitions, artifact.launches, verdict.distinct) == (20, 20, 1)


def test_the_repetitions_are_cut_to_the_memory_there_is():
    name = "scatter_add"
    case = BY_NAME[name]
    point = stress_point(case)
    values = draw(point)
    one = batch_bytes({s.name: allocate(s, values[s.name], point.variant) for s in case.views})
    verdict, artifact = _stress(name, limit=3 * one)
    assert verdict.fault is None
    assert artifact.launches == 20


@pytest.mark.parametrize("launch", [0, 7, 19])
def test_one_wrong_element_in_one_launch_is_seen(launch):
    def damage(n, named):
        if n == launch:
            named["y"].flat[3] ^= 1

    verdict, _ = _stress("scatter_add", damage)
    assert verdict.fault.startswith("WrongResult")


def test_a_write_into_a_guard_in_one_launch_is_seen():
    def damage(n, named):
        if n == 11:
            y = named["y"]
            np.lib.stride_tricks.as_strided(y, (y.size + 1,), (y.itemsize,))[-1] = 5

    verdict, _ = _stress("scatter_add", damage)
    assert verdict.fault.startswith("OutOfBoundsWrite")


def test_a_changed_input_is_seen():
    def damage(n, named):
        if n == 11:
            named["at"].flat[0] ^= 1

    verdict, _ = _stress("scatter_add", damage)
    assert verdict.fault is not None
    assert "InputModified" in verdict.fault or "WrongResult" in verdict.fault


def test_launches_that_do_nothing_are_seen():
    def damage(n, named):
        if n == 5:
            named["y"][...] = draw(stress_point(BY_NAME["scatter_add"]))["y"]

    verdict, _ = _stress("scatter_add", damage)
    assert verdict.fault.startswith("WrongResult")


def _nudge(n, named):
    if n % 2:
        y = named["y"]
        y.flat[0] = np.nextafter(y.flat[0], np.float32(np.inf))


def test_other_bits_within_the_tolerance_are_seen_where_no_atomic_rounds():
    # The last place of a sum of floats may differ only where atomics add them up.
    assert BY_NAME["column_sums_by_atomics"].bound("y").rtol > 0
    verdict, _ = _stress("column_sums_by_atomics", _nudge)
    assert (verdict.fault, verdict.distinct) == (None, 2)
    verdict, _ = _stress("linear_attention", _nudge)
    assert verdict.fault.startswith("Unsettled")


def test_batches_hold_their_blocks_apart():
    point = stress_point(BY_NAME["scatter_add"])
    values = draw(point)
    batch = HostBatch({s.name: allocate(s, values[s.name], point.variant) for s in point.case.views}, 4)
    assert batch.differing() == []
    wanted = expected(point, values)["y"]
    for repetition in (1, 3):
        batch.argument("y", repetition)[...] = wanted
    assert batch.differing() == [1, 3]
    first, third = batch.fetch([0, 3])
    assert not np.array_equal(first["y"], third["y"])
    assert np.array_equal(first["x"], third["x"])
    assert np.shares_memory(batch.argument("x", 0), batch.argument("x", 3))


def test_what_is_stressed():
    found = {}
    for case in ALL:
        compiled = Compiled(case)
        program = compiled.constructed(compiled.default(stress_point(case).extents))
        found[case.name] = features(compiled.kernel, program)
    assert len([name for name, f in found.items() if f]) >= 40
    assert found["add"] == found["softmax"] == ()
    assert "atomics" in found["tickets"]
    assert "scatter" in found["scatter_xor"]
    assert "buffers" in found["sort_rows"]
    assert "fences" in found["transpose_in_place"]
    assert "workspace" in found["decaying_sum"]


def test_bits_are_settled_unless_atomics_round():
    def settled(name):
        return settles_bits(compile_case("reference", BY_NAME[name]).program)

    assert settled("sort_rows")
    assert settled("bit_sets")
    assert not settled("column_sums_by_atomics")


def test_the_command_line(capsys):
    assert main(["--provider", "reference", "--only", "bit_sets", "--repetitions", "3"]) == 0
    header, row = capsys.readouterr().out.splitlines()
    assert header.split()[:4] == ["case", "repetitions", "distinct", "seconds"]
    assert row.split()[:3] == ["bit_sets", "3", "1"]
    assert row.endswith("atomics, fences")


@pytest.mark.parametrize(("options", "rows"), [([], 0), (["--all"], 1)])
def test_cases_without_anything_to_race_for_run_on_request(capsys, options, rows):
    assert main(["--provider", "reference", "--only", "group_norm_reshaped", "--once", *options]) == 0
    assert len(capsys.readouterr().out.splitlines()) == 1 + rows


def test_the_command_line_over_processes(capsys):
    assert main(["--provider", "triton", "--only", "bit_", "--once", "--plans", "1", "--jobs", "2"]) == 0
    rows = capsys.readouterr().out.splitlines()[1:]
    assert [row.split()[:2] for row in rows] == [["bit_sets", "1"]] * 2


@pytest.mark.parametrize(("name", "views"), [("scatter_product", {"y"}), ("scatter_sums_f16", set())])
def test_only_bytes_are_updated_through_the_pair_that_holds_them(name, views):
    assert updated_bytes(compile_case("triton", BY_NAME[name]).program) == views


def _without_a_solver(*_, **__):
    raise ModuleNotFoundError("No module named 'z3'")


@pytest.mark.parametrize(
    "stage", ["plans.lower", "plans.construct", "stress.__main__.compile_case", "stress.__main__.stress"]
)
def test_a_case_that_cannot_be_built_is_a_failed_one_and_the_others_run(monkeypatch, capsys, stage):
    """Whatever a case dies of, planning included, is that case's verdict."""
    real = operator.attrgetter(stage)(intent_testkit)
    seen = []

    def once(*arguments, **named):
        seen.append(arguments)
        return (_without_a_solver if len(seen) == 1 else real)(*arguments, **named)

    monkeypatch.setattr(f"intent_testkit.{stage}", once)
    options = ["--provider", "reference", "--only", "scatter_add", "--repetitions", "2"]
    assert main([*options, "--plans", "1"]) == 1
    rows = capsys.readouterr().out.splitlines()[1:]
    assert rows[1] == "  WRONG: ModuleNotFoundError: No module named 'z3'"
    assert sum("WRONG" in row for row in rows) == 1
    assert [row.split()[1] for row in rows[2:]] == ["2"] * (len(rows) - 2) != []
