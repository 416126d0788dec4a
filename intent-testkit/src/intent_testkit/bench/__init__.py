"""The benchmark: every contender is checked, then all are timed in turn in one run.

``python -m intent_testkit.bench [--provider P] [--only TEXT] [--out DIR]``; needs torch and a GPU.
"""

from __future__ import annotations
