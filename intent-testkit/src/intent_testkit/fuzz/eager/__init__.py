"""The language once more, as plain numpy: a kernel's own text runs under it as ordinary Python.

It is the fuzzer's third opinion: it shares nothing with the front end, the IRs or the evaluators. It covers
what the generator writes and nothing else, on small arrays, in program order, and it raises
:class:`~intent_testkit.fuzz.eager.memory.Invalid` where a program does what the language forbids and numpy
would not notice (an index out of range, a read of an element that nobody wrote).
"""

from __future__ import annotations

from intent_testkit.fuzz.eager.memory import Conflict, Invalid
from intent_testkit.fuzz.eager.run import FILE, run_eagerly

__all__ = ["FILE", "Conflict", "Invalid", "run_eagerly"]
