"""The gate of emission: the compiler's own front end types every kernel of the testkit and writes its bytecode."""

from __future__ import annotations

import struct
from dataclasses import replace

import pytest

import intent_testkit.cases as testkit
from intent.diagnostics import CapabilityError
from intent_provider_cutile.build import bytecode, default_layout
from intent_provider_cutile.emit import emit
from intent_provider_cutile.plugin import plugin
from intent_testkit.suite import compile_case

PROVIDER = plugin.intent_provider()
MAGIC = b"\x7fTileIR\x00"

REFUSED = {
    "atomic_extremes_f16": "atomic max",  # cuTile compares and swaps words only
}
"""Cases whose default plan the provider refuses, and why."""


@pytest.mark.parametrize("case", testkit.ALL, ids=lambda case: case.name)
def test_bytecode(case):
    artifact = compile_case("cutile", case)
    if case.name in REFUSED:
        with pytest.raises(CapabilityError, match=REFUSED[case.name]):
            PROVIDER.serialize(artifact.program)
        return
    source = PROVIDER.serialize(artifact.program)
    assert bytecode(source)[: len(MAGIC)] == MAGIC


@pytest.mark.parametrize("case", testkit.ALL[::12], ids=lambda case: case.name)
def test_bytecode_with_64_bit_indices(case):
    source = PROVIDER.serialize(compile_case("cutile", case).program)
    layout = replace(default_layout(emit(source.program).signature), small=False, ones=frozenset())
    assert bytecode(source, layout)[: len(MAGIC)] == MAGIC


def test_constants_of_64_bits_reach_the_bytecode_whole():
    """A literal would be rounded to f32, ``ct.float64(...)`` included; two over the square root of pi is of erf."""
    code = bytecode(PROVIDER.serialize(compile_case("cutile", testkit.BY_NAME["elementary_f64"]).program))
    value = 1.1283791670955126
    rounded = struct.unpack("<f", struct.pack("<f", value))[0]
    assert struct.pack("<d", value) in code
    assert struct.pack("<d", rounded) not in code
