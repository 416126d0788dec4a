"""Lowering a kernel, running what it means on arrays, and looking at refusals."""

from __future__ import annotations

import pytest

from intent.diagnostics import IntentError
from intent.frontend import lower
from intent.kir.parse import parse_kernel
from intent.kir.text import print_kernel
from intent.reference.logical import evaluate


@pytest.fixture
def run():
    """``run(kernel, *args, **constexprs)``: lower, check that the text round-trips, evaluate in place."""

    def evaluated(kernel, *args, **constexprs):
        made = lower(kernel, constexprs)
        assert parse_kernel(print_kernel(made)) == made
        evaluate(made, args)
        return made

    return evaluated


@pytest.fixture
def refused():
    """``refused(kernel, Error, text)``: the error, whose blamed part of the author's line is ``text``."""

    def run(kernel, error, text, **constexprs):
        with pytest.raises(error) as found:
            lower(kernel, constexprs)
        raised = found.value
        assert isinstance(raised, IntentError)
        assert raised.span is not None
        span = raised.span
        line = span.source.splitlines()[0]
        end = span.end_column if span.end_line == span.line else len(line)
        assert line[span.column : end] == text
        assert raised.fix
        return raised

    return run
