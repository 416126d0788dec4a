"""Checking a kernel: several evaluations of one call, each under other legal choices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from intent import kir
from intent.diagnostics import CompilerFault, IntentError
from intent.reference.logical import Adversary, Choices, Stop, evaluate
from intent.reference.sanitizer.arguments import check_noalias, copied
from intent.reference.sanitizer.extents import zero_divisor
from intent.reference.sanitizer.report import Findings, Report
from intent.reference.sanitizer.sanitizer import Sanitizer

__all__ = ["ROUNDS", "check_kernel"]

ROUNDS: Final = 4


def check_kernel(
    kernel: kir.Kernel,
    args: Sequence[Any],
    *,
    seed: int = 0,
    rounds: int = ROUNDS,
    refused: Sequence[IntentError] = (),
) -> Report:
    """Run ``kernel`` on copies of ``args`` in checking mode and report every broken rule.

    ``args`` are numpy arrays and Python numbers in the order of ``kernel.params``; they are left as they were.
    The first round makes the plainest choices, the others draw orders, trees and segments from ``seed``.
    ``refused`` are violated launch conditions that ``kernel`` no longer holds: each is reported unless the
    evaluation finds what it stands for at the same line.

    Raises:
        IntentError: The errors of a call whose arguments do not fit; nothing ran.
    """
    findings = Findings()
    for number, error in enumerate(refused):
        findings.add(("condition", number), error)
    check_noalias(kernel, args, findings)
    for number in range(max(1, rounds)):
        choices = Choices() if number == 0 else Adversary(np.random.default_rng((seed, number, 0)))
        _round(kernel, copied(args), choices, Sanitizer(findings, np.random.default_rng((seed, number, 1))))
        if findings.stopped:
            break
    found = [error for key, error in findings.errors.items() if key[0] != "condition"]
    lines = {(e.span.file, e.span.line) for e in found if e.span is not None}
    left = [e for e in refused if e.span is None or (e.span.file, e.span.line) not in lines]
    return Report(str(kernel.name), [*left, *found], findings.stopped)


def _round(kernel: kir.Kernel, args: Sequence[Any], choices: Choices, sanitizer: Sanitizer) -> None:
    try:
        evaluate(kernel, args, choices, sanitizer)
    except Stop:
        return
    except ZeroDivisionError:
        op = sanitizer.context.current
        if op is None:
            raise
        zero_divisor(sanitizer.context, op)
    except (CompilerFault, ValueError, IndexError):
        # An evaluation that breaks on invalid input was to be expected; on valid input it is a fault of ours.
        if not sanitizer.findings.errors:
            raise
        sanitizer.findings.stopped = "the values it goes on with make no sense"
