"""Trials: program and kernel on small inputs, in arithmetic that no legal order of evaluation changes."""

from intent.physical.verify.trial.cause import Difference
from intent.physical.verify.trial.meanings import Meanings
from intent.physical.verify.trial.trial import Trial, attempt

__all__ = ["Difference", "Meanings", "Trial", "attempt"]
