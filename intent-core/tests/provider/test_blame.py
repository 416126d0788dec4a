"""The author's line of a line of emitted text."""

from __future__ import annotations

import intent
import intent.language as I
from intent.provider.blame import author_span


@intent.kernel
def doubled(x: I.In[I.f32, ("N",)], y: I.Out[I.f32, ("N",)]):
    twice = x[...] + x[...]
    y[...] = twice * 3.0


TEXT = """\
def helper():
    return 1
def kernel():
    # twice = x[...] + x[...]
    a = 1
    b = 2
    # y[...] = twice * 3.0
    c = 3
"""


def span_of(*lines):
    program = intent.compile(doubled, provider="reference").program
    return author_span(TEXT, lines, program, comment="# ", heads=("def ",))


def test_the_nearest_comment_above_the_line_is_the_authors():
    assert "twice = x" in span_of(6).source
    assert "y[...] = twice" in span_of(8).source


def test_the_first_line_that_has_one_counts():
    assert "y[...] = twice" in span_of(2, 8, 6).source


def test_a_comment_of_another_function_says_nothing():
    assert span_of(2) is span_of()
    assert not span_of(2).source
