"""The provider ``reference``: runs programs on numpy arrays, anywhere, without a GPU or a compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from importlib.metadata import version
from itertools import product
from typing import Final

from intent.diagnostics import NoDevice
from intent.kir.pointwise import FUNCTIONS
from intent.physical import Program
from intent.physical.text import print_program
from intent.provider import Binary, Capabilities, Invocation, Launcher, Provider, Source, hookimpl
from intent.reference.physical import execute
from intent.types import dtypes

NAME: Final = "reference"
ATOMIC_KINDS = ("load", "store", "exchange", "add", "max", "min", "and", "or", "xor", "compare_exchange")


class Reference:
    """The whole language on the CPU. Its source is the program's text; a launch interprets the program."""

    name = NAME

    @cached_property
    def version(self) -> str:
        """The version of the core package."""
        return version("intent-core")

    @property
    def capabilities(self) -> Capabilities:
        """Everything, in any shape."""
        names = [d.name for d in dtypes.ALL]
        return Capabilities(
            dtypes=frozenset(names),
            power_of_two=False,
            max_lanes=(1 << 63) - 1,
            dot_minimum=(1, 1, 1),
            dot_dtypes=frozenset(product(names, names)),
            functions=frozenset(FUNCTIONS),
            histogram=1 << 24,
            atomics=frozenset(product(ATOMIC_KINDS, names)),
            grid_limit=(1 << 63) - 1,
            needs_gpu=False,
        )

    def knobs(self) -> Mapping[str, Sequence[int]]:
        """Nothing to set."""
        return {}

    def grid(self, length: int) -> tuple[int, ...]:
        """One line of programs."""
        return (length,)

    def serialize(self, program: Program) -> Source:
        """The program's text."""
        return Source(text=print_program(program), entry=program.name, suffix=".txt", program=program)

    def build(self, source: Source, target: str) -> Binary:
        """Nothing is built: the program is executable as it stands."""
        return Binary(source=source, target=target, code=source.text.encode(), listing=source.text)

    def load(self, source: Source, device: str) -> Launcher:
        """The same as :meth:`emulate`; only the CPU is a device here."""
        if device != "cpu":
            raise NoDevice(NAME, reason=f"it runs on the CPU, not on {device}", emulates=False)
        return self.emulate(source)

    def emulate(self, source: Source) -> Launcher:
        """A launcher over numpy arrays."""
        program = source.program

        def launch(invocation: Invocation) -> None:
            views = {name: bound.array for name, bound in invocation.views.items()}
            execute(program, views, invocation.scalars, invocation.extents)

        return launch

    def available(self) -> str | None:
        """Always."""
        return None


class Plugin:
    """The pluggy plugin behind the entry point."""

    @hookimpl
    def intent_provider(self) -> Provider:
        """The provider object."""
        return Reference()


plugin = Plugin()
