"""Write docs/survivors.md from the reasons in ``intent_testkit.mutants``; ``--check`` only compares.

One row for each reason: the mutants that nothing finds because of it. Exit status 1 when ``--check`` finds the page out
of date.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from intent_testkit.mutants.survivors import KNOWN

PAGE = Path(__file__).resolve().parents[1] / "docs" / "survivors.md"
HEAD = """\
# Mutants that nothing finds

Each of these [wrong compilers](mutants.md) is another right one: it makes the same programs, or other ones whose
results are the same, or it differs in words for people only. No campaign counts them. The reasons stand in
`intent_testkit.mutants.survivors` and `emission_survivors`, and a test fails when a mutant of them is gone.
"""
SECTIONS = {
    "Construction": ("construct.",),
    "Passes": ("passes.",),
    "Planning": ("planning.",),
    "Verifier": ("physical.",),
    "What providers emit": ("provider.", "intent_provider_"),
}
"""Heading -> how the names of its mutants begin."""


def page(known: Mapping[str, str] = KNOWN) -> str:
    """Return the text of docs/survivors.md. Raises ValueError for a mutant that belongs to no section."""
    prefixes = tuple(prefix for prefixes in SECTIONS.values() for prefix in prefixes)
    homeless = [name for name in known if not name.startswith(prefixes)]
    if homeless:
        raise ValueError(f"no section for {homeless[0]}")
    return "\n".join([HEAD, *(line for section in SECTIONS for line in _section(section, known))])


def _section(section: str, known: Mapping[str, str]) -> Iterator[str]:
    by_reason: dict[str, list[str]] = {}
    for name, reason in known.items():
        if name.startswith(SECTIONS[section]):
            by_reason.setdefault(reason, []).append(name)
    if by_reason:
        yield from (f"## {section}", "", "| Why | Mutants |", "|---|---|")
        for reason, names in by_reason.items():
            yield f"| {reason} | {', '.join(f'`{name}`' for name in sorted(names))} |"
        yield ""


def main(arguments: list[str]) -> int:
    """Write the page, or with ``--check`` say whether it is up to date."""
    text = page()
    if arguments == ["--check"]:
        current = PAGE.is_file() and PAGE.read_text(encoding="utf-8") == text
        if not current:
            print("docs/survivors.md is out of date; run python tools/survivors_page.py")
        return 0 if current else 1
    PAGE.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
