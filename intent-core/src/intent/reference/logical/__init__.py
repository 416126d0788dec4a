"""Evaluator of the logical IR on whole numpy arrays, with an adversary for what the language leaves open."""

from __future__ import annotations

from intent.reference.logical.choices import Adversary, Choices
from intent.reference.logical.evaluate import evaluate
from intent.reference.logical.observer import Observer, Stop

__all__ = ["Adversary", "Choices", "Observer", "Stop", "evaluate"]
