"""Placing carets: indentation, tabs, wide characters, several lines, no source, no place."""

from __future__ import annotations

from intent.diagnostics import BreakInParallel, IntentError, quote, render
from intent.types import Span
from intent.types.span import UNKNOWN


def lines(span: Span) -> list[str]:
    return str(BreakInParallel(span=span)).splitlines()


def test_columns_are_printed_from_one():
    assert lines(Span("a.py", 3, 4, 3, 9, "    break"))[0].startswith("a.py:3:5: error[INT052]: ")


def test_carets_stand_under_the_blamed_part():
    _, quoted, carets, _ = lines(Span("a.py", 3, 4, 3, 9, "    break  # why"))
    assert quoted == "    3 |     break  # why"
    assert carets == "      |     ^^^^^"


def test_a_span_of_several_lines_shows_its_first_line():
    source = "    x = f(\n        1,\n    )"
    assert quote(Span("a.py", 3, 8, 5, 5, source)) == ["    3 |     x = f(", "      |         ^^"]


def test_tabs_are_expanded_in_both_lines():
    assert quote(Span("a.py", 3, 1, 3, 6, "\tbreak")) == ["    3 |     break", "      |     ^^^^^"]


def test_wide_characters_take_two_columns():
    assert quote(Span("a.py", 1, 7, 1, 8, "s = '日本' + x")) == [
        "    1 | s = '日本' + x",
        "      |          ^",
    ]


def test_combining_characters_take_none():
    text = "é = e\u0301 + x"
    column = text.index("x")
    assert quote(Span("a.py", 1, column, 1, column + 1, text))[1] == "      | " + " " * (column - 1) + "^"


def test_a_span_beyond_its_line_still_has_one_caret():
    assert quote(Span("a.py", 3, 90, 3, 95, "x = 1"))[1].endswith("^")


def test_without_source_there_is_no_quotation():
    assert lines(Span("a.py", 3, 4))[1].startswith("  help: ")


def test_without_a_place_the_code_comes_first():
    assert str(BreakInParallel()).startswith("error[INT052]: ")
    assert str(BreakInParallel(span=UNKNOWN)).startswith("error[INT052]: ")


def test_the_chain_is_printed_innermost_first():
    inner, outer = Span("a.py", 20, 4, 20, 8, "    g(x)"), Span("a.py", 30, 4, 30, 8, "    f(x)")
    error = BreakInParallel(span=Span("a.py", 3, 4, 3, 9, "    break"), chain=[inner]).called_from(outer)
    assert [line for line in str(error).splitlines() if "called from" in line] == [
        "  called from: a.py:20:5: g(x)",
        "  called from: a.py:30:5: f(x)",
    ]


def test_at_keeps_the_first_place():
    first, second = Span("a.py", 1), Span("a.py", 2)
    assert BreakInParallel().at(first).at(second).span is first


def test_notes_and_values_stand_between_quotation_and_help():
    error = IntentError("m", seen={"n": 3}, notes=["watch out"], fix="f")
    assert render(error).splitlines() == [
        "error[INT000]: m",
        "  seen: n is 3",
        "  note: watch out",
        "  help: f",
    ]


def test_a_value_of_several_lines_is_indented():
    assert "line one\n        line two" in render(IntentError("m", seen={"log": "line one\nline two"}))


def test_short_files_drop_folders():
    assert render(BreakInParallel(span=Span("/x/y/a.py", 3)), short_files=True).startswith("a.py:3:1: ")
