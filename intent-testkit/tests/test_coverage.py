from __future__ import annotations

import pytest

from intent_testkit.cases import ALL, BY_NAME
from intent_testkit.coverage import ENTRIES, empty, kinds, measure, rows
from intent_testkit.report import main


@pytest.fixture(scope="module")
def found():
    return measure()


def test_no_cell_that_could_be_filled_is_empty(found):
    assert not empty(found), "\n".join(rows(found))


def test_every_kind_of_operation_has_a_case(found):
    assert {kind for entry, kind in found if not entry} == kinds()


def test_one_case_fills_the_cells_of_its_own_plans():
    found = measure([BY_NAME["add"]])
    filled = {(entry, kind) for entry, kind in found if entry}
    assert {("instance 1", "load"), ("instance block", "pointwise"), ("resident", "store")} <= filled
    assert not [cell for cell in filled if cell[0] in ("grouped", "segments") or cell[1] == "reduce"]
    assert len(empty(found)) > len(kinds()) * len(ENTRIES) // 2


def test_segments_and_groups_are_told_apart():
    found = measure([BY_NAME["two_shapes"]])
    assert found["segments", "load"]
    assert found["grouped", "store"]
    one = measure([BY_NAME["matmul"]])
    assert one["grouped", "contract"]
    assert not one["segments", "contract"]
    assert one["serial block", "contract"]
    assert one["serial 1", "contract"]
    assert one["resident", "contract"]


def test_the_table_is_printed(capsys):
    main(["--coverage", "--intent-case", "softmax"])
    printed = capsys.readouterr().out
    assert "serial block" in printed
    assert "EMPTY: sparse_contract under 'grouped'" in printed
    assert len(ALL) > 300
