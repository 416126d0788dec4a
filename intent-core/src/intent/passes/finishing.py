"""What comes behind the comparison of a program with its kernel.

Rewrites that are exact in floating point but not in the numbers of that comparison (decision 0010), and functions that
a provider has not. Programs are verified again afterwards, by themselves.
"""

from __future__ import annotations

from collections.abc import Collection

from intent import physical as ph
from intent.passes.expand import expand
from intent.passes.scaled_maximum import scaled_maximum


def finish(program: ph.Program, functions: Collection[str]) -> ph.Program:
    """The program that a provider with these ``functions`` spells."""
    # Expansions would hide the products that it looks for.
    return expand(scaled_maximum(program), functions)
