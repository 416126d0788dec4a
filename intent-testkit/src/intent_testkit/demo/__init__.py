"""The demo: three kernels compiled, explained, run on real inputs and checked against numpy.

``python -m intent_testkit.demo [NAME ...] [--provider NAME]``
"""

from __future__ import annotations
