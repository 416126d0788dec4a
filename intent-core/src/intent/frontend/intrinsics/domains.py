"""Domains, coordinates and ragged relations (spec: logical-program 1, 3, 8)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Final

from intent.diagnostics import WrongDType, WrongRank
from intent.frontend.intrinsics.call import Call, Lower
from intent.frontend.values import (
    Domain,
    ExtentRef,
    FrontValue,
    Literal,
    Ragged,
    RaggedGroup,
    Record,
    Tensor,
    map_leaves,
)
from intent.types.extent import const

__all__ = ["LOWERINGS"]


def _domain(call: Call) -> FrontValue:
    return call.builder.domain(call.front("begin"), call.front("end"), call.front("step"))


def _parallel(call: Call) -> FrontValue:
    """The same domains, marked for the loop over them; a tuple of domains is a nest."""
    return _per_region(call, "domain", lambda region: replace(region, parallel=True), mapped=True)


def _indices(call: Call) -> FrontValue:
    """Source coordinates of a region; of a tuple of regions, a tuple. Members are coordinates already."""
    front = call.front("region")
    if isinstance(front, Tensor) and front.region is not None:
        return front
    return _per_region(call, "region", call.builder.indices)


def _end(call: Call) -> FrontValue:
    def end(region: Domain) -> FrontValue:
        return ExtentRef(extent=region.end_extent) if isinstance(region.end, Literal) else region.end

    return _per_region(call, "region", end)


def _enumerate(call: Call) -> FrontValue:
    """Pairs (local ordinal, source coordinate) for a loop."""
    return _per_region(call, "region", lambda region: replace(region, enumerated=True), mapped=True)


def _per_region(
    call: Call, parameter: str, of: Callable[[Domain], FrontValue], *, mapped: bool = False
) -> FrontValue:
    """``of`` each region; ``mapped``: a group of a ragged relation stays one, so that a loop sees its members."""

    def component(front: FrontValue) -> FrontValue:
        if isinstance(front, Tensor) and front.region is not None:
            front = front.region
        region = front.positions if isinstance(front, RaggedGroup) else front
        if not isinstance(region, Domain):
            fix = _instead(call.text(parameter), front)
            raise call.wrong_kind(parameter, "a domain or subregion", found=front.describe(), fix=fix)
        found = of(region)
        if mapped and isinstance(front, RaggedGroup) and isinstance(found, Domain):
            return replace(front, positions=found)
        return found

    found = call.front(parameter)
    if isinstance(found, Record):
        raise call.wrong_kind(parameter, "a domain, or a tuple of domains")
    return map_leaves(found, component)


def _instead(text: str, front: FrontValue) -> str | None:
    """What to write for something that is no region."""
    match front:
        case Ragged():
            return f"write {text}.outer for the groups, {text}[g] for the members of one"
        case Literal() | ExtentRef() | Tensor(shape=()):
            return f"write I.domain(0, {text})"
        case Tensor():
            return "pass the domain itself, not its coordinates; of a ragged relation, groups[g]"
    return None


def _ragged(call: Call) -> FrontValue:
    """Members of group g are ``members[offsets[g]:offsets[g + 1]]``, mapped by ``indices`` where given."""
    outer, members = (_whole(call, parameter) for parameter in ("outer", "members"))
    offsets = call.front("offsets")
    shape = call.builder.shape_of(offsets)
    if len(shape) != 1:
        raise WrongRank(f"offsets= of {call.what}", expected=1, found=len(shape), span=call.builder.span)
    call.builder.equal_extents(shape[0], outer.extent + const(1), f"offsets of {call.what} end every group")
    _need_integers(call, "offsets", offsets)
    indices = call.front("indices") if call.given("indices") else None
    if indices is not None:
        if len(rank := call.builder.shape_of(indices)) != 1:
            raise WrongRank(f"indices= of {call.what}", expected=1, found=len(rank), span=call.builder.span)
        _need_integers(call, "indices", indices)
    return Ragged(outer=outer, members=members, offsets=offsets, indices=indices)


def _need_integers(call: Call, parameter: str, given: FrontValue) -> None:
    dtype = call.builder.dtype_of(given)
    if dtype is not None and not dtype.is_integer:
        found = {call.text(parameter): dtype}
        raise WrongDType(
            f"{parameter}= of {call.what}", expected="integers", found=found, span=call.builder.span
        )


def _whole(call: Call, parameter: str) -> Domain:
    front = call.front(parameter)
    if not isinstance(front, Domain):
        raise call.wrong_kind(parameter, "a domain such as I.domain(0, n)")
    return front


def _members(call: Call) -> FrontValue:
    """The positions of a group, or what the relation's mapping holds there."""
    region = call.front("region")
    if isinstance(region, Domain):
        return replace(call.builder.indices(region), region=region)
    if not isinstance(region, RaggedGroup):
        text = call.text("region")
        group = (
            f"{text}[g]" if isinstance(region, Ragged) else f"groups[{text}], where groups = I.ragged(...)"
        )
        raise call.wrong_kind("region", "one group of a ragged relation", fix=f"pass {group}")
    return replace(call.builder.members(region), region=region)


LOWERINGS: Final[dict[str, Lower]] = {
    "domain": _domain,
    "parallel": _parallel,
    "indices": _indices,
    "end": _end,
    "enumerate": _enumerate,
    "ragged": _ragged,
    "members": _members,
}
