"""Errors of plans, programs, verification and stored artifacts."""

from __future__ import annotations

from typing import Unpack

from intent.diagnostics.base import IntentError, Where

__all__ = ["ArtifactError", "CompilerFault", "OptionError", "PlanError", "TextError", "VerificationError"]


class PlanError(IntentError):
    """A plan that does not fit the kernel or the target."""

    code = "INT093"

    def __init__(
        self, reason: str, *, plan: object = None, fix: str | None = None, **where: Unpack[Where]
    ) -> None:
        super().__init__(
            f"this plan cannot be used: {reason}",
            seen={} if plan is None else {"the plan": plan},
            fix=fix or "leave plan= out to get the default plan",
            **where,
        )
        self.reason = reason


class VerificationError(IntentError):
    """A KIR kernel or physical program breaks a named rule (spec: kir-to-gpu-program 9)."""

    code = "INT094"

    def __init__(self, rule: str, problem: str, *, subject: object = None, **where: Unpack[Where]) -> None:
        super().__init__(
            f"rule '{rule}' is violated: {problem}",
            seen={} if subject is None else {"the subject": subject},
            fix="this is a fault of the compiler, not of the kernel: report it with the kernel's source",
            **where,
        )
        self.rule = rule
        self.problem = problem


class TextError(IntentError):
    """The textual form of a kernel, program or plan cannot be parsed."""

    code = "INT095"

    def __init__(
        self, problem: str, *, expected: str | None = None, found: str | None = None, **where: Unpack[Where]
    ) -> None:
        seen = {"expected": expected, "found": found}
        super().__init__(
            problem,
            seen={name: value for name, value in seen.items() if value is not None},
            fix="print the object again with the version that reads it",
            **where,
        )


class ArtifactError(IntentError):
    """A saved artifact cannot be loaded or does not fit this version."""

    code = "INT096"

    def __init__(self, path: object, problem: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"the artifact cannot be loaded: {problem}",
            seen={"its path": path},
            fix="compile and save the kernel again",
            **where,
        )


class OptionError(IntentError):
    """A compile option has a value that it cannot have."""

    code = "INT097"

    def __init__(self, option: str, value: object, *, allowed: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"the option {option} cannot be {value!r}",
            seen={"its values": allowed},
            fix=f"use one of {allowed}",
            **where,
        )


class CompilerFault(IntentError):
    """The compiler met a state that it holds impossible."""

    code = "INT099"

    def __init__(self, problem: str, *, stage: str, **where: Unpack[Where]) -> None:
        super().__init__(
            f"internal error in {stage}: {problem}",
            fix="this is a fault of the compiler, not of the kernel: report it with the kernel's source",
            **where,
        )
