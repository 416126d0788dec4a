"""What comes behind the comparison of a program with its kernel.

Rewrites that are exact in floating point but not in the numbers of that comparison (decision 0010), and what a
provider has not. Programs are verified again afterwards, by themselves.
"""

from __future__ import annotations

from intent import physical as ph
from intent.passes.expand import expand
from intent.passes.scaled_maximum import scaled_maximum
from intent.provider import Capabilities


def finish(program: ph.Program, capabilities: Capabilities, *, planes: bool = False) -> ph.Program:
    """The program that a provider with these capabilities spells; ``planes``: the plan wants few bins in bit planes."""
    # Expansions would hide the products that it looks for.
    c = capabilities
    return expand(scaled_maximum(program), c.functions, c.histogram, c.atomics, c.planes if planes else 0)
