"""Faults put into the compiler on purpose: the verifier and the differential tests have to find them."""

from intent_testkit.mutants.mutant import Mutant
from intent_testkit.mutants.sites import mutants_of

__all__ = ["Mutant", "mutants_of"]
