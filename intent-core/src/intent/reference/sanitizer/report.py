"""What a check found: one error per broken rule and place, in the order in which they were met."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from intent.diagnostics import CheckFailed, IntentError

__all__ = ["Findings", "Report"]

Key = tuple[object, ...]


class Report(Sequence[IntentError]):
    """The violations of one check; false when there is none.

    Iterating gives the errors, whose ``span``, ``code``, ``message`` and ``seen`` say where and what. ``print``
    shows them as text, with the author's lines. ``stopped`` says why an evaluation could not go on to the end.
    """

    def __init__(self, kernel: str, violations: Sequence[IntentError], stopped: str | None = None) -> None:
        self.kernel = kernel
        self.violations = tuple(violations)
        self.stopped = stopped

    def __getitem__(self, place):  # type: ignore[no-untyped-def] # noqa: ANN001, ANN204 -- Sequence's overloads
        return self.violations[place]

    def __iter__(self) -> Iterator[IntentError]:
        return iter(self.violations)

    def __len__(self) -> int:
        return len(self.violations)

    def __repr__(self) -> str:
        return f"<report on {self.kernel}: {len(self)} violations>"

    def __str__(self) -> str:
        if not self.violations:
            return f"kernel '{self.kernel}': no violations"
        parts = [str(violation) for violation in self.violations]
        if self.stopped:
            parts.append(f"The evaluation ended there: {self.stopped}. What follows was not checked.")
        count = f"{len(self)} violation{'s' if len(self) > 1 else ''}"
        return "\n\n".join([*parts, f"kernel '{self.kernel}': {count}"])

    def raise_if_any(self) -> None:
        """Raise the only violation, or CheckFailed with all of them; do nothing when there is none."""
        if len(self.violations) == 1:
            raise self.violations[0]
        if self.violations:
            first = self.violations[0]
            raise CheckFailed(self.kernel, str(self), count=len(self), span=first.span)


@dataclass(kw_only=True)
class Findings:
    """Violations by key, each kept where it was met first."""

    errors: dict[Key, IntentError] = field(default_factory=dict)
    stopped: str | None = None

    def add(self, key: Key, error: IntentError) -> None:
        """Keep ``error`` unless its key was met before."""
        self.errors.setdefault(key, error)
