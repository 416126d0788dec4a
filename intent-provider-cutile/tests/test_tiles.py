"""Accesses in whole tiles: when they are written, and that they mean what element offsets mean."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import intent
import intent.language as I
from intent.provider import Source
from intent_provider_cutile.build import bytecode, default_layout, divisible_arguments, specialised
from intent_provider_cutile.emit import emit
from intent_provider_cutile.emulate.dtypes import FLOAT32, INT32, TileTypeError
from intent_provider_cutile.emulate.memory import OutsideAccess, memory_of
from intent_provider_cutile.emulate.tile import Tile
from intent_provider_cutile.emulate.tiled import TiledArray, assume_divisible_by, load, store

RNG = np.random.default_rng(5)


@intent.kernel
def product(a: I.In[I.f32, ("M", "K")], b: I.In[I.f32, ("K", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def turned(a: I.In[I.f32, ("K", "M")], b: I.In[I.f32, ("N", "K")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = I.matmul(I.transpose(a[...]), I.transpose(b[...]))


@intent.kernel
def batched(
    a: I.In[I.f32, ("B", "M", "K")], b: I.In[I.f32, ("B", "K", "N")], c: I.Out[I.f32, ("B", "M", "N")]
):
    c[...] = I.matmul(a[...], b[...])


@intent.kernel
def scaled_rows(a: I.In[I.f32, ("M", "N")], c: I.Out[I.f32, ("M", "N")]):
    c[...] = a[...] * 2.0


@pytest.fixture(autouse=True)
def emulated(monkeypatch):
    monkeypatch.setenv("INTENT_EXECUTION", "emulate")


CASES = {
    "product": (product, (64, 64), (64, 32), lambda a, b: a @ b),
    "turned": (turned, (64, 64), (32, 64), lambda a, b: a.T @ b.T),
    "batched": (batched, (3, 32, 64), (3, 64, 16), lambda a, b: a @ b),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("flip", [False, True])
def test_tiles_and_offsets_agree(name, flip, monkeypatch):
    kernel, left, right, oracle = CASES[name]
    used = []
    monkeypatch.setattr(TiledArray, "places", _counted(TiledArray.places, used))
    a, b = (RNG.integers(-4, 5, shape).astype(np.float32) for shape in (left, right))
    if flip:
        a, b = a[..., ::-1], b[..., ::-1]
    wanted = oracle(a, b)
    out = np.zeros(wanted.shape, np.float32)
    intent.compile(kernel, provider="cutile")(a, b, out)
    np.testing.assert_array_equal(out, wanted)
    assert bool(used) != flip


def _counted(places, used):
    def run(self, index, shape):
        used.append(shape)
        return places(self, index, shape)

    return run


def test_tails_and_rows_keep_to_offsets(monkeypatch):
    used = []
    monkeypatch.setattr(TiledArray, "places", _counted(TiledArray.places, used))
    a, b, out = (
        RNG.random((33, 65), np.float32),
        RNG.random((65, 17), np.float32),
        np.zeros((33, 17), np.float32),
    )
    intent.compile(product, provider="cutile")(a, b, out)
    np.testing.assert_allclose(out, a @ b, rtol=1e-4)
    x, y = RNG.random((32, 64), np.float32), np.zeros((32, 64), np.float32)
    intent.compile(scaled_rows, provider="cutile")(x, y)
    np.testing.assert_array_equal(y, x * 2)
    assert not used


def array(data: np.ndarray) -> TiledArray:
    memory = memory_of("x", data, data.ctypes.data, FLOAT32)
    strides = tuple(s // data.itemsize for s in data.strides)
    return TiledArray.from_foreign(memory, data.shape, strides)


def test_a_tile_of_the_stand_in():
    data = np.arange(32, dtype=np.float32).reshape(4, 8)
    np.testing.assert_array_equal(load(array(data), (1, 1), (2, 4)).data, data[2:, 4:])
    store(array(data), (0, 1), Tile(np.full((2, 4), -1, np.float32), FLOAT32))
    assert (data[:2, 4:] == -1).all()


@pytest.mark.parametrize("index", [(2, 0), (0, 2), (-1, 0)])
def test_tiles_that_leave_the_array_are_refused(index):
    with pytest.raises(OutsideAccess):
        load(array(np.zeros((4, 8), np.float32)), index, (2, 4))


def test_partial_tiles_are_refused():
    with pytest.raises(OutsideAccess):
        load(array(np.zeros((3, 8), np.float32)), (1, 0), (2, 4))


def test_arrays_that_run_backwards_are_refused():
    with pytest.raises(TileTypeError, match="strides"):
        array(np.zeros((4, 8), np.float32)[:, ::-1])


def test_claims_about_divisors_are_checked():
    assume_divisible_by(Tile(np.asarray(32, np.int32), INT32), 16)
    with pytest.raises(TileTypeError, match="24 is claimed"):
        assume_divisible_by(Tile(np.asarray(24, np.int32), INT32), 16)


@pytest.mark.parametrize("small", [True, False])
def test_bytecode_of_tiles(small):
    program = _program()
    emitted = emit(program)
    assert set(emitted.signature.tiled) == {"a", "b", "c"}
    assert "ct.store(c_tiles" in emitted.text
    source = Source(text=emitted.text, entry=emitted.entry, suffix=".py", program=program)
    values = [64 if p.kind in ("stride", "extent") else None for p in emitted.signature.parameters]
    usual = default_layout(emitted.signature)
    layout = type(usual)(
        small=small,
        ones=usual.ones,
        aligned=usual.aligned,
        divisible=divisible_arguments(emitted.signature, values),
    )
    assert "a_stride_0 = ct.assume_divisible_by(a_stride_0, 16)" in specialised(
        emitted.text, emitted.signature, layout
    )
    assert bytecode(source, layout)


@cache
def _program():
    """The program that a call with divisible extents runs."""
    from intent_provider_cutile.plugin import CuTileProvider

    kept = []
    original = CuTileProvider.serialize

    def serialize(self, program):
        kept.append(program)
        return original(self, program)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(CuTileProvider, "serialize", serialize)
        a, b, c = (np.zeros(shape, np.float32) for shape in ((128, 64), (64, 64), (128, 64)))
        intent.compile(product, provider="cutile")(a, b, c)
    return next(p for p in kept if p.guards)
