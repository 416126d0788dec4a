"""Binding of arguments: positions, keywords, both published spellings, and every error."""

from __future__ import annotations

import inspect

import pytest

import intent.language as I
from intent.diagnostics import MissingArgument, RepeatedArgument, TooManyArguments, UnknownKeyword
from intent.language.binding import bind
from intent.types import Span

SPAN = Span("a.py", 3, 4, 3, 9, "    f(x)")

# One line for each spelling that published programs use: name, positional arguments, keywords.
PUBLISHED = [
    ("full", 3, ""),
    ("full", 1, "fill dtype"),
    ("full", 2, "dtype"),
    ("zeros", 1, "dtype"),
    ("domain", 2, ""),
    ("domain", 3, ""),
    ("domain", 0, "start stop step"),
    ("domain", 0, "begin end"),
    ("parallel", 0, "source"),
    ("transpose", 1, ""),
    ("transpose", 2, ""),
    ("transpose", 1, "permutation"),
    ("transpose", 1, "perm"),
    ("cast", 2, ""),
    ("cast", 1, "dtype"),
    ("bitcast", 2, ""),
    ("mask", 3, ""),
    ("mask", 1, "valid fill"),
    ("select", 3, ""),
    ("select", 0, "condition true_value false_value"),
    ("exp2", 1, "approximate flush_to_zero"),
    ("tanh", 1, "approximate"),
    ("fdiv", 2, "approximate"),
    ("reduce", 1, "axis identity combine"),
    ("reduce", 1, "axis identity combine combine_operands acc_dtype"),
    ("reduce", 4, ""),
    ("reduce.sum", 1, "axis"),
    ("reduce.sum", 1, "axis identity"),
    ("reduce.sum", 1, "axis acc_dtype"),
    ("reduce.max", 1, "axis identity"),
    ("reduce.any", 1, "axis"),
    ("arg_reduce.max", 1, "axis"),
    ("arg_reduce.max", 1, "axis identity"),
    ("arg_reduce.max", 1, "axis acc_dtype"),
    ("scan", 1, "axis identity combine inclusive"),
    ("scan", 1, "axis identity combine inclusive reverse combine_operands acc_dtype"),
    ("cumsum", 1, "axis inclusive reverse acc_dtype"),
    ("region_fold", 0, "source axis summarize combine identity operands"),
    ("region_scan", 0, "source axis summarize combine identity initial_state apply emit operands"),
    ("contract", 2, "reduce acc_dtype"),
    ("contract", 2, "reduce batch acc_dtype"),
    ("dot", 2, "acc_dtype"),
    ("matvec", 2, "acc_dtype transpose"),
    ("vecmat", 2, "acc_dtype transpose"),
    ("matmul", 2, "acc_dtype transpose_lhs transpose_rhs"),
    ("outer", 2, ""),
    ("scaled_contract", 4, "lhs_format rhs_format lhs_group_size rhs_group_size reduce acc_dtype"),
    ("scaled_matmul", 4, "lhs_format rhs_format group_size acc_dtype"),
    ("sparse.two_of_four", 0, "compression_axis logical_extent"),
    ("sparse_contract", 3, "format reduce acc_dtype"),
    ("sparse_matmul", 2, "rhs format acc_dtype"),
    ("sparse_contract_2to4", 3, "acc_dtype"),
    ("histogram", 1, "bins"),
    ("histogram", 1, "bins valid count_dtype"),
    ("histogram", 4, ""),
    ("gather", 1, "index"),
    ("gather", 1, "index valid fill"),
    ("scatter_unique", 1, "index value"),
    ("scatter_unique", 1, "index value valid"),
    ("scatter_unique", 0, "destination index value"),
    ("scatter_reduce", 1, "index value combine"),
    ("store", 1, "index value"),
    ("store", 0, "target index value"),
    ("mutable_load", 2, ""),
    ("mutable_load", 1, "index"),
    ("buffer", 2, "init"),
    ("buffer", 0, "shape dtype init"),
    ("assume_in_bounds", 2, "axis"),
    ("atomic.load", 1, "order"),
    ("atomic.store", 2, "order"),
    ("atomic.add", 2, ""),
    ("atomic.add", 1, "index value order"),
    ("atomic.compare_exchange", 3, "order"),
    ("atomic.compare_exchange", 1, "index expected desired order"),
    ("random.bits", 2, ""),
    ("random.bits", 1, "logical_counter"),
    ("random.bits", 1, "counter"),
    ("random.uniform", 2, "dtype"),
    ("random.uniform", 1, "logical_counter dtype"),
    ("ragged", 0, "outer members offsets"),
    ("ragged", 0, "outer members offsets indices"),
    ("members", 1, ""),
]


@pytest.mark.parametrize(("name", "positional", "keywords"), PUBLISHED)
def test_published_spellings_bind(name, positional, keywords):
    intrinsic = I.INTRINSICS[name]
    args = [f"argument {i}" for i in range(positional)]
    kwargs = {keyword: f"value of {keyword}" for keyword in keywords.split()}
    bound = intrinsic.bind(args, kwargs)
    assert list(bound) == list(intrinsic.signature.parameters)
    assert [value for value in bound.values() if value in args] == args
    for keyword, value in kwargs.items():
        assert bound[intrinsic.aliases.get(keyword, keyword)] == value


def test_defaults_are_filled_in():
    assert I.gather.bind(["x", "i"]) == {"source": "x", "index": "i", "valid": True, "fill": 0}
    assert I.histogram.bind(["v", 8])["count_dtype"] is I.i32
    assert I.contract.bind(["a", "b"], {"acc_dtype": I.f32})["reduce"] == ((1, 0),)


def test_records_take_any_field_name():
    assert I.record.bind([], {"low": 1, "fields": 2}) == {"fields": {"low": 1, "fields": 2}}
    with pytest.raises(TooManyArguments):
        I.record.bind([1])


def test_missing_arguments_are_named():
    with pytest.raises(MissingArgument) as caught:
        I.full.bind(["shape"], span=SPAN)
    assert caught.value.message == "I.full needs 'fill' and 'dtype'"
    assert caught.value.span is SPAN
    assert caught.value.seen == {"its signature": "I.full(shape, fill, dtype)"}


def test_too_many_arguments():
    with pytest.raises(TooManyArguments, match="takes 1 positional argument, 2 given"):
        I.exp.bind([1, 2])


def test_keyword_only_arguments_are_not_positions():
    with pytest.raises(TooManyArguments):
        I.matmul.bind(["a", "b", I.f32])


def test_unknown_keywords_suggest_the_closest():
    with pytest.raises(UnknownKeyword) as caught:
        I.full.bind([(4,)], {"fill": 0, "dtpye": I.f32})
    assert caught.value.fix == "did you mean dtype?"
    with pytest.raises(UnknownKeyword) as caught:
        I.reduce.sum.bind(["x"], {"axis": 0, "keepdims": True})
    assert caught.value.fix == "remove keepdims="


@pytest.mark.parametrize(
    ("args", "kwargs"),
    [
        (["x", (1, 0)], {"perm": (0, 1)}),
        (["x", (1, 0)], {"permutation": (0, 1)}),
        (["x"], {"perm": 0, "permutation": 1}),
    ],
)
def test_one_parameter_is_given_once(args, kwargs):
    with pytest.raises(RepeatedArgument, match="'perm' twice"):
        I.transpose.bind(args, kwargs)


def test_bind_keeps_keyword_only_and_positional_only_apart():
    def f(a, /, b, *, c=3): ...

    signature = inspect.signature(f)
    assert bind("f", signature, [1], {"b": 2}) == {"a": 1, "b": 2, "c": 3}
    with pytest.raises(UnknownKeyword, match="'a'"):
        bind("f", signature, [], {"a": 1, "b": 2})
