"""Native builds of atomic accesses: the instructions that they become."""

from __future__ import annotations

import pytest

from intent_provider_triton.plugin import plugin
from intent_testkit.programs import atomic

PROVIDER = plugin.intent_provider()


@pytest.mark.parametrize(
    "program",
    [atomic.exchange("i32"), atomic.exchange("u64"), atomic.exchange("i64", masked=False)]
    + [atomic.exchange("i32", lanes=1), atomic.exchange("u8"), atomic.exchange("bool", lanes=1)]
    + [atomic.exchange("bf16"), atomic.exchange("f8e5m2", masked=False)]
    + [make(dtype) for make in (atomic.load, atomic.store) for dtype in ("i32", "u64")],
)
def test_native_builds(program):
    listing = PROVIDER.build(PROVIDER.serialize(program), "sm_90").listing
    assert {"swap": "atom", "run_load": ".or.b", "run_store": ".exch.b"}[program.name] in listing
    assert program.name != "swap" or ".cas.b" in listing
