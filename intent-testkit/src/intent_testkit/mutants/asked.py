"""In which cases and tests it matters that a condition is asked.

Of ``a and b and c`` it matters that ``b`` is asked where ``a`` and ``c`` hold and ``b`` does not. Where it never does,
the mutant that does not ask it makes the same programs, and need not be tried.
"""

from __future__ import annotations

import ast
import gc
import importlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import CodeType, FunctionType
from typing import Final

from intent_testkit.mutants.operators import skip_decision
from intent_testkit.mutants.sites import placed

FAULT: Final = "skip-decision"
_NAME: Final = "_intent_testkit_asked"


class Asking:
    """``mattered``: by the name of the mutant that does not ask a condition, the cases in which that matters.

    ``current``: the case. ``known``: all conditions that are watched.
    """

    def __init__(self) -> None:
        self.current = ""
        self.mattered: dict[str, set[str]] = defaultdict(set)
        self.known: set[str] = set()

    def all_hold(self, names: tuple[str, ...], *conditions: Callable[[], object]) -> object:
        """``and``."""
        return self._asked(names, conditions, wanted=True)

    def any_holds(self, names: tuple[str, ...], *conditions: Callable[[], object]) -> object:
        """``or``."""
        return self._asked(names, conditions, wanted=False)

    def _asked(
        self, names: tuple[str, ...], conditions: tuple[Callable[[], object], ...], *, wanted: bool
    ) -> object:
        found: list[object] = []
        for k, condition in enumerate(conditions):
            found.append(condition())
            if bool(found[-1]) is not wanted:
                if self.current not in self.mattered[names[k]]:
                    rest = _of(conditions[k + 1 :], found[-2] if k else None, wanted=wanted)
                    self._note(names[k], found[-1], rest)
                return found[-1]
        self._note(names[-1], found[-1], found[-2])
        return found[-1]

    def _note(self, name: str, right: object, wrong: object) -> None:
        """Values other than truth values may be used for what they are."""
        truths = isinstance(right, bool) and isinstance(wrong, bool)
        if bool(right) != bool(wrong) or (not truths and right is not wrong):
            self.mattered[name].add(self.current)


def _of(conditions: Iterable[Callable[[], object]], before: object, *, wanted: bool) -> object:
    """What the conditions come to without the one before; an error is as good as the other answer."""
    found = before
    try:
        for condition in conditions:
            found = condition()
            if bool(found) is not wanted:
                break
    except Exception:  # noqa: BLE001 -- the mutant would raise it
        return wanted
    return found


@contextmanager
def watched_conditions(modules: Iterable[str]) -> Iterator[Asking]:
    """Within, every condition of the modules that is one of several is watched.

    What the compiler makes then is not to be trusted: conditions are asked that it would not have come to.
    """
    asking = Asking()
    before: list[tuple[FunctionType, CodeType]] = []
    for module in modules:
        loaded = importlib.import_module(module)
        file = str(loaded.__file__)
        setattr(loaded, _NAME, asking)
        codes = {c.co_qualname: c for c in _codes(compile(_instrumented(file, module, asking), file, "exec"))}
        for function in [f for f in gc.get_objects() if isinstance(f, FunctionType)]:
            old = function.__code__
            new = codes.get(old.co_qualname)
            if old.co_filename == file and new is not None and new.co_freevars == old.co_freevars:
                before.append((function, old))
                function.__code__ = new
    try:
        yield asking
    finally:
        for function, code in reversed(before):
            function.__code__ = code


def _instrumented(file: str, module: str, asking: Asking) -> ast.Module:
    """The module's tree with the conditions as functions, in place of ``and`` and ``or``."""
    tree = ast.parse(Path(file).read_text(encoding="utf-8"))
    counts: dict[str, int] = defaultdict(int)
    names: dict[ast.AST, tuple[str, ...]] = {}
    for place, _, node in placed(tree):
        made = sum(1 for _ in skip_decision(node))
        if made:
            first = counts[place]
            counts[place] += made
            stem = f"{module.removeprefix('intent.')}:{place}:{FAULT}"
            names[node] = tuple(f"{stem}:{first + k}" for k in range(made))
    rewritten = _Rewriting(names, asking).visit(tree)
    return ast.fix_missing_locations(rewritten)  # type: ignore[no-any-return]


class _Rewriting(ast.NodeTransformer):
    def __init__(self, names: dict[ast.AST, tuple[str, ...]], asking: Asking) -> None:
        self.names, self.asking = names, asking

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        names = self.names.get(node)
        binds = any(isinstance(n, ast.NamedExpr) for n in ast.walk(node))
        inner = self.generic_visit(node)
        assert isinstance(inner, ast.BoolOp)
        if names is None or binds:  # a function would keep the name to itself
            return inner
        self.asking.known.update(names)
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        which = "all_hold" if isinstance(node.op, ast.And) else "any_holds"
        call = ast.Call(
            func=ast.Attribute(value=ast.Name(_NAME, ast.Load()), attr=which, ctx=ast.Load()),
            args=[
                ast.Constant(names),  # type: ignore[arg-type]
                *(ast.Lambda(args=nothing, body=value) for value in inner.values),
            ],
            keywords=[],
        )
        return ast.copy_location(call, node)


def _codes(code: CodeType) -> Iterator[CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
