"""Write docs/errors.md from the error classes of ``intent.diagnostics``; ``--check`` only compares.

One section for each module of the package, one row for each class: its code, its name and the cause, taken
from the class's docstring. Two classes with one code, or a class without a cause, are errors.
Exit status 1 when ``--check`` finds the page out of date.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import sys
from collections import Counter
from pathlib import Path

import intent.diagnostics
from intent.diagnostics import IntentError

PAGE = Path(__file__).resolve().parents[1] / "docs" / "errors.md"
HEAD = """\
# Errors

Every error that Intent raises is an `intent.diagnostics.IntentError`: one class for one cause, with a stable
code. Its text names the place, shows the author's line with a caret, the values seen, and one suggested fix:

    softmax.py:12:14: error[INT030]: the operands of '+' have different dtypes
       12 |     y[row] = x[row] + scale
          |              ^^^^^^^^^^^^^^
      seen: x[row] is f16
      seen: scale is f32
      help: cast one side, for example I.cast(scale, I.f16)

The parts are attributes of the exception: `code`, `message`, `span`, `seen`, `fix`, and `chain`, the calls of
helpers that led there. This page is written by `tools/error_pages.py` from the classes.
"""


def page() -> str:
    """Return the text of docs/errors.md. Raises ValueError for a duplicate code or a missing cause."""
    sections = [(title, rows) for title, rows in map(_section, _modules()) if rows]
    codes = Counter(code for _, rows in sections for code, _, _ in rows)
    duplicates = sorted(code for code, count in codes.items() if count > 1)
    if duplicates:
        raise ValueError(f"codes of more than one class: {', '.join(duplicates)}")
    sections.sort(key=lambda section: section[1][0])
    return "\n".join([HEAD, *(_table(title, rows) for title, rows in sections)])


def _modules() -> list[str]:
    package = intent.diagnostics
    return sorted(f"{package.__name__}.{module.name}" for module in pkgutil.iter_modules(package.__path__))


def _section(module_name: str) -> tuple[str, list[tuple[str, str, str]]]:
    """Return the title and the (code, name, cause) rows of one module, ordered by code."""
    module = importlib.import_module(module_name)
    rows = [
        (error.code, name, _cause(error))
        for name, error in inspect.getmembers(module, inspect.isclass)
        if issubclass(error, IntentError) and error.__module__ == module_name and error is not IntentError
    ]
    title = inspect.cleandoc(module.__doc__ or module_name).splitlines()[0].rstrip(".")
    return title, sorted(rows)


def _cause(error: type[IntentError]) -> str:
    text = inspect.cleandoc(error.__doc__ or "")
    if not text:
        raise ValueError(f"{error.__name__} has no docstring that states its cause")
    return " ".join(text.split("\n\n", 1)[0].split()).replace("``", "`").replace("|", "\\|")


def _table(title: str, rows: list[tuple[str, str, str]]) -> str:
    lines = [f"## {title}", "", "| Code | Class | Cause |", "|---|---|---|"]
    lines += [f"| {code} | `{name}` | {cause} |" for code, name, cause in rows]
    return "\n".join([*lines, ""])


def main(arguments: list[str]) -> int:
    """Write the page, or with ``--check`` say whether it is up to date."""
    text = page()
    if arguments == ["--check"]:
        current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        if not current:
            print("docs/errors.md is out of date; run python tools/error_pages.py")
        return 0 if current else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
