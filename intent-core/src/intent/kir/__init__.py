"""The immutable logical IR: what a kernel means, and nothing of any target."""

from intent.kir.control import For, If, While
from intent.kir.effects import AssumeInBounds, Atomic, BufferAlloc, ScatterReduce, Store
from intent.kir.kernel import Kernel
from intent.kir.ops import (
    Bitcast,
    Broadcast,
    Cast,
    Constant,
    Contract,
    ExtentValue,
    Gather,
    Histogram,
    Iota,
    Join,
    Load,
    Op,
    Pointwise,
    RandomBits,
    Reduce,
    RegionFold,
    RegionScan,
    Reshape,
    ScaledContract,
    Scan,
    SparseContract,
    Transpose,
)
from intent.kir.value import (
    Assumption,
    Buffer,
    Condition,
    DomainID,
    DomainInfo,
    KernelID,
    OpID,
    Region,
    RegionID,
    Relation,
    Resource,
    ScalarParam,
    Value,
    ValueID,
    View,
)

__all__ = [
    "AssumeInBounds", "Assumption", "Atomic", "Bitcast", "Broadcast", "Buffer", "BufferAlloc", "Cast", "Condition",
    "Constant", "Contract", "DomainID", "DomainInfo", "ExtentValue", "For", "Gather", "Histogram", "If", "Iota", "Join",
    "Kernel", "KernelID", "Load", "Op", "OpID", "Pointwise", "RandomBits", "Reduce", "Region", "RegionFold", "RegionID",
    "RegionScan", "Relation", "Reshape", "Resource", "ScaledContract", "ScalarParam", "Scan", "ScatterReduce",
    "SparseContract", "Store", "Transpose", "Value", "ValueID", "View", "While",
]  # fmt: skip
