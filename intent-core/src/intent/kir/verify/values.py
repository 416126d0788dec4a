"""Rules of operations that compute elements: constants, coordinates, pointwise functions, casts."""

from __future__ import annotations

from collections.abc import Iterator

from intent.kir.ops import Bitcast, Cast, Constant, ExtentValue, Iota, Pointwise, RandomBits
from intent.kir.pointwise import FUNCTIONS, Operands
from intent.kir.verify.rule import Facts, op_rule
from intent.types import DType
from intent.types.dtypes import BOOL, INDEX, U32


@op_rule(Constant)
def constant_type(op: Constant, _: Facts) -> Iterator[str]:
    """A constant is a scalar whose Python value belongs to its dtype."""
    dtype = op.result.dtype
    if op.result.shape:
        yield "a constant is a scalar"
    wanted = bool if dtype == BOOL else float if dtype.is_float else int
    if type(op.value) is not wanted:
        yield f"{op.value!r} is not a value of {dtype}"
    elif wanted is int and not dtype.minimum <= op.value <= dtype.maximum:
        yield f"{op.value} does not fit {dtype}"


@op_rule(ExtentValue)
def extent_value_type(op: ExtentValue, _: Facts) -> Iterator[str]:
    """The value of an extent is an index scalar."""
    if op.result.dtype != INDEX or op.result.shape:
        yield "the value of an extent is an index scalar"


@op_rule(Iota)
def iota_type(op: Iota, _: Facts) -> Iterator[str]:
    """Coordinates are an index vector from an index scalar in steps of an index scalar."""
    if op.result.dtype != INDEX or op.result.rank != 1:
        yield "coordinates are an index vector"
    if any(v.dtype != INDEX or v.shape for v in (op.begin, op.step)):
        yield "the begin and step of coordinates are index scalars"


@op_rule(Pointwise)
def pointwise_known(op: Pointwise, _: Facts) -> Iterator[str]:
    """The function is in the table and has the operands that the table says."""
    function = FUNCTIONS.get(op.fn)
    if function is None:
        yield f"there is no function '{op.fn}'"
    elif len(op.operands) != function.arity:
        yield f"'{op.fn}' takes {function.arity} operands, not {len(op.operands)}"


@op_rule(Pointwise)
def pointwise_shapes(op: Pointwise, _: Facts) -> Iterator[str]:
    """Operands and result have exactly one shape: broadcasts are explicit."""
    shapes = {v.shape for v in (*op.operands, op.result)}
    if len(shapes) > 1:
        yield f"'{op.fn}' mixes the shapes {', '.join(map(str, sorted(map(str, shapes))))}"


@op_rule(Pointwise)
def pointwise_dtypes(op: Pointwise, _: Facts) -> Iterator[str]:
    """Operand and result dtypes follow the function's typing rule."""
    function = FUNCTIONS.get(op.fn)
    if function is None or len(op.operands) != function.arity:
        return
    operands = [v.dtype for v in op.operands]
    if function.rule == "select":
        if operands[0] != BOOL:
            yield "the condition of select is bool"
        operands = operands[1:]
    if len(set(operands)) > 1:
        yield f"'{op.fn}' mixes the dtypes {', '.join(map(str, operands))}"
    if not accepts(function.operands, operands[0]):
        yield f"'{op.fn}' takes {function.operands} operands, not {operands[0]}"
    wanted = BOOL if function.rule == "bool" else operands[0]
    if op.result.dtype != wanted:
        yield f"'{op.fn}' gives {wanted}, not {op.result.dtype}"


@op_rule(Pointwise)
def pointwise_permissions(op: Pointwise, _: Facts) -> Iterator[str]:
    """Approximation is for f32 exp2, div and tanh; flushing for the first two, and only when approximate."""
    allowed = ("exp2", "div", "tanh")
    if op.approximate and (op.fn not in allowed or op.result.dtype.name != "f32"):
        yield f"'{op.fn}' of {op.result.dtype} has no approximate form"
    if op.flush_to_zero and (op.fn not in allowed[:2] or not op.approximate):
        yield f"'{op.fn}' may not flush subnormals here"


def accepts(operands: Operands, dtype: DType) -> bool:
    """Whether a function that takes ``operands`` is defined on ``dtype``."""
    match operands:
        case "number":
            return dtype != BOOL
        case "float":
            return dtype.is_float
        case "integer":
            return dtype.is_integer
        case "bool":
            return dtype == BOOL
        case "bool_or_integer":
            return dtype == BOOL or dtype.is_integer
    return True


@op_rule(Cast)
def cast_shape(op: Cast, _: Facts) -> Iterator[str]:
    """A cast keeps the shape."""
    if op.value.shape != op.result.shape:
        yield "a cast keeps the shape"


@op_rule(Bitcast)
def bitcast_width(op: Bitcast, _: Facts) -> Iterator[str]:
    """A bitcast keeps the shape and the width of an element; bool and index have no bits to look at."""
    source, target = op.value.dtype, op.result.dtype
    if op.value.shape != op.result.shape:
        yield "a bitcast keeps the shape"
    if source.bits != target.bits or BOOL in (source, target) or INDEX in (source, target):
        yield f"the bits of {source} are not those of {target}"


@op_rule(RandomBits)
def random_bits_type(op: RandomBits, _: Facts) -> Iterator[str]:
    """Random words are u32 of the operands' common shape; seed and counter are integers."""
    if op.result.dtype != U32:
        yield "random words are u32"
    if not op.seed.shape == op.counter.shape == op.result.shape:
        yield "seed, counter and words have one shape"
    if not (op.seed.dtype.is_integer and op.counter.dtype.is_integer):
        yield "seed and counter are integers"
