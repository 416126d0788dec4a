"""dtypes by name, constants, formats and enums."""

from __future__ import annotations

import math

import pytest

import intent.language as I
from intent.diagnostics import UnknownDType
from intent.types import DType, dtypes


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=repr)
def test_every_dtype_is_a_name_of_the_language(dtype):
    assert getattr(I, dtype.name) is dtype
    assert I.dtype(dtype.name) is dtype
    assert isinstance(dtype, I.DType)
    assert I.DType is DType


@pytest.mark.parametrize(("foreign", "ours"), [("float32", "f32"), ("bfloat16", "bf16"), ("int64", "i64")])
def test_names_of_other_libraries_are_translated_in_the_error(foreign, ours):
    with pytest.raises(UnknownDType) as caught:
        I.dtype(foreign)
    assert caught.value.fix == f"write '{ours}'"


def test_a_misspelt_dtype_is_suggested():
    with pytest.raises(UnknownDType) as caught:
        I.dtype("f8e4m3")
    assert caught.value.fix == "did you mean f8e4m3fn?"


def test_a_dtype_is_not_a_dtype_name():
    with pytest.raises(UnknownDType):
        I.dtype(I.f32)


def test_constants():
    assert I.inf == math.inf
    assert 2**I.LOG2E == pytest.approx(math.e)


def test_formats_are_distinct_and_say_how_they_are_stored():
    assert (I.e2m1.bits, I.e2m1.per_carrier, I.e2m1.carrier) == (4, 2, "u8")
    assert (I.e4m3.role, I.e8m0.role) == ("element", "scale")
    assert repr(I.e8m0) == "I.e8m0"


def test_enum_members_are_closed_and_have_no_arithmetic():
    class Mode(I.Enum):
        A = 0
        B = 1

    assert Mode.A is Mode(0)
    assert Mode.A != 0
    with pytest.raises(TypeError):
        Mode.A + 1
