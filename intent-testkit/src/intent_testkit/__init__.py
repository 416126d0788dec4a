"""Conformance kernels, cases, oracles and the demo of Intent, runnable against any installed provider."""

from __future__ import annotations
