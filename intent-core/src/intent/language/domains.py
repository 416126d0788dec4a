"""Domains, subregions, coordinates and ragged relations (spec: logical-program 1, 3, 8)."""

from __future__ import annotations

from intent.language.intrinsic import intrinsic
from intent.language.kinds import Region, Value

__all__ = ["domain", "end", "enumerate_", "indices", "members", "parallel", "ragged"]


@intrinsic("domain", start="begin", stop="end")
def domain(begin: Value, end: Value, step: Value = 1) -> Region:
    """The ordered coordinates ``begin, begin + step, ...`` below ``end``; empty if ``end <= begin``.

    ``axis[a:b]`` of a domain is a subregion: it keeps coordinates and is never clamped. A domain in a
    subscript makes one result axis. ``start=`` and ``stop=`` mean the same as ``begin=`` and ``end=``.

    Raises:
        InvalidStep: a constant step below 1.
        WrongDType: an end that is not an integer.

    spec: logical-program 1
    """


@intrinsic("parallel", source="domain")
def parallel(domain: Region) -> Region:
    """The points of ``domain`` in no order: ``for i in I.parallel(domain)`` runs its body once for each.

    A tuple of domains gives a tuple of coordinates. Carries, ``break`` and ``return`` are errors;
    ``continue`` ends the point.

    Raises:
        CarryInParallel, BreakInParallel, ReturnInParallel, CollidingWrites.

    spec: logical-program 3
    """


@intrinsic("indices", domain="region")
def indices(region: Region) -> Value:
    """The source coordinates of ``region`` as an ``index`` tensor of rank one.

    A tuple of regions gives a tuple of tensors. The tensor keeps its provenance through helpers, slices,
    broadcasts, reshapes, transposes and records.

    spec: logical-program 1.1
    """


@intrinsic("end", domain="region")
def end(region: Region) -> Value:
    """The exclusive end of ``region`` as an ``index`` scalar.

    spec: logical-program 1
    """


@intrinsic("enumerate", domain="region")
def enumerate_(region: Region) -> Region:
    """Pairs (local ordinal from 0, source coordinate) of ``region``, in order, for a ``for`` loop.

    spec: logical-program 1
    """


@intrinsic("ragged")
def ragged(outer: Region, members: Region, offsets: Value, indices: Value = None) -> Region:
    """Groups of members: group ``g`` of ``outer`` holds ``members[offsets[g]:offsets[g + 1]]``.

    ``groups.outer`` is the outer domain, ``groups[g]`` the region of one group. With ``indices`` the
    members of a group are ``indices[i]`` for ``i`` in that region.

    Args:
        outer: a domain of G groups.
        members: the domain that the members come from.
        offsets: integers of shape ``(G + 1,)``.
        indices: integers that map positions to members, or None for the positions themselves.

    spec: logical-program 8
    """


@intrinsic("members", domain="region")
def members(region: Region) -> Value:
    """The member coordinates of one group of a ragged relation, as an ``index`` tensor of rank one.

    Loops, ``I.parallel``, ``I.enumerate`` and ``I.indices`` take them as they take the group itself.
    spec: logical-program 8
    """
