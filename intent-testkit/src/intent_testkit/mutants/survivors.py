"""Mutants that nothing finds, and why: each is another correct compiler, by the reason given."""

from __future__ import annotations

from typing import Final

_ORDER: Final = "the order of what is listed means nothing"
_IN_LOOPS: Final = "the fence stands inside the loop then, in front of the read that needs it"

KNOWN: Final[dict[str, str]] = {
    "construct.access:zero:wrong-identity:0": "nobody sees it: lanes outside a source, the first guess of an exchange",
    "construct.axes:_assign_labels:negate-condition:3": "axes have other names, in plans as in programs",
    "construct.bounds:UpperBounds.of:shift-segment:0": "a limit of effort; no chain of bounds is as long",
    "construct.allocation:_initialise:shift-segment:0": "initial values are stored one by one, not 32 at a time",
    "construct.context:Context.settle_dirty:forget-fence:0": _IN_LOOPS,
    "construct.traversal:open_loop:forget-fence:0": _IN_LOOPS,
    "construct.while_loop:open_while:forget-fence:0": _IN_LOOPS,
    "construct.statements:Runner._sides:lose-token:0": "a write of one side is fenced from the other side, too",
    "construct.demand:Demand._operands:swap-operands:0": _ORDER,
    "construct.demand:Demand._operands:swap-operands:1": _ORDER,
    "construct.facts:Facts.about:swap-operands:0": _ORDER,
    "construct.facts:Facts.about:swap-operands:1": _ORDER,
    "construct.inside:_proof:swap-operands:0": _ORDER,
    "construct.groups:Group.in_order:swap-operands:0": _ORDER,
    "construct.steering:_tainted:swap-operands:0": _ORDER,
    "construct.traversal:walk_axes:swap-operands:0": _ORDER,
}
"""By name of the mutant."""
