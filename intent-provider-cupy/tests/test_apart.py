"""No two dims of one fragment share bits of the thread number, whatever products asked for."""

from __future__ import annotations

from intent.physical import Dim
from intent_provider_cupy.emit.layout import Want
from intent_provider_cupy.emit.placing import _apart

T, D, E = (Dim(name=name, size=8, axis=name) for name in "TDE")
WANTS = [Want(dims=(T, D), weight=64), Want(dims=(E,), weight=8)]


def _places():
    return {T: (0, 1, None), D: (1, 2, None), E: (0, 1, 2)}


def test_what_nobody_needs_is_taken_back():
    places = _places()
    assert _apart(places, WANTS, {T}) == ()
    assert places == {T: (0, 1, None), E: (0, 1, 2)}
    places = _places()
    assert _apart(places, WANTS, {D}) == ()
    assert places == {D: (1, 2, None), E: (0, 1, 2)}


def test_dims_that_never_meet_may_share():
    places = _places()
    assert _apart(places, WANTS[1:], {T, D, E}) == ()
    assert places == _places()


def test_two_that_tensor_cores_need_are_the_answer():
    places = _places()
    assert set(_apart(places, WANTS, {T, D})) == {T, D}
    assert places == _places()
