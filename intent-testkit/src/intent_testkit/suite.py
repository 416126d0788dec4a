"""Artifacts under test, compiled once per provider and case, and where they run."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import intent
from intent.provider.registry import registry
from intent_testkit.cases.case import Case
from intent_testkit.device import Place, choose_place, has_gpu


def provider_names() -> tuple[str, ...]:
    """The installed providers."""
    return registry().names()


class Suite:
    """Compiles each case once per provider; remembers a failure, so that every point of it reports it."""

    def __init__(self) -> None:
        self._artifacts: dict[tuple[str, str], Any] = {}
        self._failures: dict[tuple[str, str], Exception] = {}

    def artifact(self, provider: str, case: Case) -> Any:
        """The artifact of ``case`` on ``provider`` under its default plan."""
        key = provider, case.name
        if key in self._failures:
            raise self._failures[key]
        if key not in self._artifacts:
            try:
                self._artifacts[key] = compile_case(provider, case)
            except Exception as error:
                self._failures[key] = error
                raise
        return self._artifacts[key]

    @staticmethod
    @contextmanager
    def execution(provider: str) -> Iterator[tuple[str, Place]]:
        """How ``provider`` runs here (``gpu``, ``emulate`` or ``cpu``) and where; set in the environment."""
        needs_gpu = registry().get(provider).capabilities.needs_gpu
        before = os.environ.get("INTENT_EXECUTION")
        if needs_gpu and not has_gpu():
            os.environ["INTENT_EXECUTION"] = "emulate"
        emulating = os.environ.get("INTENT_EXECUTION", "").strip().lower() == "emulate"
        kind = "cpu" if not needs_gpu else "emulate" if emulating else "gpu"
        try:
            yield kind, choose_place(needs_gpu)
        finally:
            if before is None:
                os.environ.pop("INTENT_EXECUTION", None)
            else:
                os.environ["INTENT_EXECUTION"] = before


def compile_case(provider: str, case: Case, plan: Any = None) -> Any:
    """Compile a case; the default plan unless one is given."""
    return intent.compile(case.kernel, provider=provider, constexprs=dict(case.constexprs), plan=plan)
