"""Functions of the prelude by themselves."""

from __future__ import annotations

import numpy as np

from intent_provider_cutile import prelude
from intent_provider_cutile.emulate.dtypes import ALL
from intent_provider_cutile.emulate.language import Language
from intent_provider_cutile.emulate.tile import Tile


def test_unsigned_division_of_64_bits():
    text = prelude.FUNCTIONS["_floordiv_u64"]
    namespace = Language().namespace("test")
    exec(f"import cuda.tile as ct\n{text}", namespace)
    edges = np.array(
        [0, 1, 2, 3, 2**31, 2**32 + 1, 2**63 - 1, 2**63, 2**63 + 1, 2**64 - 2, 2**64 - 1, 10, 7], np.uint64
    )
    a, b = (
        x.reshape(-1)[:256]
        for x in np.meshgrid(np.resize(edges, 16), np.maximum(np.resize(edges, 16), np.uint64(1)))
    )
    kind = ALL["uint64"]
    got = namespace["_floordiv_u64"](Tile(a, kind), Tile(b, kind)).data
    np.testing.assert_array_equal(got, a // b)
