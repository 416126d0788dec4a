from __future__ import annotations

from types import SimpleNamespace

import pytest

from intent.types.extent import symbol
from intent_testkit.cases import BY_NAME
from intent_testkit.segments import WrongProgramSpace, check_segments

M, N = symbol("M"), symbol("N")


def _program(*segments):
    return SimpleNamespace(
        segments=[
            SimpleNamespace(
                axes=[SimpleNamespace(label=str(e), extent=e, block=1) for e in axes], length=length
            )
            for axes, length in segments
        ]
    )


def test_the_expected_space_passes():
    check_segments(BY_NAME["axpy"], _program(([M, N], M * N)))
    check_segments(BY_NAME["extrema_integers"], _program(([M], M), ([N], N)))
    check_segments(BY_NAME["compare"], _program(([N], N), ([N], N)))


@pytest.mark.parametrize(
    "segments",
    [
        [([], M * 0 + 1)],
        [([M], M)],
        [([M, N], M)],
        [([N, M], M * N)],
        [],
        [([M, N], M * N), ([M], M)],
    ],
)
def test_any_other_space_fails(segments):
    with pytest.raises(WrongProgramSpace, match="expected axes"):
        check_segments(BY_NAME["axpy"], _program(*segments))
