"""What can be wrong in a compiler of kernels, as rewrites of its own source.

Each operator takes a node of a module's syntax tree and gives the wrong nodes that may stand in its place.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from typing import Final

Operator = Callable[[ast.AST], Iterator[ast.AST]]

_COMPARISONS: Final = {"lt": "le", "le": "lt", "gt": "ge", "ge": "gt"}
_EXTREMES: Final = {"minimum": "maximum", "maximum": "minimum"}
_ORDERED: Final = frozenset({"sub", "floordiv", "mod", "lt", "le", "gt", "ge", "select"})
_UNORDERED: Final = frozenset({"sort", "sorted", "union", "set", "frozenset", "any", "all", "members_of"})
_MARK: Final = "unordered"
_MEMORY: Final = frozenset({"dirty", "versions", "fenced_in", "readers", "pending"})
_FENCES: Final = frozenset({"settle", "settle_dirty", "fence"})


def drop_mask(node: ast.AST) -> Iterator[ast.AST]:
    """A predicate is forgotten: no conjunction, or only one side's members."""
    if isinstance(node, ast.Call) and _called(node) == "conjunction":
        yield ast.Constant(None)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.BitOr) and "members" in _names(node):
        yield node.left
        yield node.right
    if isinstance(node, ast.keyword) and node.arg == "valid" and not _is_none(node.value):
        yield ast.keyword(arg="valid", value=ast.Constant(None))


def widen_guard(node: ast.AST) -> Iterator[ast.AST]:
    """A bound is off by one: ``<`` becomes ``<=``."""
    if isinstance(node, ast.Call) and _called(node) in {"compare", "pointwise"} and node.args:
        first = node.args[0]
        if isinstance(first, ast.Constant) and first.value in _COMPARISONS:
            yield _with_first(node, _COMPARISONS[first.value])


def swap_extreme(node: ast.AST) -> Iterator[ast.AST]:
    """The smaller of two bounds becomes the larger."""
    if isinstance(node, ast.Call) and _called(node) == "pointwise" and node.args:
        first = node.args[0]
        if isinstance(first, ast.Constant) and first.value in _EXTREMES:
            yield _with_first(node, _EXTREMES[first.value])


def swap_operands(node: ast.AST) -> Iterator[ast.AST]:
    """The operands of an operation that does not commute, or of a combine, change places."""
    if isinstance(node, ast.Call) and _called(node) in {"compare", "pointwise"} and len(node.args) >= 3:
        first = node.args[0]
        if isinstance(first, ast.Constant) and first.value in _ORDERED:
            args = [*node.args[:-2], node.args[-1], node.args[-2]]
            yield ast.Call(func=node.func, args=args, keywords=node.keywords)
    if (
        isinstance(node, ast.Tuple)
        and not hasattr(node, _MARK)
        and len(node.elts) == 2
        and all(isinstance(e, ast.Starred) for e in node.elts)
    ):
        yield ast.Tuple(elts=node.elts[::-1], ctx=node.ctx)


def mark_unordered(tree: ast.AST) -> None:
    """Mark the sequences whose order means nothing, because they are walked or become a set: not for swapping."""
    for node in ast.walk(tree):
        if isinstance(node, ast.For):
            setattr(node.iter, _MARK, True)
        gathered: list[ast.expr] = [node] if isinstance(node, ast.SetComp) else []
        if isinstance(node, ast.Call) and _called(node) in _UNORDERED:
            gathered += node.args
        for sequence in gathered:
            setattr(sequence, _MARK, True)
            for walked in getattr(sequence, "generators", ()):
                setattr(walked.iter, _MARK, True)


def share_lane(node: ast.AST) -> Iterator[ast.AST]:
    """Two axes of one class get one lane: which lanes are in use is forgotten."""
    if isinstance(node, ast.Call) and _called(node) == "used_dims":
        yield ast.Call(func=ast.Name("frozenset", ast.Load()), args=[], keywords=[])
    left_out = isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.NotIn)
    if left_out and {"dims", "taken"} & _names(node):
        yield ast.Constant(True)


def forget_fence(node: ast.AST) -> Iterator[ast.AST]:
    """A fence is not emitted."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        call = node.value
        fence = _called(call) == "effect" and call.args and ast.unparse(call.args[0]) == "ph.Fence"
        if fence or _called(call) in _FENCES:
            yield ast.Pass()


def lose_token(node: ast.AST) -> Iterator[ast.AST]:
    """What memory holds is not followed: an update of the versions, or of what awaits a fence, is left out."""
    if isinstance(node, ast.Assign | ast.AugAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        if any(_MEMORY & set(_attributes(t)) for t in targets):
            yield ast.Pass()


def float_out(node: ast.AST) -> Iterator[ast.AST]:
    """An operation may leave the scope that it must stay in."""
    if isinstance(node, ast.keyword) and node.arg == "least" and not _is_none(node.value):
        yield ast.keyword(arg="least", value=ast.Constant(None))
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and _called(node.value) == "pin":
        yield ast.Pass()


def shift_segment(node: ast.AST) -> Iterator[ast.AST]:
    """An offset, a number of programs or a place is off by one."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        right = node.right
        if isinstance(right, ast.Constant) and right.value == 1:
            yield node.left
    if isinstance(node, ast.Call) and _called(node) == "index" and len(node.args) == 1:
        (only,) = node.args
        if isinstance(only, ast.Constant) and only.value in (0, 1):
            yield ast.Call(func=node.func, args=[ast.Constant(1 - only.value)], keywords=[])


def wrong_identity(node: ast.AST) -> Iterator[ast.AST]:
    """Lanes without a member bring something other than the identity."""
    if (
        isinstance(node, ast.Call)
        and _called(node) in {"identity", "identity_of", "zero", "constant"}
        and node.args
    ):
        first = node.args[0]
        if isinstance(first, ast.Constant) and isinstance(first.value, bool):
            yield _with_first(node, not first.value)
        elif isinstance(first, ast.Constant) and first.value in (0, 1):
            yield _with_first(node, 7)


def negate_condition(node: ast.AST) -> Iterator[ast.AST]:
    """A decision is taken the other way round."""
    if isinstance(node, ast.If | ast.IfExp):
        wrong: ast.AST = ast.UnaryOp(op=ast.Not(), operand=node.test)
        yield _with_test(node, wrong)


def skip_decision(node: ast.AST) -> Iterator[ast.AST]:
    """One of several conditions is not asked."""
    if isinstance(node, ast.BoolOp):
        for left_out in range(len(node.values)):
            rest = [v for k, v in enumerate(node.values) if k != left_out]
            yield rest[0] if len(rest) == 1 else ast.BoolOp(op=node.op, values=rest)


OPERATORS: Final[dict[str, Operator]] = {
    "drop-mask": drop_mask,
    "widen-guard": widen_guard,
    "swap-extreme": swap_extreme,
    "swap-operands": swap_operands,
    "share-lane": share_lane,
    "forget-fence": forget_fence,
    "lose-token": lose_token,
    "float-out": float_out,
    "shift-segment": shift_segment,
    "wrong-identity": wrong_identity,
    "negate-condition": negate_condition,
    "skip-decision": skip_decision,
}
"""By the name of the fault."""


def _called(node: ast.Call) -> str:
    """The last name of what is called."""
    if isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _attributes(node: ast.AST) -> Iterator[str]:
    return (n.attr for n in ast.walk(node) if isinstance(n, ast.Attribute))


def _names(node: ast.AST) -> set[str]:
    found = set(_attributes(node))
    return found | {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}


def _is_none(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _with_first(node: ast.Call, value: object) -> ast.Call:
    args: list[ast.expr] = [ast.Constant(value), *node.args[1:]]  # type: ignore[arg-type]
    return ast.Call(func=node.func, args=args, keywords=node.keywords)


def _with_test(node: ast.If | ast.IfExp, test: ast.AST) -> ast.AST:
    fields = {name: getattr(node, name) for name in node._fields} | {"test": test}
    return type(node)(**fields)
