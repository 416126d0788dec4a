"""The tests that every provider must pass; collected by ``pytest --pyargs intent_testkit``."""

from __future__ import annotations
