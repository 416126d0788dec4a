"""The names that authors write: ``import intent.language as I``.

Annotations (``I.In``, ``I.Out``, ``I.InOut``, ``I.Constexpr``, ``I.Enum``, ``I.constraints``), dtypes
(``I.f32`` and the rest), constants, and every operation of the language. Operations only have a meaning
inside functions decorated with ``@intent.kernel`` or ``@intent.fn``; their docstrings say shapes, dtypes
and errors.

Importing this package touches no driver and imports no provider.
"""
# ruff: noqa: A004 -- these names are meant to be written as I.bool, I.abs, ...

from __future__ import annotations

from intent.diagnostics import RemovedConstruct, UnknownIntrinsic
from intent.language.annotations import Constexpr, Constraints, In, InOut, Out, constraints
from intent.language.arithmetic import add, clamp, fdiv, fma, maximum, maximum_num, minimum, minimum_num
from intent.language.arithmetic import pow_ as pow
from intent.language.atomics import atomic
from intent.language.captures import Captures
from intent.language.constants import LOG2E, inf
from intent.language.construction import (
    bitcast,
    cast,
    full,
    join,
    mask,
    record,
    reshape,
    select,
    transpose,
    zeros,
)
from intent.language.contractions import contract, dot, matmul, matvec, outer, vecmat
from intent.language.definitions import FnDefinition, KernelDefinition
from intent.language.domains import domain, end, indices, members, parallel, ragged
from intent.language.domains import enumerate_ as enumerate
from intent.language.dtypes import (
    FOREIGN,
    bf16,
    dtype,
    f8e4m3fn,
    f8e5m2,
    f16,
    f32,
    f64,
    i8,
    i16,
    i32,
    i64,
    index,
    u8,
    u16,
    u32,
    u64,
)
from intent.language.dtypes import boolean as bool
from intent.language.elementary import abs_ as abs
from intent.language.elementary import (
    asin,
    ceil,
    cos,
    erf,
    erfc,
    exp,
    exp2,
    floor,
    i0,
    isinf,
    isnan,
    lgamma,
    log,
    log1p,
    log2,
    rsqrt,
    sigmoid,
    sin,
    sqrt,
    tanh,
    trunc,
)
from intent.language.elementary import round_ as round
from intent.language.enums import Enum
from intent.language.formats import ScaledFormat, e2m1, e4m3, e8m0
from intent.language.intrinsic import INTRINSICS, Intrinsic, Namespace
from intent.language.lookup import lookup
from intent.language.memory import (
    assume_in_bounds,
    buffer,
    gather,
    mutable_load,
    scatter_reduce,
    scatter_unique,
    store,
)
from intent.language.packed import (
    scaled_contract,
    scaled_matmul,
    sparse,
    sparse_contract,
    sparse_contract_2to4,
    sparse_matmul,
)
from intent.language.quantized import RecordFormat, quant, quantize, quantized_dot
from intent.language.randomness import random
from intent.language.reductions import arg_reduce, histogram, reduce
from intent.language.regions import region_fold, region_scan
from intent.language.removed import REMOVED
from intent.language.scans import cummax, cummin, cumprod, cumsum, scan
from intent.language.signature import MISSING, KernelSignature, Param, resolve_signature
from intent.types import DType

__all__ = [
    "INTRINSICS",
    "LOG2E",
    "MISSING",
    "REMOVED",
    "Captures",
    "Constexpr",
    "Constraints",
    "DType",
    "Enum",
    "FnDefinition",
    "In",
    "InOut",
    "Intrinsic",
    "KernelDefinition",
    "KernelSignature",
    "Namespace",
    "Out",
    "Param",
    "RecordFormat",
    "ScaledFormat",
    "abs",
    "add",
    "arg_reduce",
    "asin",
    "assume_in_bounds",
    "atomic",
    "bf16",
    "bitcast",
    "bool",
    "buffer",
    "cast",
    "ceil",
    "clamp",
    "constraints",
    "contract",
    "cos",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "domain",
    "dot",
    "dtype",
    "e2m1",
    "e4m3",
    "e8m0",
    "end",
    "enumerate",
    "erf",
    "erfc",
    "exp",
    "exp2",
    "f8e4m3fn",
    "f8e5m2",
    "f16",
    "f32",
    "f64",
    "fdiv",
    "floor",
    "fma",
    "full",
    "gather",
    "histogram",
    "i0",
    "i8",
    "i16",
    "i32",
    "i64",
    "index",
    "indices",
    "inf",
    "isinf",
    "isnan",
    "join",
    "lgamma",
    "log",
    "log1p",
    "log2",
    "lookup",
    "mask",
    "matmul",
    "matvec",
    "maximum",
    "maximum_num",
    "members",
    "minimum",
    "minimum_num",
    "mutable_load",
    "outer",
    "parallel",
    "pow",
    "quant",
    "quantize",
    "quantized_dot",
    "ragged",
    "random",
    "record",
    "reduce",
    "region_fold",
    "region_scan",
    "reshape",
    "resolve_signature",
    "round",
    "rsqrt",
    "scaled_contract",
    "scaled_matmul",
    "scan",
    "scatter_reduce",
    "scatter_unique",
    "select",
    "sigmoid",
    "sin",
    "sparse",
    "sparse_contract",
    "sparse_contract_2to4",
    "sparse_matmul",
    "sqrt",
    "store",
    "tanh",
    "transpose",
    "trunc",
    "u8",
    "u16",
    "u32",
    "u64",
    "vecmat",
    "zeros",
]


def __getattr__(name: str) -> object:
    """Names that are not there: say what to write instead, or suggest the closest."""
    if name.startswith("__"):  # what inspect, copy and import machinery probe for
        raise AttributeError(name)
    if name in FOREIGN:
        raise RemovedConstruct(name, f"write I.{FOREIGN[name]}")
    if name in REMOVED:
        raise RemovedConstruct(name, REMOVED[name])
    raise UnknownIntrinsic(name, [*__all__, *INTRINSICS])
