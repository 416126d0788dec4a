"""Mutants of what providers emit that nothing finds, and why: each is another correct provider."""

from __future__ import annotations

from typing import Final

_SIGN: Final = "a sign is 1 or -1"
_FACTORS: Final = "only the message of a refusal names it"
_ZERO: Final = "0 stands in parentheses"
_LONGER: Final = "more digits of the same number"
_NO_F32: Final = "no f32 is as large"
_MORE_FUNCTIONS: Final = "there are more functions than one"
_COMPLETE: Final = "every function of floats has a spelling for both widths"
_ONE_DTYPE: Final = "both operands of a product have one dtype"
_EITHER_WAY: Final = "several dims are reduced one after the other, in any order"
_ORDER: Final = "the order of what is listed means nothing"

EMITTED: Final[dict[str, str]] = {
    "provider.emission.python.segments:write_segments:forget-filter:0": (
        "a segment that has no programs is written, and never runs"
    ),
    "provider.emission.python.extents:ExtentWriter.write:blur-bound:0": _SIGN,
    "provider.emission.python.extents:ExtentWriter.write:blur-bound:1": _SIGN,
    "provider.emission.python.extents:ExtentWriter.write:blur-bound:2": _SIGN,
    "intent_provider_triton.emit.structured:_sum_of_products:other-side:1": _FACTORS,
    "intent_provider_triton.emit.structured:dot_layout:skip-decision:6": (
        "products of short fragments are right as matrix products, too; which is faster is a choice"
    ),
    "intent_provider_triton.emit.literals:literal:blur-bound:0": _ZERO,
    "intent_provider_triton.emit.literals:_float_literal:blur-bound:0": "only infinities get there",
    "intent_provider_triton.emit.literals:_float_literal:blur-bound:1": "only infinities and NaN get there",
    "intent_provider_triton.emit.literals:_float_literal:blur-bound:2": _SIGN,
    "intent_provider_triton.emit.literals:_float_literal:blur-bound:3": _LONGER,
    "intent_provider_triton.emit.literals:_float_literal:blur-bound:4": _ZERO,
    "intent_provider_triton.emit.literals:_by_way_of_f32:blur-bound:0": _SIGN,
    "intent_provider_triton.emit.literals:_shortest:blur-bound:0": _NO_F32,
    "intent_provider_cutile.emit.literals:literal:blur-bound:0": _ZERO,
    "intent_provider_cutile.emit.literals:_float_literal:blur-bound:0": "only infinities get there",
    "intent_provider_cutile.emit.literals:_float_literal:blur-bound:1": _LONGER,
    "intent_provider_cutile.emit.literals:_float_literal:blur-bound:2": _SIGN,
    "intent_provider_cutile.emit.literals:_shortest:blur-bound:0": _NO_F32,
    "intent_provider_cutile.emit.kernel:KernelEmitter._combine:wrong-text:0": (
        "no two values have one place but paddings, and those are alike"
    ),
    "intent_provider_cutile.emit.kernel:KernelEmitter.emit:forget-filter:0": (
        "an array that only a comment names gets a line that the compiler drops"
    ),
    "intent_provider_triton.emit.structured:dot_layout:other-side:1": _ONE_DTYPE,
    "intent_provider_triton.emit.structured:_dot:other-side:0": _ONE_DTYPE,
    "intent_provider_cutile.emit.contract:layout_of:other-side:0": _ONE_DTYPE,
    "intent_provider_cutile.emit.contract:_sum_of_products:other-side:1": _FACTORS,
    "intent_provider_cutile.emit.contract:_sum_of_products:blur-bound:0": "of f32 the wider dtype is f32",
    "intent_provider_cutile.emit.contract:_sum_of_products:flip-flag:0": _EITHER_WAY,
    "intent_provider_cutile.emit.structured:_arg_reduce:flip-flag:0": _EITHER_WAY,
    "intent_provider_cutile.emit.structured:reduce:flip-flag:0": _EITHER_WAY,
    "intent_provider_cutile.emit.structured:_generic_reduce:flip-flag:0": _EITHER_WAY,
    "intent_provider_triton.emit.structured:_arg_reduce:flip-flag:0": _EITHER_WAY,
    "intent_provider_triton.emit.structured:reduce:flip-flag:0": _EITHER_WAY,
    "intent_provider_triton.emit.structured:_generic_reduce:flip-flag:0": _EITHER_WAY,
    "intent_provider_triton.emit.structured:_sum_of_products:flip-flag:0": _EITHER_WAY,
    "intent_provider_triton.emit.structured:_sum_of_products:blur-bound:0": "of f32 the wider dtype is f32",
    "intent_provider_cutile.emit.runs:_nameless:swap-operands:0": _ORDER,
    "intent_provider_cutile.emit.boxes:Boxes._make:forget-filter:1": "all of them are boxes there",
    "intent_provider_cutile.emit.boxes:Boxes.operands:skip-decision:1": "only reads and writes have boxes",
    "intent_provider_triton.emit.atomics:atomic:flip-flag:0": "no atomic is short enough to stand inside of something",
    "intent_provider_triton.spelling:native_functions:forget-filter:0": _COMPLETE,
    "intent_provider_cutile.spelling:native_functions:forget-filter:0": _COMPLETE,
    "intent_provider_triton.emit.structured:dot_layout:blur-bound:3": "no two dims have one place",
    "intent_provider_triton.spelling:_power_of_two:blur-bound:0": "no divisor is 0",
    "intent_provider_triton.spelling:native_functions:blur-bound:0": _MORE_FUNCTIONS,
    "intent_provider_cutile.spelling:native_functions:blur-bound:0": _MORE_FUNCTIONS,
    "intent_provider_cupy.emit.products:product_of:other-side:3": _ONE_DTYPE,
    "intent_provider_cupy.emit.products:product_of:other-side:7": _ONE_DTYPE,
    "intent_provider_cupy.emit.products:_on_tensor_cores:other-side:0": _ONE_DTYPE,
    "intent_provider_cupy.emit.contract:_lane_by_lane:swap-operands:0": _ORDER,
    "intent_provider_cupy.casts:_exact_literal:blur-bound:0": "the one float of 32 bits has returned before",
    "intent_provider_cupy.emit.contract:_in_tiles:blur-bound:1": "what just fits is halved: slower, and as right",
    "intent_provider_cupy.emit.products:few_rows:blur-bound:0": "how many results are few is a choice",
    "intent_provider_cupy.emit.control:branch:forget-filter:0": (
        "a result that nothing reads is a variable that the compiler drops"
    ),
    "provider.emission.arguments:Arguments.parameters:forget-filter:0": _ORDER,
    "intent_provider_cupy.emit.placing:Placing._wants_of:swap-operands:0": (
        "loads and stores weigh more, and have placed these dims by then"
    ),
    "intent_provider_cupy.emit.kernel:KernelEmitter._definition:blur-bound:0": (
        "only which lines of the text are broken"
    ),
    "intent_provider_cupy.emit.context:Context._special:swap-fields:0": "only a name in the text",
}
"""By name of the mutant."""
