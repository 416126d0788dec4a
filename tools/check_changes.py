"""Check the changelog fragments under changes/: names, contents, and that there is at least one.

A fragment is ``changes/<issue or +name>.<kind>.md``; see changes/README.md. Between releases at least one
must exist; right after a release (the version of intent-core heads CHANGELOG.md) none need to.
Exit status 1 when something is wrong, with one line for each fault.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

FRAGMENT = re.compile(r"(?P<issue>\d+|\+[a-z0-9-]+)\.(?P<kind>[a-z]+)(\.\d+)?\.md")


def check_changes(root: Path) -> list[str]:
    """Return the faults found in ``root/changes``, one sentence each; empty when all is well."""
    tool = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]
    kinds = {entry["directory"] for entry in tool["towncrier"]["type"]}
    fragments = sorted(path for path in (root / "changes").iterdir() if path.name != "README.md")
    faults = [fault for path in fragments for fault in _fragment_faults(path, kinds)]
    if not fragments and not _is_released(root):
        faults.append("changes/: no fragment, and CHANGELOG.md does not open with the current version")
    return faults


def _fragment_faults(path: Path, kinds: set[str]) -> list[str]:
    match = FRAGMENT.fullmatch(path.name)
    if match is None:
        return [f"changes/{path.name}: the name should be <issue or +name>.<kind>.md"]
    faults = []
    if match["kind"] not in kinds:
        faults.append(f"changes/{path.name}: unknown kind {match['kind']!r}; one of {sorted(kinds)}")
    text = path.read_text(encoding="utf-8").strip()
    if not text.endswith((".", "!", "```")):
        faults.append(f"changes/{path.name}: a fragment is one or more whole sentences")
    return faults


def _is_released(root: Path) -> bool:
    core = tomllib.loads((root / "intent-core" / "pyproject.toml").read_text(encoding="utf-8"))
    headings = re.findall(r"^## (\S+)", (root / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    return bool(headings) and headings[0] == core["project"]["version"]


def main() -> int:
    """Print each fault; return 1 if there were any."""
    faults = check_changes(Path(__file__).resolve().parents[1])
    for fault in faults:
        print(fault)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
