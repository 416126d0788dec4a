"""Kinds of fault that broke other kernel languages, this language's rule for each, and what shows it here.

``docs/cases.md`` is made from this table: ``python -m intent_testkit.kinds``.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, kw_only=True)
class Kind:
    """One kind of fault.

    ``cases`` are names of testkit cases, which run on every provider and under every plan of the differential
    suite; ``tests`` are ``file::function`` below the repository's root, for what concerns the host.
    """

    number: int
    fault: str
    rule: str
    cases: tuple[str, ...] = ()
    tests: tuple[str, ...] = ()


_CONFORMANCE: Final = "intent-testkit/src/intent_testkit/conformance"
_CALLS: Final = f"{_CONFORMANCE}/test_calls.py"
_LIMITS: Final = f"{_CONFORMANCE}/test_limits.py"
_LAUNCHES: Final = f"{_CONFORMANCE}/test_launches.py"
_DEVICES: Final = "intent-core/tests/runtime/test_devices.py"
_CONDITIONS: Final = "intent-core/tests/runtime/test_conditions.py"
_SANITIZER: Final = "intent-testkit/tests/test_kinds.py"

KINDS: Final[tuple[Kind, ...]] = (
    Kind(
        number=1,
        fault="Largest and smallest with NaN differ between interpreter and device.",
        rule="A NaN wins max and min; argmax and argmin give the first NaN's position, everywhere.",
        cases=("extrema", "argmax_rows", "argmin_columns", "extremes", "extremes_of_halves", "scatter_float_max"),
    ),
    Kind(
        number=2,
        fault="Position of the largest among infinities or equal values.",
        rule="The lowest position on ties, also where every member is -inf or all are equal.",
        cases=("argmax_rows", "argmin_columns", "argmax_of_integers", "extremes_of_halves"),
    ),
    Kind(
        number=3,
        fault="A padding lane wins a minimum, a product or a maximum of negative numbers.",
        rule="Lanes without a member carry the operation's identity, never a value.",
        cases=("row_max", "products", "any_and_all", "padding_lanes", "padding_lanes_generic", "matmul"),
    ),
    Kind(
        number=4,
        fault="A guarded, shifted gather reads outside its source.",
        rule="Inactive lanes touch no memory, whatever their index holds.",
        cases=(
            "gather_with_fill", "gather_of_value", "shift_with_fill_minus_40", "stencil_with_edges", "guarded_garbage",
            "guarded_row_offsets", "guarded_neighbour",
        ),
    ),
    Kind(
        number=5,
        fault="A row number times a stride passes 2**31.",
        rule="Offsets are exact; 32-bit arithmetic only where the call's own bounds prove it safe.",
        cases=("coordinates_beyond_32_bits",),
        tests=(f"{_LIMITS}::test_elements_far_apart", f"{_LIMITS}::test_coordinates_beyond_32_bits"),
    ),
    Kind(
        number=6,
        fault="A domain of more than 2**31 points.",
        rule="Each point once, or an error before the launch that names the limit.",
        cases=("wide_domain",),
        tests=(
            f"{_LIMITS}::test_more_programs_than_the_grid_allows",
            f"{_LIMITS}::test_a_domain_of_very_many_points",
            f"{_CONDITIONS}::test_grid_limit",
        ),
    ),
    Kind(
        number=7,
        fault="Byte offsets over 4 GiB although element offsets are small.",
        rule="Element and byte offsets are both bounded.",
        tests=(f"{_LIMITS}::test_elements_far_apart",),
    ),
    Kind(
        number=9,
        fault="Extents of zero and of one.",
        rule="An empty segment launches nothing, an empty reduction gives its identity, an extent of one broadcasts.",
        cases=("size_one_and_empty", "size_one_axes", "sum_rows", "matmul", "two_shapes", "softmax", "attention"),
        tests=(f"{_LIMITS}::test_no_points_of_a_domain_that_ends_before_it_begins",),
    ),
    Kind(
        number=10,
        fault="An argument of 1, 16 or 17 meets the kernel that was built for another.",
        rule="The value of an argument never changes the meaning; no stale build is launched.",
        cases=("integer_scalars", "integer_scalars_one"),
        tests=(
            f"{_CALLS}::test_one_artifact_serves_changing_shapes_layouts_and_scalars",
            f"{_CALLS}::test_integer_scalars_that_compilers_specialise_on",
            f"{_LIMITS}::test_elements_far_apart",
        ),
    ),
    Kind(
        number=11,
        fault="Views with negative, zero, transposed strides or an offset.",
        rule="Equal to the contiguous copy (every case runs in these layouts); a written view with a zero stride is "
        "refused at the call.",
        cases=("axpy", "transpose", "rotate_in_place", "matmul", "reverse"),
        tests=(
            f"{_CALLS}::test_a_written_view_with_a_zero_stride_is_refused",
            f"{_CONDITIONS}::test_windows_that_overlap_themselves_written",
        ),
    ),
    Kind(
        number=12,
        fault="Floor division and remainder of negative numbers.",
        rule="Python's rule for all pairs of signs, whether the compiler folds it or the device computes it.",
        cases=("divide_i32", "divide_i64", "divide_u8", "divide_by_literal", "floor_pairs"),
    ),
    Kind(
        number=13,
        fault="A float outside an integer's range is cast to it.",
        rule="Invalid input, which intent.check reports with its line; providers agree in range.",
        cases=("cast_f32", "cast_f32_unsigned", "cast_f64", "cast_f16", "cast_bf16"),
        tests=(f"{_SANITIZER}::test_casts_out_of_range_are_reported",),
    ),
    Kind(
        number=15,
        fault="The signed and the unsigned version of one helper are confused.",
        rule="A helper is typed at each call; shifts of unsigned numbers are logical, divisions and casts unsigned.",
        cases=("signed_and_unsigned_helper", "shifts_i32", "shifts_u32"),
    ),
    Kind(
        number=17,
        fault="A product of f32 matrices is computed in tf32 without a word.",
        rule="A contraction of f32 has the error of f32.",
        cases=("matmul_beyond_tf32", "matmul", "attention_scores"),
    ),
    Kind(
        number=18,
        fault="Subnormal numbers flushed to zero, infinity times zero, the sign of zero.",
        rule="IEEE, unless that one operation was written approximate.",
        cases=(
            "small_and_special_f32", "small_and_special_f16", "small_and_special_bf16", "signed_zeros",
            "arithmetic_f64", "narrow_f32",
        ),
    ),
    Kind(
        number=19,
        fault="Sums of 16-bit floats in 16 bits.",
        rule="They accumulate in f32 and are rounded once.",
        cases=("sum_f16", "sums_of_bf16", "matmul_f16", "matmul_bf16", "half_sums"),
    ),
    Kind(
        number=21,
        fault="Atomics of 16-bit floats.",
        rule="Exact, or a typed error that names what the target lacks; never garbage.",
        cases=(
            "atomic_sums_f16", "atomic_sums_bf16", "atomic_extremes_f16", "scatter_sums_f16", "scatter_sums_bf16",
        ),
    ),
    Kind(
        number=22,
        fault="A histogram of values outside its bins, or of a block's tail.",
        rule="Active values must be in range, silenced ones may be anything, the tail is silent.",
        cases=("histogram_of_valid", "histogram_whole", "histogram_of_bytes", "histogram_of_rows"),
        tests=(f"{_SANITIZER}::test_histogram_values_out_of_range_are_reported",),
    ),
    Kind(
        number=24,
        fault="A kernel overwrites an input that it still needs; views that overlap.",
        rule="Aliasing is declared, or program order holds; an undeclared overlap with a written view is refused at "
        "the call.",
        cases=(
            "overwrite_what_is_needed", "alias_group_apart", "shift_in_place", "transpose_in_place",
            "normalise_in_place", "rotate_in_place", "swap_rows_in_place",
        ),
        tests=(
            f"{_CALLS}::test_the_same_elements_in_and_out",
            f"{_CALLS}::test_overlapping_views_are_refused",
            f"{_LAUNCHES}::test_views_of_one_alias_group_may_overlap_in_any_way",
        ),
    ),
    Kind(
        number=26,
        fault="A failing build is reported once, and later launches pass in silence.",
        rule="Every launch of a kernel that does not build raises; outputs stay as they were.",
        tests=(
            f"{_LAUNCHES}::test_every_launch_of_a_broken_kernel_raises",
            f"{_LAUNCHES}::test_a_failure_that_goes_away_leaves_nothing_behind",
        ),
    ),
    Kind(
        number=28,
        fault="Arguments on another GPU than the current one.",
        rule="The launch runs on the arguments' device and restores the current one; mixed devices are an error.",
        tests=(
            f"{_LAUNCHES}::test_mixed_devices_are_refused",
            f"{_LAUNCHES}::test_the_launch_runs_where_the_arguments_are",
            f"{_DEVICES}::test_mixed_devices",
            f"{_DEVICES}::test_tensors_of_a_gpu_are_launched_on_their_device_and_stream",
        ),
    ),
    Kind(
        number=29,
        fault="The driver is initialised by an import, and a later fork breaks.",
        rule="Importing, listing and asking providers touch no driver.",
        tests=(f"{_LAUNCHES}::test_importing_and_listing_touch_no_driver",),
    ),
)  # fmt: skip


def page() -> Iterator[str]:
    """The lines of ``docs/cases.md``."""
    yield "# Faults that broke other kernel languages"
    yield ""
    yield "<!-- Made by `python -m intent_testkit.kinds`; edit intent_testkit/kinds.py. -->"
    yield ""
    yield "Every line is a kind of fault that users of other kernel languages have reported in public, with the rule"
    yield "that this language has instead. Names of cases are those of the testkit: each runs on every provider, in"
    yield "every layout, and under the minimal, default, random and systematic plans. What concerns the host is shown"
    yield "by tests. Numbers are stable; gaps between them mean nothing."
    yield ""
    yield "| # | Kind of fault | Rule | Cases | Tests |"
    yield "|---|---|---|---|---|"
    for kind in KINDS:
        cases = ", ".join(f"`{name}`" for name in kind.cases)
        tests = ", ".join(f"`{test.rsplit('/', 1)[1]}`" for test in kind.tests)
        yield f"| {kind.number} | {kind.fault} | {kind.rule} | {cases} | {tests} |"


if __name__ == "__main__":
    print("\n".join(page()))  # noqa: T201 - this is the program's output
