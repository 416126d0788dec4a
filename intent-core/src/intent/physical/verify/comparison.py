"""A program beside the frozen kernel that it was made from: what the rules that need both look at.

Origins say which operation of the kernel an operation of the program stands for; they are used here, for checking,
and nowhere else. A trial (see ``trial``) executes both sides and says where they part first; every rule takes from it
what its own sentence is about.
"""

from __future__ import annotations

from functools import cached_property

from intent import kir
from intent.kir.walk import walk as walk_kernel
from intent.physical.fragment import View
from intent.physical.ops import Atomic, Load, Store
from intent.physical.program import Program
from intent.physical.verify.trial import Meanings, Trial, attempt
from intent.physical.verify.trial.trial import targets_of
from intent.physical.walk import walk

__all__ = ["Comparison", "Write"]

Write = kir.Store | kir.ScatterReduce | kir.Atomic


class Comparison:
    """One program and one kernel."""

    def __init__(self, program: Program, kernel: kir.Kernel, meanings: Meanings | None = None) -> None:
        self.program, self.kernel, self._meanings = program, kernel, meanings

    @cached_property
    def operations(self) -> dict[int, kir.Op]:
        """The kernel's operations by id."""
        return {op.id: op for op in walk_kernel(self.kernel.body)}

    @cached_property
    def writes(self) -> tuple[Write, ...]:
        """The kernel's writes, in program order, outside of regions that are pure by rule."""
        return tuple(op for op in self.operations.values() if isinstance(op, Write))

    @cached_property
    def observable(self) -> tuple[Write, ...]:
        """The writes that a caller can see: those of views."""
        return tuple(op for op in self.writes if isinstance(op.target, kir.View))

    @cached_property
    def placed(self) -> dict[int, list[tuple[int, Store | Atomic]]]:
        """The program's writes of the kernel's own resources, with the number of their segment, by origin."""
        targets = targets_of(self.program, self.kernel)
        found: dict[int, list[tuple[int, Store | Atomic]]] = {}
        for number, segment in enumerate(self.program.segments):
            for op in walk(segment.body):
                if isinstance(op, Store | Atomic) and op.origin is not None and targets.of(op) is not None:
                    found.setdefault(op.origin, []).append((number, op))
        return found

    @cached_property
    def strangers(self) -> tuple[Store | Atomic, ...]:
        """The program's writes of views that no write of the kernel is the origin of."""
        targets = targets_of(self.program, self.kernel)
        return tuple(
            op
            for segment in self.program.segments
            for op in walk(segment.body)
            if isinstance(op, Store | Atomic) and isinstance(op.target, View) and targets.of(op) is None
        )

    @cached_property
    def reads(self) -> dict[int, list[Load]]:
        """The program's reads of views by origin."""
        found: dict[int, list[Load]] = {}
        for segment in self.program.segments:
            for op in walk(segment.body):
                if isinstance(op, Load) and op.origin is not None and isinstance(op.source, View):
                    found.setdefault(op.origin, []).append(op)
        return found

    @cached_property
    def trial(self) -> Trial:
        """Both sides executed on small inputs."""
        return attempt(self.program, self.kernel, self._meanings)

    @property
    def where(self) -> str:
        """The extents at which the trial was made."""
        inputs = self.trial.inputs
        extents = sorted(inputs.extents.items(), key=str) if inputs is not None else ()
        return "seen at " + (", ".join(f"{atom} = {value}" for atom, value in extents) or "any extents")
