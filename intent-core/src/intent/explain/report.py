"""The report: everything that is known about one compiled kernel, as frozen typed data.

The text, the JSON document and the HTML page are three renderings of it. Names of fields are the names of the JSON
document's keys (:mod:`intent.explain.document`), so a change here is a change of a documented format.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

VERSION: Final = 1
"""Version of the document; it rises when a field disappears or changes its meaning."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """A line of the author's source. ``key`` is its index in ``Report.lines``."""

    key: int
    file: str
    line: int
    text: str


@dataclass(frozen=True, kw_only=True)
class Quantity:
    """An integer expression of launch-visible values, with its value when the extents are known.

    ``text`` is ``?`` where only device data decides, of passes ``until its last point is done`` where that is the
    longest of several points, and ``varies`` where programs differ: ``value`` is then the mean of programs times their
    number.
    """

    text: str
    value: int | None = None


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """A view or a scalar of the interface. ``bytes``: the size of a view's elements."""

    name: str
    kind: Literal["view", "scalar"]
    dtype: str
    shape: tuple[Quantity, ...]
    mode: Literal["in", "out", "inout"] | None
    strides: tuple[str, ...] | None
    alias: str | None
    noalias: bool
    bytes: Quantity


@dataclass(frozen=True, kw_only=True)
class Statement:
    """An effect of the kernel: what is scheduled. ``id`` is that of the logical operation."""

    id: int
    kind: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    place: Place | None


@dataclass(frozen=True, kw_only=True)
class Fact:
    """Why points along an axis are independent instances (spec: kir-to-gpu-program 2)."""

    source: Literal["parallel", "write", "free axis", "batch axis", "scatter", "atomic"]
    text: str
    place: Place | None


@dataclass(frozen=True, kw_only=True)
class Axis:
    """An axis of a workset. ``single``: its block has to be 1. ``repeats``: instances along it repeat work."""

    label: str
    extent: Quantity
    facts: tuple[Fact, ...]
    single: bool
    repeats: bool


@dataclass(frozen=True, kw_only=True)
class Reason:
    """Why two statements share a group, why two groups are apart, or why an axis stays inside."""

    because: str
    text: str
    statements: tuple[int, ...]
    groups: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Group:
    """A workset: statements that share instances, and the axes whose points are instances."""

    number: int
    statements: tuple[Statement, ...]
    axes: tuple[Axis, ...]
    joined: tuple[Reason, ...]
    inside: tuple[Reason, ...]


@dataclass(frozen=True, kw_only=True)
class Lane:
    """A lane dimension of a fragment."""

    name: str
    size: int


@dataclass(frozen=True, kw_only=True)
class Coordinate:
    """The coordinate of an access along one axis of its resource, and why it is inside."""

    expression: str
    extent: Quantity
    proof: str
    why: str


@dataclass(frozen=True, kw_only=True)
class Access:
    """A read, write or atomic. ``elements``: active lanes of all programs and passes; ``passes`` of one program."""

    id: int
    verb: Literal["read", "write", "atomic"]
    detail: str
    resource: str
    storage: Literal["view", "workspace", "shared", "registers"]
    dtype: str
    coordinates: tuple[Coordinate, ...]
    guard: str | None
    lanes: tuple[Lane, ...]
    passes: Quantity
    elements: Quantity
    bytes: Quantity
    place: Place | None


OperationKind = Literal[
    "read", "write", "atomic", "loop", "while", "if", "else", "reduce", "scan", "contract", "histogram", "buffer",
    "fence", "compute", "carry",
]  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class Operation:
    """A line of a program's body. ``id`` is that of the physical operation, ``depth`` counts enclosing regions.

    ``value``: what a write writes. Values without a name of the author stand where they are used.
    """

    id: int
    kind: OperationKind
    depth: int
    text: str
    value: str | None
    place: Place | None


@dataclass(frozen=True, kw_only=True)
class SegmentAxis:
    """An axis of program space: ``programs`` blocks of ``block`` coordinates."""

    label: str
    extent: Quantity
    block: int
    programs: Quantity


@dataclass(frozen=True, kw_only=True)
class Definition:
    """A name in the expressions of a segment, and what it stands for."""

    name: str
    text: str


@dataclass(frozen=True, kw_only=True)
class Segment:
    """One group's share of the launch and what each of its programs does."""

    group: int
    axes: tuple[SegmentAxis, ...]
    length: Quantity
    offset: Quantity
    grouped: int
    definitions: tuple[Definition, ...]
    operations: tuple[Operation, ...]
    accesses: tuple[Access, ...]


@dataclass(frozen=True, kw_only=True)
class Choice:
    """What the plan does with an axis: blocks of instances, an ordered loop over blocks, or all of it in lanes.

    ``beside``: reductions over it walk it in blocks where lanes of its class are in use already. ``split``: the loop is
    shared out among ``size`` instances.
    """

    group: int
    axis: str
    mode: Literal["instance", "serial", "resident", "beside", "split"]
    size: int


@dataclass(frozen=True, kw_only=True)
class Buffer:
    """Storage besides the views.

    ``role``: declared by the author; a value that is computed once and held; what instances that share a reduction
    know of their parts; or how many of them have arrived.
    """

    name: str
    dtype: str
    shape: tuple[Quantity, ...]
    bytes: Quantity
    scope: Literal["program", "iteration", "invocation"]
    storage: Literal["workspace", "shared", "registers"]
    role: Literal["declared", "held", "partial", "arrival"]
    owner: str
    segment: int
    place: Place | None


@dataclass(frozen=True, kw_only=True)
class Repeated:
    """A computation that stands more than once in the program: recomputed rather than held."""

    text: str
    times: int
    segments: tuple[int, ...]
    place: Place | None


@dataclass(frozen=True, kw_only=True)
class Condition:
    """What must hold of the arguments. A violated guard means another variant, a violated condition an error."""

    kind: Literal["guard", "condition"]
    text: str
    reason: str
    holds: bool | None
    place: Place | None


@dataclass(frozen=True, kw_only=True)
class Assumption:
    """A promise of the author."""

    kind: Literal["unique", "in_bounds", "noalias"]
    text: str
    place: Place | None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """Something that holds of the whole program, or that each call decides for its own shapes and strides."""

    text: str
    answer: Literal["proved", "at the call"]


@dataclass(frozen=True, kw_only=True)
class Variant:
    """A build of one plan. ``current``: the one this report is about."""

    plan: tuple[Choice, ...]
    guards: tuple[str, ...]
    current: bool


@dataclass(frozen=True, kw_only=True)
class Moved:
    """Traffic of one view. ``once``: its elements that are touched, each moved once; ``requested``: as accessed."""

    view: str
    verb: Literal["read", "write", "atomic"]
    once: Quantity
    requested: Quantity


@dataclass(frozen=True, kw_only=True)
class Work:
    """Bytes between the kernel and memory, and operations: all of them, and by kind.

    ``unknown``: what is not counted, because data decides it.
    """

    moved: tuple[Moved, ...]
    once: Quantity
    requested: Quantity
    operations: Quantity
    pointwise: Quantity
    reductions: Quantity
    contractions: Quantity
    unknown: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Stage:
    """Time of one stage of the compilation."""

    name: str
    milliseconds: float


@dataclass(frozen=True, kw_only=True)
class AuthorLine:
    """A line of the author's source. ``used``: something of the program comes from it."""

    key: int
    file: str
    line: int
    text: str
    used: bool


@dataclass(frozen=True, kw_only=True)
class EmittedLine:
    """A line of the emitted source; ``lines`` are the keys of the author's lines that it comes from."""

    text: str
    lines: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Emitted:
    """The provider's text. ``refusal`` says why there is none."""

    language: str
    lines: tuple[EmittedLine, ...]
    refusal: str | None


@dataclass(frozen=True, kw_only=True)
class Span:
    """Coordinates ``low <= c <= high`` along one axis; ``known`` is false where data decides."""

    low: int
    high: int
    known: bool


@dataclass(frozen=True, kw_only=True)
class Footprint:
    """What one access of one program touches: all of it, in its first pass, and in its last."""

    access: int
    swept: tuple[Span, ...]
    first: tuple[Span, ...]
    last: tuple[Span, ...]


@dataclass(frozen=True, kw_only=True)
class Sample:
    """One program of a segment: its id in the segment, its block along each axis, and its accesses."""

    program: int
    blocks: tuple[int, ...]
    footprints: tuple[Footprint, ...]


@dataclass(frozen=True, kw_only=True)
class Tensor:
    """The extents of a resource in the picture."""

    name: str
    kind: Literal["view", "buffer"]
    shape: tuple[int, ...]


@dataclass(frozen=True, kw_only=True)
class Scene:
    """The picture of one segment: how many programs along each axis, the resources, some of the programs."""

    group: int
    programs: tuple[int, ...]
    tensors: tuple[Tensor, ...]
    samples: tuple[Sample, ...]


@dataclass(frozen=True, kw_only=True)
class Extent:
    """The value of a symbol or of an integer scalar."""

    name: str
    value: int


@dataclass(frozen=True, kw_only=True)
class Picture:
    """Program space and accesses in numbers. ``chosen``: for extents that were made up, because none are known."""

    chosen: bool
    extents: tuple[Extent, ...]
    scenes: tuple[Scene, ...]


@dataclass(frozen=True, kw_only=True)
class Report:
    """What was constructed from a kernel, and why. ``extents``: those of the launch, empty when unknown."""

    version: int
    kernel: str
    provider: str
    provider_version: str
    constexprs: tuple[Definition, ...]
    extents: tuple[Extent, ...]
    parameters: tuple[Parameter, ...]
    groups: tuple[Group, ...]
    apart: tuple[Reason, ...]
    length: Quantity
    segments: tuple[Segment, ...]
    plan: tuple[Choice, ...]
    knobs: tuple[Extent, ...]
    buffers: tuple[Buffer, ...]
    repeated: tuple[Repeated, ...]
    conditions: tuple[Condition, ...]
    assumptions: tuple[Assumption, ...]
    claims: tuple[Claim, ...]
    variants: tuple[Variant, ...]
    work: Work
    stages: tuple[Stage, ...]
    lines: tuple[AuthorLine, ...]
    emitted: Emitted
    picture: Picture
