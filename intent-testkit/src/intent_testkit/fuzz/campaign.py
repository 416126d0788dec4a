"""Many kernels in a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from intent_testkit.fuzz.eager import Invalid
from intent_testkit.fuzz.generate import generate
from intent_testkit.fuzz.judge import Failure, Options, judge


@dataclass(kw_only=True)
class Tally:
    """How many kernels were run, had no meaning, failed; and which constructs they had."""

    run: int = 0
    invalid: int = 0
    failed: int = 0
    features: Counter[str] = field(default_factory=Counter)


def campaign(seeds: range, options: Options, tally: Tally, every: int = 1) -> Iterator[Failure]:
    """The failures of the kernels of ``seeds``; every ``every``-th also runs on the providers."""
    for number, seed in enumerate(seeds):
        program = generate(seed)
        tally.run += 1
        tally.features.update(program.features)
        try:
            found = judge(program, options if number % every == 0 else replace(options, providers=()))
        except Invalid:
            tally.invalid += 1
            continue
        if found is not None:
            tally.failed += 1
            yield found
