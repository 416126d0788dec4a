"""The physical GPU program: executable with nothing else in hand."""

from intent.physical.fragment import Buffer, Dim, Fragment, Region, Resource, View
from intent.physical.ops import (
    Argument,
    Atomic,
    Bitcast,
    Broadcast,
    BufferAlloc,
    Cast,
    Constant,
    Contract,
    Fence,
    Histogram,
    If,
    Lane,
    LaunchValue,
    Load,
    Loop,
    Narrowed,
    Op,
    Pointwise,
    Reduce,
    Rename,
    Scan,
    Store,
    While,
)
from intent.physical.program import Guard, Program, ScalarParam, Segment, SegmentAxis
from intent.physical.proof import ASSUMED, GUARD, REGION, STATIC, Proof, ProofKind

__all__ = [
    "ASSUMED", "GUARD", "REGION", "STATIC",
    "Argument", "Atomic", "Bitcast", "Broadcast", "Buffer", "BufferAlloc", "Cast", "Constant", "Contract", "Dim",
    "Fence", "Fragment", "Guard", "Histogram", "If", "Lane", "LaunchValue", "Load", "Loop", "Narrowed", "Op",
    "Pointwise", "Program", "Proof", "ProofKind",
    "Reduce", "Region", "Rename", "Resource", "ScalarParam", "Scan", "Segment", "SegmentAxis", "Store", "View", "While",
]  # fmt: skip
