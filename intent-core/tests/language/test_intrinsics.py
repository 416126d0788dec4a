"""The intrinsics: completeness, signatures, docstrings, and what happens outside a kernel."""

from __future__ import annotations

import copy
import inspect
import pickle

import pytest

import intent.language as I
from intent.diagnostics import IntrinsicOutsideKernel, RemovedConstruct, UnknownIntrinsic
from intent.language import INTRINSICS

DOCUMENTED = """
    domain parallel indices end enumerate ragged members
    full zeros reshape transpose join cast bitcast select mask record
    exp exp2 log log1p lgamma sin asin cos floor erf erfc i0 rsqrt sqrt sigmoid tanh abs
    maximum minimum maximum_num minimum_num add fdiv
    ceil round trunc log2 pow fma isnan isinf clamp
    reduce reduce.sum reduce.max reduce.min reduce.prod reduce.any reduce.all
    arg_reduce.max arg_reduce.min
    scan cumsum cummax cummin cumprod region_fold region_scan
    contract dot matvec vecmat matmul outer scaled_contract scaled_matmul
    sparse_contract sparse_matmul sparse_contract_2to4 sparse.two_of_four sparse.one_of_two histogram
    quantize quantized_dot
    gather scatter_unique scatter_reduce store mutable_load buffer assume_in_bounds
    atomic.load atomic.store atomic.exchange atomic.add atomic.max atomic.min
    atomic.and_ atomic.or_ atomic.xor atomic.compare_exchange random.bits random.uniform
""".split()

EVERY = sorted(INTRINSICS)


def test_every_documented_name_is_there_and_no_other():
    assert set(DOCUMENTED) == set(INTRINSICS)


@pytest.mark.parametrize("name", EVERY)
def test_the_name_leads_to_the_intrinsic(name):
    found = I
    for part in name.split("."):
        found = getattr(found, part)
    assert found is INTRINSICS[name]
    assert repr(found) == f"I.{name}"


@pytest.mark.parametrize("name", EVERY)
def test_it_has_a_docstring_and_a_signature(name):
    found = INTRINSICS[name]
    assert len(found.__doc__) > 20
    assert inspect.signature(found) == found.signature
    assert "self" not in found.signature.parameters
    assert found.signature_text.startswith(f"I.{name}(")


@pytest.mark.parametrize("name", EVERY)
def test_calling_it_outside_a_kernel_is_an_error(name):
    with pytest.raises(IntrinsicOutsideKernel, match="only has a meaning") as caught:
        INTRINSICS[name](1, 2, 3, 4)
    assert caught.value.message.startswith(f"I.{name} ")


@pytest.mark.parametrize("name", EVERY)
def test_aliases_lead_to_parameters(name):
    found = INTRINSICS[name]
    assert set(found.aliases.values()) <= set(found.signature.parameters)
    assert not set(found.aliases) & set(found.signature.parameters)


@pytest.mark.parametrize("name", I.__all__)
def test_all_lists_only_what_exists(name):
    assert getattr(I, name) is not None


@pytest.mark.parametrize(("wrong", "right"), [("expp", "I.exp"), ("reshap", "I.reshape"), ("F32", "I.f32")])
def test_an_unknown_name_suggests_the_closest(wrong, right):
    with pytest.raises(UnknownIntrinsic) as caught:
        getattr(I, wrong)
    assert caught.value.fix == f"did you mean {right}?"


def test_an_unknown_member_suggests_the_closest():
    with pytest.raises(UnknownIntrinsic, match="reduce") as caught:
        I.reduce.maximum  # noqa: B018
    assert caught.value.fix == "did you mean I.reduce.max?"
    with pytest.raises(UnknownIntrinsic) as caught:
        I.random.unifrom  # noqa: B018
    assert caught.value.fix == "did you mean I.random.uniform?"


def test_a_name_of_another_language_says_what_to_write():
    with pytest.raises(RemovedConstruct) as caught:
        I.program_id  # noqa: B018
    assert "I.parallel" in caught.value.fix
    with pytest.raises(RemovedConstruct) as caught:
        I.atomic.cas  # noqa: B018
    assert "compare_exchange" in caught.value.fix


@pytest.mark.parametrize("name", ["print", "sorted_by", "argbest"])
def test_a_name_that_resembles_nothing_is_not_taken_for_another(name):
    with pytest.raises((UnknownIntrinsic, RemovedConstruct)) as caught:
        getattr(I, name)
    assert "did you mean" not in caught.value.fix


@pytest.mark.parametrize("name", I.REMOVED)
def test_removed_names_do_not_exist_and_say_something(name):
    assert name not in INTRINSICS
    assert len(I.REMOVED[name]) > 10
    with pytest.raises(RemovedConstruct):
        I.lookup(name)


def test_dtypes_of_other_libraries_are_translated():
    with pytest.raises(RemovedConstruct) as caught:
        I.float32  # noqa: B018
    assert caught.value.fix == "write I.f32"


def test_probing_for_attributes_works_as_in_any_module():
    assert not hasattr(I, "no_such_name")
    assert not hasattr(I.exp, "no_such_name")
    assert not hasattr(I.reduce, "__wrapped__")


def test_intrinsics_keep_their_identity():
    assert copy.copy(I.exp) is I.exp
    assert copy.deepcopy(I.reduce) is I.reduce
    assert pickle.loads(pickle.dumps(I.reduce.sum)) is I.reduce.sum  # noqa: S301


def test_files_of_the_package_are_not_names_of_the_language():
    with pytest.raises(UnknownIntrinsic):
        I.lookup("memory")


def test_lookup_gives_constants_dtypes_and_namespaces():
    assert I.lookup("f32") is I.f32
    assert I.lookup("LOG2E") == I.LOG2E
    assert I.lookup("atomic") is I.atomic
    assert I.lookup("atomic.add") is I.atomic.add
