"""Index operations that need no operator in the text."""

from __future__ import annotations

import pytest

from intent.provider.emission import folded


def number(text: str) -> int | None:
    return int(text) if text.lstrip("-").isdigit() else None


@pytest.mark.parametrize(
    ("fn", "a", "b", "wanted"),
    [("add", "2", "3", "5"), ("sub", "2", "3", "-1"), ("minimum", "2", "-3", "-3"), ("maximum", "2", "3", "3"),
     ("mul", "x", "1", "x"), ("mul", "1", "x", "x"), ("add", "0", "x", "x"), ("sub", "x", "0", "x"),
     ("floordiv", "x", "1", "x")],
)  # fmt: skip
def test_what_folds(fn, a, b, wanted):
    assert folded(fn, [a, b], number, str) == wanted


@pytest.mark.parametrize(
    ("fn", "args"),
    [("sub", ["0", "x"]), ("floordiv", ["1", "x"]), ("floordiv", ["7", "2"]), ("mod", ["x", "1"]),
     ("add", ["x", "y"]), ("neg", ["2"]), ("mod", ["x", "y"]), ("maximum", ["x", "y"]), ("mul", [str(1 << 62), "4"])],
)  # fmt: skip
def test_what_does_not(fn, args):
    """Also not what 64 bits cannot hold."""
    assert folded(fn, args, number, str) is None
