"""Runs emitted CUDA C++ on the CPU: the same text, compiled by g++ behind a shim that stands in for a GPU.

Every CUDA thread is a fiber. Threads run in random order (``INTENT_CUPY_SEED`` chooses which), shared memory is
poisoned between blocks, and what a GPU leaves undefined is a fault: accesses outside a view, misaligned or racing
accesses (of other blocks, too, unless one has released and the other acquired), barriers that not all threads meet,
deadlocks. Needs g++ and nothing else.

What it cannot show: which release an acquire has seen, the memory model's weaker orders, and the rounding inside tensor
cores.
"""

from __future__ import annotations
