"""Which layout arguments have, and one text for all of them."""

from __future__ import annotations

import re

import numpy as np
import pytest

import intent
import intent.language as I
from intent.provider import BoundView, Invocation
from intent_provider_cupy.arguments import layout_of, packed
from intent_provider_cupy.emit import emit
from intent_provider_cupy.emit.interface import (
    LAYOUT_BEGIN,
    LAYOUT_END,
    Layout,
    Parameter,
    default_layout,
    foldable,
    layout_block,
    specialised,
)


@intent.kernel
def doubled(x: I.In[I.f32, ("M", "N")], y: I.Out[I.f32, ("M", "N")]):
    y[...] = x[...] * 2.0


@pytest.fixture(scope="module")
def emitted():
    return emit(intent.compile(doubled, provider="cupy").program)


def call(shape, strides, pointer=1 << 20):
    views = {
        name: BoundView(
            name=name, pointer=pointer, shape=shape, strides=strides, dtype="f32", device="cuda:0", array=None
        )
        for name in "xy"
    }
    return Invocation(views=views, scalars={}, extents=dict(zip("MN", shape, strict=True)), length=1)


def known(layout):
    return dict(layout.divisors)


def test_what_divides_is_known_up_to_what_the_text_asks(emitted):
    signature = emitted.signature
    asked = {p.divisor: p.steps for p in signature.parameters if p.divisor}
    assert asked, "wide accesses ask about addresses"
    aligned = known(layout_of(signature, call((8, 64), (64, 1))))
    assert aligned == {name: steps[-1] for name, steps in asked.items()}
    odd = known(layout_of(signature, call((8, 63), (63, 1), (1 << 20) + 4)))
    assert set(odd.values()) == {1}
    assert layout_of(signature, call((8, 64), (64, 1))) == layout_of(signature, call((8, 4096), (4096, 1)))


def test_strides_that_are_one(emitted):
    signature = emitted.signature
    contiguous = layout_of(signature, call((8, 64), (64, 1)))
    assert contiguous.ones == default_layout(signature).ones != frozenset()
    assert layout_of(signature, call((8, 64), (64, 2))).ones == frozenset()
    assert {p.axis for p in foldable(signature)} == {1}, "a first axis of stride 1 makes no build of its own"
    assert layout_of(signature, call((8, 1), (1, 1))) == layout_of(signature, call((8, 1), (77, 1)))


def test_indices_are_narrow_where_every_offset_fits(emitted):
    assert layout_of(emitted.signature, call((8, 64), (64, 1))).small
    assert not layout_of(emitted.signature, call((8, 64), (1 << 29, 1))).small


def test_a_text_becomes_the_text_of_any_layout_and_back(emitted):
    signature, first = emitted.signature, default_layout(emitted.signature)
    none = Layout(small=False, divisors=tuple((name, 1) for name, _ in first.divisors))
    other = specialised(emitted.text, signature, none)
    block = other[other.index(LAYOUT_BEGIN) : other.index(LAYOUT_END) + len(LAYOUT_END)]
    assert block.splitlines() == layout_block(signature, none)
    assert "typedef long long Index;" in block
    kernel = other[other.rindex("__global__") :]
    assert all(
        re.search(rf"\bIndex {p.emitted}\b", kernel) for p in signature.parameters if p.kind == "stride"
    )
    assert specialised(other, signature, first) == emitted.text


@pytest.mark.parametrize(
    ("dtype", "value", "bits"),
    [("f16", 1.5, "003e"), ("bf16", 1.5, "c03f"), ("f32", -2.0, "000000c0"), ("i8", -1, "ff"),
     ("u64", 1 << 63, "0000000000000080"),
     ("bool", True, "01"), ("f8e4m3fn", 1.5, "3c"), ("f64", 1e400, "000000000000f07f")],
)  # fmt: skip
def test_scalars_are_packed_as_their_type(dtype, value, bits):
    parameter = Parameter(emitted="s", kind="scalar", dtype=dtype, name="s")
    assert packed(parameter, value, small=True).hex() == bits


def test_indices_and_addresses_are_packed_by_width():
    index = Parameter(emitted="n", kind="extent", index=True, name="n")
    assert packed(index, -2, small=True) == np.int32(-2).tobytes()
    assert packed(index, 1 << 40, small=False) == np.int64(1 << 40).tobytes()
    address = Parameter(emitted="x", kind="view", dtype="f32", view="x")
    assert packed(address, 0x7F00_0000_0010, small=True) == np.uint64(0x7F00_0000_0010).tobytes()
