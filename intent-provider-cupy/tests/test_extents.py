"""Extents as C++ expressions: a plain division only where both numbers are never negative."""

from __future__ import annotations

import pytest

from intent.types.dtypes import I32
from intent.types.extent import ceildiv, floordiv, scalar, symbol
from intent_provider_cupy.emit.extents import ExtentWriter
from intent_provider_cupy.emit.value import Prec, Value

N, M, S = symbol("N"), symbol("M"), scalar("s")


def written(extent):
    """The text, with arguments under their own names."""
    writer = ExtentWriter(
        lambda name: name, lambda name: Value(text=name, prec=Prec.ATOM, dtype=I32), lambda *_: None
    )
    return writer.write(extent).text


@pytest.mark.parametrize(
    ("extent", "text"),
    [
        (floordiv(N, M), "N / M"),
        (N % M, "N % M"),
        (floordiv(N, S), "it_floor_div<Index>(N, (Index)s)"),
        (floordiv(S, N), "it_floor_div<Index>((Index)s, N)"),
        (N % S, "it_floor_mod<Index>(N, (Index)s)"),
        (S % N, "it_floor_mod<Index>((Index)s, N)"),
        (ceildiv(N, M), "(N + M - 1) / M"),
        (ceildiv(S, M), "-it_floor_div<Index>(-((Index)s), M)"),
    ],
)
def test_divisions(extent, text):
    assert written(extent) == text
