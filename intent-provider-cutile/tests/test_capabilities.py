"""What the provider says that it can: the functions that it spells, and the dtypes that atomics have."""

from __future__ import annotations

import re

import pytest

from intent.diagnostics import CapabilityError
from intent_provider_cutile.capabilities import CAPABILITIES
from intent_provider_cutile.emit import emit
from intent_provider_cutile.spelling import ATOMICS, BY_CAS, native_functions
from intent_testkit.programs import rare, single


def test_functions_are_those_that_every_dtype_has():
    assert native_functions() == CAPABILITIES.functions
    assert {"exp", "add", "sqrt", "select", "and"} <= native_functions()


@pytest.mark.parametrize(
    ("kind", "dtype"), [("max", "f16"), ("xor", "f32"), ("and", "i8"), ("exchange", "i16")]
)
def test_refused_atomics_name_what_there_is_instead(kind, dtype):
    with pytest.raises(CapabilityError) as raised:
        emit(rare.unread(kind, dtype))
    offered = re.search(r"offers is \[(.*)\]", str(raised.value))
    assert offered is not None
    assert offered[1] == ", ".join(repr(d) for d in sorted(d for k, d in ATOMICS | BY_CAS if k == kind))


def test_functions_that_a_dtype_has_not_are_named():
    with pytest.raises(CapabilityError, match="exp of i32"):
        emit(single.pointwise("exp", "i32", 1))
