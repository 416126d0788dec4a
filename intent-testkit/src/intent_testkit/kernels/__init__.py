"""The programs of the testkit, written as an author would; one small family per file."""

from __future__ import annotations
