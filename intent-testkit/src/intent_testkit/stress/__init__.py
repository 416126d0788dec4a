"""Stress: many repetitions of every kernel whose instances meet, on outputs that are fresh each time.

    python -m intent_testkit.stress [--provider NAME] [--repetitions 1000] [--only TEXT] [--once]

A race shows only sometimes. Each kernel with atomics, buffers, fences or a workspace runs again and again on the
same inputs, each time into outputs and guards that hold what they held before the first; every result is judged.
"""

from __future__ import annotations
