"""Programs whose blocks take one instance after another.

A plan's ``persistent`` is how many blocks each multiprocessor gets. The compiler's loads then run ahead into the next
instance while the results of the last one are written, and a block is started and finished once, not once an instance.
"""

from __future__ import annotations

from intent.physical import Atomic, BufferAlloc, Contract, Fence, If, Program, While
from intent.physical.walk import walk

_ALONE = (Atomic, BufferAlloc, Fence, If, While)
"""By which instances meet, and under which reads stand that must not be taken in front of the loop."""


def blocks_each(program: Program) -> int:
    """Blocks on a multiprocessor that take instances in turn, 0 where each instance is a block.

    That is a product's: straight code and counted loops, nothing but views in memory, and no order among instances.
    """
    wanted = dict(program.knobs).get("persistent", 0)
    segments = [segment for segment in program.segments if segment.length.const != 0]
    if not wanted or len(segments) != 1:
        return 0
    ops = list(walk(segments[0].body))
    plain = any(isinstance(op, Contract) for op in ops) and not any(isinstance(op, _ALONE) for op in ops)
    return wanted if plain else 0


def started(length: int, multiprocessors: int, each: int, ctas: int) -> int:
    """How many blocks take ``length`` instances in turn: clusters of ``ctas`` share multiprocessors."""
    return min(length, max(1, multiprocessors * each // ctas))
