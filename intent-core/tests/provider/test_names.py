"""Names of emitted text are the author's, made unique."""

from __future__ import annotations

import pytest

from intent.provider.emission import Namer


@pytest.fixture
def namer():
    return Namer({"tl", "for"})


def test_a_name_is_handed_out_once(namer):
    assert [namer.fresh("x") for _ in range(3)] == ["x", "x_2", "x_3"]


def test_reserved_names_are_never_handed_out(namer):
    assert [namer.fresh("tl"), namer.fresh("for")] == ["tl_2", "for_2"]


@pytest.mark.parametrize(("hint", "name"), [("a b", "a_b"), ("2d", "v2d"), ("", "t"), ("größe", "gr__e")])
def test_hints_become_ascii_identifiers(namer, hint, name):
    assert namer.fresh(hint) == name


def test_what_is_free(namer):
    assert namer.free("x")
    namer.fresh("x")
    assert not any(map(namer.free, ["x", "tl", "", "a b", "2d", "größe"]))


def test_a_language_may_spell_hints_its_own_way():
    assert Namer((), spell=lambda hint: f"it_{hint}").fresh("x") == "it_x"
