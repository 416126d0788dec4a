"""A seed becomes a kernel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from intent_testkit.fuzz.grow import (
    control,
    effects,
    nests,
    parallel,
    paths,
    pointwise,
    regions,
    shapes,
    shared,
    soup,
    steered,
    steps,
    structured,
)
from intent_testkit.fuzz.kinds import Program, Value
from intent_testkit.fuzz.writer import Writer

Grow = Callable[[Writer], object]

FAMILIES: Final[tuple[tuple[int, Grow], ...]] = (
    (10, pointwise.binary),
    (5, pointwise.unary),
    (5, pointwise.choose),
    (3, pointwise.convert),
    (5, pointwise.mix),
    (3, pointwise.positions),
    (2, pointwise.helper),
    (1, pointwise.loose),
    (8, structured.reduce),
    (4, structured.generic_reduce),
    (3, structured.arg_reduce),
    (6, structured.scan),
    (7, structured.contract),
    (1, structured.histogram),
    (4, shapes.transpose),
    (4, shapes.reshape),
    (2, shapes.join),
    (4, shapes.slices),
    (3, shapes.pick_row),
    (3, shapes.shifted),
    (3, shapes.gather),
    (2, shapes.reverse),
    (2, shapes.new_axis),
    (1, shapes.random_bits),
    (8, control.ordered),
    (4, control.branch),
    (3, control.repeat),
    (5, parallel.rows),
    (4, parallel.points),
    (2, parallel.ragged),
    (6, effects.update),
    (3, effects.partial),
    (3, effects.buffer),
    (2, effects.scatter_unique),
    (3, effects.scatter_reduce),
    (1, effects.atomics),
    (3, regions.fold),
    (2, regions.scan),
    (4, nests.in_place_rows),
    (4, nests.through_memory),
    (3, nests.local_buffers),
    (2, effects.aliased),
    (3, steps.stencil),
    (3, steps.squares),
    (2, steps.helper_effects),
    (2, steps.exchange),
    (4, steps.snapshots),
    (5, soup.soup),
    (2, nests.colliding),
    (4, nests.segments),
    (3, nests.triangles),
    (2, nests.grid_gather),
    (1, nests.return_early),
    (2, nests.records),
    (4, steered.runtime_part),
    (5, steered.effects_in_loop),
    (3, steered.branch_effects),
    (2, steered.strided),
    (1, steered.ranks),
    (2, steered.search),
    (2, steered.blocked),
    (3, structured.special_combines),
    (3, shared.counts),
    (3, shared.whole),
    (3, shared.grouped),
    (2, shared.lengths),
    (2, paths.paths),
)
CHAIN: Final[tuple[tuple[int, Grow], ...]] = (
    (4, pointwise.binary),
    (2, pointwise.positions),
    (5, structured.reduce),
    (2, structured.generic_reduce),
    (2, structured.arg_reduce),
    (6, structured.scan),
    (2, structured.special_combines),
    (6, structured.contract),
    (4, shapes.transpose),
    (4, shapes.reshape),
    (1, shapes.join),
    (4, shapes.slices),
    (2, shapes.pick_row),
    (5, shapes.shifted),
    (4, shapes.gather),
    (3, shapes.reverse),
    (1, shapes.new_axis),
    (2, nests.grid_gather),
    (5, control.ordered),
    (3, control.repeat),
    (2, control.branch),
    (2, regions.fold),
    (2, regions.scan),
    (1, shared.counts),
    (2, shared.whole),
)
"""Values of values: what a kernel is made of whose every statement builds on the one before."""
_WEIGHTS: Final = tuple(weight for weight, _ in FAMILIES)
_GROW: Final = tuple(grow for _, grow in FAMILIES)


def generate(seed: int) -> Program:
    """The kernel of a seed; the same seed gives the same text, parameters and extents."""
    w = Writer(seed)
    for _ in range(w.any((1, 2, 3, 3, 4, 5, 6, 8))):
        if w.chain and w.chance(0.8):
            w.rng.choices([g for _, g in CHAIN], [weight for weight, _ in CHAIN])[0](w)
        else:
            w.rng.choices(_GROW, _WEIGHTS)[0](w)
    _outputs(w)
    return w.finish()


def _outputs(w: Writer) -> None:
    """Write one to three of the values that nothing reads, or else any."""
    text = "\n".join(w.lines)
    ends = [v for v in w.pool if v.dtype != "index" and _unused(v, text)] or [
        v for v in w.pool if v.dtype != "index"
    ]
    chosen = ends[-3:] if w.chance(0.7) else ends[-1:]
    if not chosen and not any(p.role in {"out", "inout"} for p in w.params):
        chosen = [w.numeric()]
    for value in chosen:
        y = w.param("out", value.dtype, value.shape)
        w.line(f"{y.name}[...] = {value.text}")


def _unused(value: Value, text: str) -> bool:
    return text.count(value.text) == 1 or (text + " ").split(value.text, 1)[-1].find(value.text) < 0
