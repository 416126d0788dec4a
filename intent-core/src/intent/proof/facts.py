"""What a proof may rest on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from intent.proof.claims import AtLeast, Claim
from intent.types import Extent


@dataclass(frozen=True, kw_only=True)
class Fact:
    """A claim that is true, and why, for people: ``the launch checks N >= K (slice of x)``."""

    claim: Claim
    because: str = field(default="", compare=False)

    def __str__(self) -> str:
        return f"{self.claim} ({self.because})" if self.because else str(self.claim)


@dataclass(frozen=True)
class Facts:
    """A set of facts. That symbols are never negative and divisors of extents are positive is always known."""

    known: tuple[Fact, ...] = ()

    @classmethod
    def of(cls, claims: Iterable[Claim | Fact]) -> Facts:
        """Facts from claims, each once, in order."""
        facts = (c if isinstance(c, Fact) else Fact(claim=c) for c in claims)
        return cls(tuple(dict.fromkeys(facts)))

    def given(self, claim: Claim, because: str = "") -> Facts:
        """These facts and one more."""
        fact = Fact(claim=claim, because=because)
        return self if fact in self.known else Facts((*self.known, fact))

    def between(self, value: Extent, low: Extent | None, high: Extent | None, because: str = "") -> Facts:
        """These facts and the inclusive bounds of ``value``; None is no bound."""
        facts = self
        if low is not None:
            facts = facts.given(AtLeast(value, low), because)
        return facts if high is None else facts.given(AtLeast(high, value), because)

    def without(self, fact: Fact) -> Facts:
        """These facts less one."""
        return Facts(tuple(f for f in self.known if f != fact))

    def __add__(self, other: Facts) -> Facts:
        return Facts(tuple(dict.fromkeys((*self.known, *other.known))))

    def __iter__(self) -> Iterator[Fact]:
        return iter(self.known)

    def __len__(self) -> int:
        return len(self.known)
