"""What a provider is excused from, strictly: the case must fail there, and with the error named here.

There are three reasons and no others. ``unsupported``: the provider's target lacks something and says so with
a typed error. ``upstream_bug``: the toolchain below the provider is wrong, reported at the address given.
``never``: the case cannot make sense on that provider.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Final


class UnexpectedPass(AssertionError):
    """A case that is excused on this provider succeeded: the exception must be removed."""


@dataclass(frozen=True, kw_only=True)
class Excuse:
    """Cases whose names match ``cases`` on ``provider`` must raise ``error`` (a class name).

    ``execution`` limits it to ``"emulate"`` or ``"gpu"``; None means both.
    """

    provider: str
    cases: str
    error: str
    why: str
    execution: str | None = None

    def covers(self, provider: str, case: str, execution: str) -> bool:
        """Whether this excuse is about that case there."""
        return (
            provider == self.provider
            and fnmatchcase(case, self.cases)
            and self.execution in (None, execution)
        )


def unsupported(provider: str, cases: str, *, error: str, why: str, execution: str | None = None) -> Excuse:
    """The target lacks something; ``error`` is the typed error that says so."""
    return Excuse(provider=provider, cases=cases, error=error, why=f"unsupported: {why}", execution=execution)


def upstream_bug(provider: str, cases: str, *, error: str, url: str, execution: str | None = None) -> Excuse:
    """The toolchain is at fault; ``url`` is the public report."""
    return Excuse(
        provider=provider, cases=cases, error=error, why=f"upstream bug: {url}", execution=execution
    )


def never(provider: str, cases: str, *, error: str, reason: str) -> Excuse:
    """The case makes no sense on this provider."""
    return Excuse(provider=provider, cases=cases, error=error, why=f"never: {reason}")


EXCUSES: Final[tuple[Excuse, ...]] = (
    unsupported(
        "cutile",
        "atomic_extremes_f16",
        error="CapabilityError",
        why="cuTile has no atomic maximum of floats, and compares and swaps words of 32 and 64 bits only",
    ),
)


def find(provider: str, case: str, execution: str, excuses: tuple[Excuse, ...] = EXCUSES) -> Excuse | None:
    """The excuse for a case on a provider under ``execution`` (``"gpu"`` or ``"emulate"``), or None."""
    return next((excuse for excuse in excuses if excuse.covers(provider, case, execution)), None)


@contextmanager
def strictly(excuse: Excuse | None) -> Iterator[None]:
    """Without an excuse, nothing; with one, the block must raise exactly the error that it names."""
    if excuse is None:
        yield
        return
    try:
        yield
    except Exception as error:
        if excuse.error in {cls.__name__ for cls in type(error).__mro__}:
            return
        raise
    raise UnexpectedPass(f"excused ({excuse.why}), but it passes; remove the exception")
