"""What can be wrong in code that decides, bounds and writes text, as rewrites of its own source.

The operators of :mod:`~intent_testkit.mutants.operators` know how construction makes operations; these know nothing
of what they spoil: comparisons, arithmetic of bounds, questions asked of many things, steps, and pieces of text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from intent_testkit.mutants.operators import Operator

_BLURRED: Final[dict[type[ast.cmpop], type[ast.cmpop]]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
}
_OTHER_NAMES: Final = {
    "any": "all", "all": "any", "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum",
}  # fmt: skip
_OTHER_SIDES: Final = {"low": "high", "high": "low", "lhs": "rhs", "begin": "end", "then": "orelse"}
_OTHER_FUNCTIONS: Final = {
    "add": "sub", "sub": "add", "mul": "add", "floordiv": "mod", "mod": "floordiv", "and": "or", "or": "and",
}  # fmt: skip
_OTHER_TEXT: Final = (
    (r"<=?", lambda m: "<" if m[0] == "<=" else "<="),
    (r">=", lambda _: ">"),
    (r"\bmin\b", lambda _: "max"),
    (r"\bmax\b", lambda _: "min"),
    (r" \+ ", lambda _: " - "),
    (r" - ", lambda _: " + "),
    (r" & | && ", lambda m: m[0].replace("&", "|")),
    (r" \* ", lambda _: " + "),
    (r" != ", lambda _: " == "),
)


def blur_bound(node: ast.AST) -> Iterator[ast.AST]:
    """A comparison that the compiler itself makes is off by one."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in _BLURRED:
        yield ast.Compare(left=node.left, ops=[_BLURRED[type(node.ops[0])]()], comparators=node.comparators)


def other_question(node: ast.AST) -> Iterator[ast.AST]:
    """``any`` for ``all``, the lesser for the greater."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _OTHER_NAMES:
        name = ast.Name(_OTHER_NAMES[node.func.id], ast.Load())
        yield ast.Call(func=name, args=node.args, keywords=node.keywords)


def forget_filter(node: ast.AST) -> Iterator[ast.AST]:
    """What a comprehension leaves out is taken too."""
    if isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp) and any(
        g.ifs for g in node.generators
    ):
        every = [
            ast.comprehension(target=g.target, iter=g.iter, ifs=[], is_async=g.is_async)
            for g in node.generators
        ]
        yield type(node)(elt=node.elt, generators=every)


def forget_step(node: ast.AST) -> Iterator[ast.AST]:
    """A call for its effect is left out: a line of text, a note of what holds."""
    if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
        yield ast.Pass()


def other_side(node: ast.AST) -> Iterator[ast.AST]:
    """The lower for the upper bound, the left for the right operand, the beginning for the end."""
    if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load) and node.attr in _OTHER_SIDES:
        yield ast.Attribute(value=node.value, attr=_OTHER_SIDES[node.attr], ctx=node.ctx)


def other_arithmetic(node: ast.AST) -> Iterator[ast.AST]:
    """Numbers are computed with another operator."""
    if not isinstance(node, ast.BinOp) or isinstance(node.right, ast.Constant):
        return
    others: dict[type[ast.operator], type[ast.operator]] = {
        ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Add, ast.FloorDiv: ast.Mod, ast.Mod: ast.FloorDiv,
    }  # fmt: skip
    other = others.get(type(node.op))
    if other is not None and not _texts(node):
        yield ast.BinOp(left=node.left, op=other(), right=node.right)


def other_function(node: ast.AST) -> Iterator[ast.AST]:
    """An operation of the program computes another function."""
    if isinstance(node, ast.Call) and node.args:
        first = node.args[0]
        named = isinstance(node.func, ast.Attribute) and node.func.attr in ("pointwise", "op")
        if named and isinstance(first, ast.Constant) and first.value in _OTHER_FUNCTIONS:
            args = [ast.Constant(_OTHER_FUNCTIONS[first.value]), *node.args[1:]]
            yield ast.Call(func=node.func, args=args, keywords=node.keywords)


def flip_flag(node: ast.AST) -> Iterator[ast.AST]:
    """A flag given to a call, or an answer, is the other one."""
    wrong = _other_bool(node.value) if isinstance(node, ast.keyword | ast.Return) else None
    if wrong is not None and isinstance(node, ast.Return):
        yield ast.Return(value=wrong)
    elif wrong is not None and isinstance(node, ast.keyword) and node.arg != "strict":
        yield ast.keyword(arg=node.arg, value=wrong)


def _other_bool(node: ast.AST | None) -> ast.expr | None:
    is_flag = isinstance(node, ast.Constant) and isinstance(node.value, bool)
    return ast.Constant(not node.value) if isinstance(node, ast.Constant) and is_flag else None


def wrong_text(node: ast.AST) -> Iterator[ast.AST]:
    """A piece of emitted text says another operator or bound."""
    if not isinstance(node, ast.JoinedStr):
        return
    for pattern, other in _OTHER_TEXT:
        for k, part in enumerate(node.values):
            said = part.value if isinstance(part, ast.Constant) else ""
            if isinstance(said, str) and re.search(pattern, said):
                text = re.sub(pattern, other, said, count=1)
                yield ast.JoinedStr(values=[*node.values[:k], ast.Constant(text), *node.values[k + 1 :]])


def swap_fields(node: ast.AST) -> Iterator[ast.AST]:
    """The first two values in a piece of emitted text change places, unless nobody could see that."""
    if not isinstance(node, ast.JoinedStr):
        return
    places = [k for k, part in enumerate(node.values) if isinstance(part, ast.FormattedValue)]
    if len(places) < 2:
        return
    a, b = places[:2]
    alike = ast.dump(node.values[a]) == ast.dump(node.values[b])
    between = [part.value for part in node.values[a + 1 : b] if isinstance(part, ast.Constant)]
    if not alike and between not in ([" * "], [" + "]):
        values = list(node.values)
        values[a], values[b] = values[b], values[a]
        yield ast.JoinedStr(values=values)


def forget_part(node: ast.AST) -> Iterator[ast.AST]:
    """Of a form that is matched one part is not looked at, or what is asked of the parts."""
    if isinstance(node, ast.MatchClass):
        parts = list(zip(node.kwd_attrs, node.kwd_patterns, strict=True))
        for k, (_, pattern) in enumerate(parts):
            if not any(isinstance(inner, ast.MatchAs | ast.MatchStar) for inner in ast.walk(pattern)):
                left = parts[:k] + parts[k + 1 :]
                names, patterns = [name for name, _ in left], [pattern for _, pattern in left]
                yield ast.MatchClass(node.cls, node.patterns, kwd_attrs=names, kwd_patterns=patterns)
    if isinstance(node, ast.Match):
        for k, case in enumerate(node.cases):
            anything = isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None
            if case.guard is not None and not anything:
                any_of_it = ast.match_case(case.pattern, None, case.body)
                yield ast.Match(node.subject, [*node.cases[:k], any_of_it, *node.cases[k + 1 :]])


DECISIONS: Final[dict[str, Operator]] = {
    "blur-bound": blur_bound,
    "other-question": other_question,
    "forget-filter": forget_filter,
    "forget-step": forget_step,
    "other-side": other_side,
    "other-arithmetic": other_arithmetic,
    "other-function": other_function,
    "flip-flag": flip_flag,
    "wrong-text": wrong_text,
    "swap-fields": swap_fields,
    "forget-part": forget_part,
}
"""By the name of the fault."""


def _texts(node: ast.AST) -> bool:
    return any(
        isinstance(n, ast.JoinedStr | ast.List | ast.Tuple | ast.Set)
        or (isinstance(n, ast.Constant) and isinstance(n.value, str))
        for n in ast.walk(node)
    )
