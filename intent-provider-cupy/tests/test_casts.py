"""Casts of one value: what is computed is no literal, and of literals those of narrow floats stay as they are."""

from __future__ import annotations

from itertools import product

import pytest

import intent_provider_cupy.emit  # noqa: F401 -- casts are a part of emission, and need the rest first
from intent.types.dtypes import ALL, BY_NAME
from intent_provider_cupy.casts import cast
from intent_provider_cupy.emit.literals import literal
from intent_provider_cupy.emit.value import Prec, Value


@pytest.mark.parametrize(("source", "target"), [(a, b) for a, b in product(ALL, ALL) if a != b], ids=str)
def test_what_is_cast_is_no_literal(source, target):
    made = cast(Value(text="x", prec=Prec.ATOM, dtype=source), target)
    assert made.dtype == target
    assert not made.literal


@pytest.mark.parametrize(
    ("source", "target", "stays"),
    [("f16", "f32", True), ("bf16", "f32", True), ("f16", "f64", False), ("f32", "f64", False),
     ("f32", "f16", False), ("f16", "bf16", False), ("f64", "f32", False)],
)  # fmt: skip
def test_literals_that_say_the_same_number(source, target, stays):
    before = literal(0.1, BY_NAME[source])
    assert (cast(before, BY_NAME[target]).text == before.text) is stays
