"""Running a kernel built for the CPU: memory ranges in, faults out. The structures are those of ``runtime.cpp``."""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from intent_provider_cupy.emulate import faults
from intent_provider_cupy.emulate.compile import runtime

_LOCK: Final = threading.Lock()
"""The runtime runs one launch at a time."""
_SHARED: Final = -2


@dataclass(frozen=True, kw_only=True)
class Memory:
    """What an argument of the launch owns: bytes ``low <= address < high``; ``pointer`` is its element 0."""

    name: str
    pointer: int
    low: int
    high: int
    itemsize: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """One launch: ``entry`` takes ``arguments``, the packed bytes of each."""

    name: str
    entry: int
    arguments: Sequence[bytes]
    memory: Sequence[Memory]
    blocks: int
    threads: int
    shared_bytes: int
    seed: int = 0


class _View(ctypes.Structure):
    _fields_ = (
        ("base", ctypes.c_size_t), ("low", ctypes.c_size_t), ("high", ctypes.c_size_t), ("watch", ctypes.c_int),
    )  # fmt: skip


class _Range(ctypes.Structure):
    _fields_ = (("low", ctypes.c_size_t), ("high", ctypes.c_size_t), ("grain", ctypes.c_uint))


class _Report(ctypes.Structure):
    _fields_ = (
        ("fault", ctypes.c_int), ("line", ctypes.c_int), ("thread", ctypes.c_int), ("view", ctypes.c_int),
        ("block", ctypes.c_longlong), ("offset", ctypes.c_longlong), ("other_thread", ctypes.c_longlong),
        ("bytes", ctypes.c_int), ("write", ctypes.c_int), ("other_line", ctypes.c_int), ("text", ctypes.c_char * 256),
    )  # fmt: skip


class _Launch(ctypes.Structure):
    _fields_ = (
        ("entry", ctypes.c_void_p), ("arguments", ctypes.c_void_p), ("views", ctypes.c_void_p),
        ("ranges", ctypes.c_void_p), ("blocks", ctypes.c_ulonglong), ("seed", ctypes.c_ulonglong),
        ("threads", ctypes.c_uint), ("shared_bytes", ctypes.c_uint), ("view_count", ctypes.c_int),
        ("range_count", ctypes.c_int),
    )  # fmt: skip


def run(what: Run) -> None:
    """Run every block.

    Raises:
        EmulationFault: The text did something that a GPU does not define; memory is as it was then.
    """
    library = runtime()
    places, ranges = _ranges(what.memory)
    views = (_View * max(1, len(what.memory)))(
        *(_View(m.pointer, m.low, m.high, at) for m, at in zip(what.memory, places, strict=True))
    )
    watched = (_Range * max(1, len(ranges)))(*(_Range(*bounds) for bounds in ranges))
    held = [ctypes.create_string_buffer(raw, len(raw)) for raw in what.arguments]
    arguments = (ctypes.c_void_p * max(1, len(held)))(*(ctypes.addressof(h) for h in held))
    launch = _Launch(
        what.entry, ctypes.addressof(arguments), ctypes.addressof(views), ctypes.addressof(watched), what.blocks,
        what.seed, what.threads, what.shared_bytes, len(what.memory), len(ranges),
    )  # fmt: skip
    report = _Report()
    with _LOCK:
        library.intent_cpu_run(ctypes.byref(launch), ctypes.byref(report))
    if report.fault:
        raise _explained(report, what)


def _ranges(memory: Sequence[Memory]) -> tuple[list[int], list[tuple[int, int, int]]]:
    """The range that watches each argument's bytes, and the ranges: arguments that overlap share one."""
    order = sorted(range(len(memory)), key=lambda k: memory[k].low)
    places, ranges = [0] * len(memory), list[tuple[int, int, int]]()
    for k in order:
        m = memory[k]
        if ranges and m.low < ranges[-1][1]:
            low, high, grain = ranges[-1]
            shared = min(grain, m.itemsize)
            ranges[-1] = (low, max(high, m.high), shared if (m.low - low) % shared == 0 else 1)
        else:
            ranges.append((m.low, m.high, m.itemsize))
        places[k] = len(ranges) - 1
    return places, ranges


def _explained(report: _Report, what: Run) -> faults.EmulationFault:
    where = f"{what.name}.cu, line {report.line}, block {report.block}, thread {report.thread}"
    text = report.text.decode()
    if report.fault in (4, 5):
        kind: type[faults.EmulationFault] = faults.DivergentBarrier if report.fault == 4 else faults.Deadlock
        return kind(f"{where}: {text}", line=report.line)
    access = (
        f"{where}: a {'write' if report.write else 'read'} of {report.bytes} bytes at byte {report.offset}"
    )
    place = _owner(report.view, what)
    if report.fault == 3:
        other = "another instance" if report.other_thread < 0 else f"thread {report.other_thread}"
        message = f"{access} of {place} races with {other} at line {report.other_line}"
        return faults.RacingAccess(message, line=report.line)
    if report.fault == 2:
        return faults.MisalignedAccess(f"{access} of {place} is not aligned to its size", line=report.line)
    return faults.OutsideAccess(f"{access} is outside {place}{'; ' if text else ''}{text}", line=report.line)


def _owner(view: int, what: Run) -> str:
    if view == _SHARED:
        return "its piece of shared memory"
    if view < 0:
        return "every argument: its base is none of theirs"
    m = what.memory[view]
    return f"'{m.name}' (bytes {m.low - m.pointer} to {m.high - m.pointer})"
