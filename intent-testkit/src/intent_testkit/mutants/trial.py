"""One mutant against the cases: run in a process of its own, which dies with the wrong compiler in it.

    python -m intent_testkit.mutants.trial MODULE PATH-OF-MUTATED-SOURCE CASE [CASE ...]

Exit status 0: the mutant survived. 1: something noticed; the last line says what.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any


class _Wrong(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Loads one module from other source."""

    def __init__(self, module: str, source: str) -> None:
        self.module, self.source = module, source
        origin = importlib.util.find_spec(module)
        assert origin is not None
        self.origin = str(origin.origin)

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname != self.module:
            return None
        return importlib.machinery.ModuleSpec(fullname, self, origin=self.origin)

    def exec_module(self, module: ModuleType) -> None:
        exec(compile(self.source, self.origin, "exec"), module.__dict__)  # noqa: S102 - our own source, spoilt


def main(arguments: Sequence[str]) -> int:
    """Try the cases in turn until one fails."""
    module, path, *names = arguments
    wrong = _Wrong(module, Path(path).read_text(encoding="utf-8"))
    for loaded in [m for m in sys.modules if m == "intent" or m.startswith("intent.")]:
        del sys.modules[loaded]
    sys.meta_path.insert(0, wrong)
    try:
        from intent_testkit.cases import ALL
        from intent_testkit.differential import check_plans

        by_name = {case.name: case for case in ALL}
        for name in names:
            check_plans(by_name[name])
    except Exception as error:  # noqa: BLE001 -- whatever it is, the fault was noticed
        text = " ".join(str(error).split())
        print(f"{type(error).__name__}: {text[:160]}")  # noqa: T201 - this is the program's output
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
