"""Checking a kernel and looking at what its report blames."""

from __future__ import annotations

import pytest

import intent


def blamed(violation):
    """The part of the author's line under the caret."""
    span = violation.span
    line = span.source.splitlines()[0]
    return line[span.column : span.end_column if span.end_line == span.line else len(line)].strip()


@pytest.fixture
def faulty():
    """``faulty(kernel, args, (Error, text), ...)``: the report holds exactly these, at these parts of the source."""

    def run(kernel, args, *expected, **options):
        report = intent.check(kernel, *args, **options)
        found = {(type(v), blamed(v)) for v in report}
        assert found == set(expected), str(report)
        assert all(v.span.file == __import__("inspect").getsourcefile(kernel.function) for v in report)
        return report

    return run


@pytest.fixture
def clean():
    """``clean(kernel, *args)``: nothing to report, and the arguments are left as they were."""

    def run(kernel, *args, **options):
        before = [a.copy() if hasattr(a, "copy") else a for a in args]
        report = intent.check(kernel, *args, **options)
        assert not report, str(report)
        assert all(
            (a == b).all() if hasattr(a, "copy") else a == b for a, b in zip(args, before, strict=True)
        )

    return run
