"""What the passes may assume about numbers (language, Numbers)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Permissions:
    """The numeric licences of one compilation, and what its plan wants of the passes.

    ``fold_law``: the author's law of a region fold may be used to absorb a carry into its slice, which rounds
    differently. ``relaxed``: chains of max, exp, sum and weighted contractions may run in online form, and
    inputs are finite. ``online``: the plan wants that form where it is permitted. ``peel``: it wants full blocks apart
    from masked ones. ``split``: f32 contractions may
    be made of products of bf16 parts.
    """

    fold_law: bool = True
    relaxed: bool = False
    online: bool = True
    peel: bool = True
    split: bool = False
