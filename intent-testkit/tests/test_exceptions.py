from __future__ import annotations

import pytest

from intent_testkit.exceptions import UnexpectedPass, find, never, strictly, unsupported, upstream_bug


class CapabilityError(Exception):
    pass


EXCUSES = (
    unsupported("toy", "matmul_*", error="CapabilityError", why="no products"),
    upstream_bug("toy", "add", error="ValueError", url="https://example.org/1", execution="emulate"),
    never("other", "*", error="CapabilityError", reason="it has no arrays"),
)


def test_an_excuse_is_found_by_provider_case_and_execution():
    assert find("toy", "matmul_f16", "gpu", EXCUSES) is EXCUSES[0]
    assert find("toy", "matmul", "gpu", EXCUSES) is None
    assert find("toy", "add", "emulate", EXCUSES) is EXCUSES[1]
    assert find("toy", "add", "gpu", EXCUSES) is None
    assert find("other", "anything", "gpu", EXCUSES) is EXCUSES[2]
    assert find("third", "add", "gpu", EXCUSES) is None


def test_the_named_error_is_swallowed_also_as_a_base_class():
    with strictly(EXCUSES[0]):
        raise CapabilityError
    with strictly(EXCUSES[1]):
        raise UnicodeError


def test_another_error_is_not():
    with pytest.raises(KeyError), strictly(EXCUSES[0]):
        raise KeyError("x")


def test_success_where_failure_was_excused_is_a_failure():
    with pytest.raises(UnexpectedPass, match="no products"), strictly(EXCUSES[0]):
        pass


def test_without_an_excuse_errors_pass_through():
    with pytest.raises(CapabilityError), strictly(None):
        raise CapabilityError
    with strictly(None):
        pass
