"""Refinements of a program: each takes a valid program and leaves one with the same meaning."""

from intent.passes.finishing import finish
from intent.passes.permissions import Permissions
from intent.passes.pipeline import PASSES, refine

__all__ = ["PASSES", "Permissions", "finish", "refine"]
