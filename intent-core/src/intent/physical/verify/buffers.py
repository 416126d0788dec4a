"""Rules on buffers: allocated before use, listed where they live, written by someone before they are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from intent.physical.fragment import Buffer, Region
from intent.physical.ops import Atomic, BufferAlloc, Load, Op, Store
from intent.physical.program import Program
from intent.physical.verify.rule import BUFFER, FIRST_WRITE, Problem, Rule, operations
from intent.physical.walk import regions_of, resources_of

__all__ = ["RULES"]


def buffer_allocation(program: Program) -> Iterator[Problem]:
    """A buffer is allocated in an enclosing scope before its use; the invocation's are in the workspace."""
    shared = {buffer for buffer in program.workspace if buffer.scope == "invocation"}
    for segment in program.segments:
        yield from _allocated(segment.body, set(shared))


def _allocated(region: Region, outer: set[Buffer]) -> Iterator[Problem]:
    known = set(outer)
    for op in region.ops:
        if isinstance(op, BufferAlloc):
            known.add(op.buffer)
            continue
        for resource in resources_of(op):
            if isinstance(resource, Buffer) and resource not in known:
                yield Problem(text=f"buffer '{resource.name}' is used where it is not allocated", op=op)
        for inner in regions_of(op):
            yield from _allocated(inner, known)


def buffer_storage(program: Program) -> Iterator[Problem]:
    """Workspace buffers are listed by the program, others are not; registers and shared memory are static."""
    listed = set(program.workspace)
    identities: dict[int, Buffer] = {buffer.id: buffer for buffer in program.workspace}
    for buffer in program.workspace:
        if buffer.storage != "workspace":
            yield Problem(text=f"buffer '{buffer.name}' is listed as workspace but lives in {buffer.storage}")
    for op, buffer in _buffers(program):
        if identities.setdefault(buffer.id, buffer) != buffer:
            yield Problem(text=f"two buffers carry the identity {buffer.id}", op=op)
        if buffer.storage == "workspace" and buffer not in listed:
            yield Problem(text=f"workspace buffer '{buffer.name}' is not listed by the program", op=op)
        if buffer.storage != "workspace" and any(extent.const is None for extent in buffer.shape):
            yield Problem(text=f"buffer '{buffer.name}' in {buffer.storage} needs static extents", op=op)
        if buffer.storage != "workspace" and buffer.scope == "invocation":
            yield Problem(
                text=f"buffer '{buffer.name}' is shared by all instances, so it is workspace", op=op
            )


def buffer_first_write(program: Program) -> Iterator[Problem]:
    """A buffer that is read is written somewhere in the program."""
    written = {op.target for op in operations(program) if isinstance(op, (Store, Atomic))}
    for op in operations(program):
        if isinstance(op, Load) and isinstance(op.source, Buffer) and op.source not in written:
            yield Problem(text=f"buffer '{op.source.name}' is read but nothing writes it", op=op)


def _buffers(program: Program) -> Iterator[tuple[Op, Buffer]]:
    for op in operations(program):
        yield from ((op, r) for r in resources_of(op) if isinstance(r, Buffer))


RULES: Final = (
    Rule(name="buffer-allocation", sentence=BUFFER, check=buffer_allocation),
    Rule(name="buffer-storage", sentence=BUFFER, check=buffer_storage),
    Rule(name="buffer-first-write", sentence=FIRST_WRITE, check=buffer_first_write),
)
