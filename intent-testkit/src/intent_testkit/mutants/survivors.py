"""Mutants that nothing finds, and why: each is another correct compiler, by the reason given."""

from __future__ import annotations

from typing import Final

from intent_testkit.mutants.emission_survivors import EMITTED

_ORDER: Final = "the order of what is listed means nothing"
_IN_LOOPS: Final = "the fence stands inside the loop then, in front of the read that needs it"
_NAMES: Final = "names of buffers and axes, and words of an error: for people"
_CLASSES: Final = "classes name entries of plans; elements are found by their coordinates"
_WIDENED: Final = "a home that holds too little is widened as soon as more is asked for: slower, and as right"

KNOWN: Final[dict[str, str]] = EMITTED | {
    "construct.access:zero:wrong-identity:0": "nobody sees it: lanes outside a source, the first guess of an exchange",
    "construct.axes:_assign_labels:skip-decision:3": _NAMES,
    "construct.axes:_assign_labels:skip-decision:5": _NAMES,
    "construct.copied:copied_store:skip-decision:0": _NAMES,
    "construct.copied:copied_store:skip-decision:1": _NAMES,
    "construct.held:Held.allocate:skip-decision:0": _NAMES,
    "construct.held:Held.allocate:skip-decision:1": _NAMES,
    "construct.context:Context.lane_dim:swap-fields:0": _NAMES,
    "construct.context:Context.lane_dim:swap-fields:1": _NAMES,
    "construct.groups:Grouping._group:swap-fields:0": _NAMES,
    "construct.scan:_fill:skip-decision:0": _NAMES,
    "construct.traversal:open_loop:swap-fields:0": _NAMES,
    "construct.axes:_join_op:negate-condition:2": _CLASSES,
    "construct.axes:_join_scaled:forget-step:5": _CLASSES,
    "construct.bounds:UpperBounds._larger:blur-bound:0": "no term has the factor 0",
    "construct.independence:Independence.dependence:other-question:0": "all views of a memory coincide, or none",
    "construct.held:innermost:blur-bound:0": "two scopes around one place that are equally deep are one",
    "construct.sparse:_position:blur-bound:0": "divided by 1: dearer, and as right",
    "construct.program_space:decode:blur-bound:0": "groups of one row are rows: dearer, and as right",
    "construct.split:_reset:forget-fence:0": "the store stands behind a branch on what the instance's own atomic gave",
    "construct.emission:Emitter.place:swap-operands:0": _ORDER,
    "construct.carried:_joint_homes:share-lane:0": _WIDENED,
    "construct.facts:_settled:skip-decision:0": _NAMES,
    "construct.facts:_plain:blur-bound:0": "no term has the factor 0",
    "construct.plan:Plan.__str__:swap-fields:0": _NAMES,
    "construct.old_values:OldValues._hold:skip-decision:0": _NAMES,
    "construct.old_values:OldValues._hold:skip-decision:1": _NAMES,
    "construct.relocate:_through_buffer.fill:skip-decision:0": _NAMES,
    "construct.relocate:_through_buffer.fill:skip-decision:1": _NAMES,
    "construct.region_scan:_fill:skip-decision:0": _NAMES,
    "construct.region_scan:_fill:skip-decision:1": _NAMES,
    "construct.axes:_assign_labels:negate-condition:3": "axes have other names, in plans as in programs",
    "construct.bounds:UpperBounds.of:shift-segment:0": "a limit of effort; no chain of bounds is as long",
    "construct.allocation:_initialise:shift-segment:0": "initial values are stored one by one, not 32 at a time",
    "construct.bounds:UpperBounds.__init__:skip-decision:0": "nobody asks what bounds an extent that has no expression",
    "construct.carried:_joint_homes:skip-decision:0": _WIDENED,
    "construct.carried:_joint_homes:skip-decision:1": _WIDENED,
    "construct.statements:Runner._followed:skip-decision:0": _WIDENED,
    "construct.once:_loops_of:skip-decision:1": "a value is held for nothing: slower, and as right",
    "construct.context:local_ordinal:skip-decision:1": "members in front of a slice's first one are masked",
    "construct.shared_axes:common_axes:skip-decision:0": "a loop meets itself, or is the first one of its label",
    "construct.combining:Combiner._better:widen-guard:0": "no two members have one position",
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
    "passes.copying:Copier._tested:skip-decision:0": "what no assumption reaches is made again, and shared",
    "passes.copying:Copier._nothing:blur-bound:0": "copysign(1.0, x) is never 0",
    "passes.exponents:Exponents._finite:wrong-identity:0": "any finite number may stand for -inf there",
    "passes.peeling:_peel:blur-bound:0": "blocks of two lanes stay in one loop: slower, and as right",
    "passes.peeling:_beyond:shift-segment:0": "one member is no whole block",
    "passes.narrowing:_narrow:swap-operands:0": _ORDER,
    "passes.ranges:Ranges._bound:blur-bound:1": "no term has the factor 0",
    "passes.ranges:Ranges.shifted:blur-bound:0": "a shift by 0 has returned before",
    "provider.emission.bounds:never_negative:blur-bound:0": "no term has the factor 0",
    "provider.emission.bounds:Bounds.launch_facts:other-side:1": _ORDER,
    "provider.emission.bounds:Bounds.bind:skip-decision:2": "what has no interval has the widest type",
    "provider.emission.bounds:Bounds._simple:forget-filter:0": "all intervals are known there",
    "provider.emission.bounds:Bounds._simple:other-side:0": "only that it is not negative matters then",
}
"""By name of the mutant."""
