"""The kit against deliberately wrong artifacts: every case has to fail them, and pass the right one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from intent_testkit.cases import ALL
from intent_testkit.cases.case import Case, ViewSpec
from intent_testkit.cases.draw import Array
from intent_testkit.compare import WrongResult
from intent_testkit.device import Host
from intent_testkit.memory import InputModified, OutOfBoundsWrite
from intent_testkit.run import Point, draw, expected, points, run, variants

IDS = [case.name for case in ALL]
Damage = Callable[[Point, dict[str, Array]], None]


class Oracle:
    """An artifact that writes what the oracle gives, then does ``damage``."""

    def __init__(self, point: Point, damage: Damage | None = None):
        self.point, self.damage = point, damage

    def __call__(self, *arguments):
        case = self.point.case
        named = {spec.name: a for spec, a in zip(case.parameters, arguments, strict=True)}
        wanted = expected(self.point, draw(self.point))
        for spec in case.views:
            if spec.role != "in" and named[spec.name].size:
                with np.errstate(all="ignore"):
                    named[spec.name][...] = np.asarray(wanted[spec.name]).astype(spec.numpy)
        if self.damage is not None:
            self.damage(self.point, named)


def _largest(case: Case) -> Point:
    full = [p for p in points(case) if p.variant == "contiguous" and all(p.extents.values())]
    return full[-1]


def _written(case: Case) -> list[ViewSpec]:
    return [spec for spec in case.views if spec.role != "in"]


@pytest.mark.parametrize("case", ALL, ids=IDS)
def test_the_oracle_itself_passes_at_every_point(case):
    for point in points(case):
        run(point, Oracle(point), Host())


@pytest.mark.parametrize("case", ALL, ids=IDS)
def test_an_artifact_that_writes_nothing_fails(case):
    point = _largest(case)
    changed = expected(point, draw(point))
    values = draw(point)
    if all(np.array_equal(values[n], np.broadcast_to(changed[n], np.shape(values[n]))) for n in changed):
        pytest.fail("the case expects nothing to change")
    with pytest.raises(WrongResult):
        run(point, lambda *_: None, Host())


@pytest.mark.parametrize("case", ALL, ids=IDS)
def test_one_wrong_element_of_any_output_fails(case):
    point = _largest(case)
    for spec in _written(case):

        def damage(_, named, spec=spec):
            flat = named[spec.name].reshape(-1)
            last = flat[-1]
            if spec.dtype == "bool":
                flat[-1] = not last
            elif np.issubdtype(spec.numpy, np.integer):
                flat[-1] = last ^ spec.numpy.type(1)
            else:
                wrong = spec.numpy.type(float(last) * 1.02 + 0.03 if np.isfinite(float(last)) else 1.0)
                # Where so small a change is rounded away, the next number but one.
                flat[-1] = wrong if wrong != last else spec.numpy.type(float(last) * 1.25)

        with pytest.raises(WrongResult, match=f"'{spec.name}'"):
            run(point, Oracle(point, damage), Host())


@pytest.mark.parametrize(
    "case", [c for c in ALL if any(v.role == "in" and v.shape for v in c.views)], ids=lambda case: case.name
)
def test_a_changed_input_fails(case):
    point = _largest(case)
    spec = next(v for v in case.views if v.role == "in" and v.shape)

    def damage(_, named):
        raw = named[spec.name].reshape(-1).view(np.uint8)
        raw[0] ^= 1

    with pytest.raises(InputModified):
        run(point, Oracle(point, damage), Host())


@pytest.mark.parametrize("case", ALL, ids=IDS)
def test_a_write_past_the_end_fails(case):
    point = _largest(case)
    spec = _written(case)[-1]

    def damage(_, named):
        view = named[spec.name]
        address = view.__array_interface__["data"][0] + view.nbytes
        base = view
        while base.base is not None and isinstance(base.base, np.ndarray):
            base = base.base
        owner = np.asarray(base.base if isinstance(base.base, memoryview) else base)
        owner = owner.reshape(-1).view(np.uint8)
        owner[address - owner.__array_interface__["data"][0]] ^= 0xFF

    with pytest.raises(OutOfBoundsWrite):
        run(point, Oracle(point, damage), Host())


def test_the_kit_is_as_wide_as_it_says():
    assert len({case.kernel.name for case in ALL}) >= 150
    kinds = {variant for case in ALL for variant in variants(case)}
    assert kinds == {"contiguous", "strided", "transposed", "flipped", "broadcast"}
    dtypes = {spec.dtype for case in ALL for spec in case.views}
    assert dtypes >= {
        "bool",
        "i8",
        "i16",
        "i32",
        "i64",
        "u8",
        "u16",
        "u32",
        "u64",
        "f16",
        "bf16",
        "f32",
        "f64",
    }


def test_extents_reach_zero_one_and_odd_numbers():
    used = {value for case in ALL for extents in case.extents for value in extents.values()}
    assert {0, 1, 2, 3, 5, 7, 17, 31, 63, 64, 65, 127, 128, 129} <= used


@pytest.mark.parametrize("case", ALL, ids=IDS)
def test_no_case_expects_one_instance_for_what_is_independent(case):
    # A segment without axes is one program: only these are ordered, or have one element, as a whole.
    whole = {
        "sum_all", "mean_squared_error", "dot", "trace_and_symmetric_sum", "power_iteration_0",
        "power_iteration_1", "power_iteration_6", "fibonacci_0", "fibonacci_1", "fibonacci_50",
        "nested_ordered", "stepped_loop", "stepped_loop_negative", "stepped_loop_empty", "stepped_loop_once",
        "three_shapes", "rank_zero", "scalar_arguments", "shift_in_place", "transpose_in_place",
        "write_then_overwrite", "parts_in_place",
        "matrix_prefix", "segmented_sum", "window_sums", "summed_area", "prefix_plus_transpose", "compact",
        "argmin_of_bytes", "argmax_flat",
        "rolling_hash", "folds_in_folds",
        "number_positive", "linear_attention",
        "return_inside_loop", "until_converged", "nested_break", "tensor_state", "levenshtein",
        "counting_ranks", "sieve", "sieve_by_domains", "windows_in_place", "breadth_first", "collide_then_read",
        "collide_twice", "collide_in_turn", "staged_backwards", "filled_in_every_pass",
        "every_third", "one_counter", "part_where_given",
        "rotate_in_place",
        "floor_pairs", "histogram_of_valid", "size_one_and_empty", "overwrite_what_is_needed", "alias_group_apart",
        "uniform_while",
        "ordered_tickets", "scatter_then_read",
        "sum_of_vector", "promised_in_a_branch_taken", "promised_in_a_branch_not_taken", "promised_in_a_loop_of_3",
        "promised_in_a_loop_of_0", "endless_elsewhere_3", "endless_elsewhere_0", "turned_after_a_branch_taken",
        "turned_after_a_branch_not_taken", "added_from_itself", "added_where_they_meet", "added_then_raised",
        "written_again_elsewhere_0", "written_again_elsewhere_2", "carried_diagonal",
        "steps_to_the_end", "sums_between_writes", "frequencies",
    }  # fmt: skip
    assert any(not spec.axes for spec in case.segments) == (case.name in whole)
