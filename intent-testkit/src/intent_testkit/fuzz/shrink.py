"""A failing kernel becomes a small one that fails in the same way.

The text itself is cut: statements go, loops and branches give way to their bodies, expressions to their parts,
names to what they stand for, extents and plans to smaller ones. A cut counts when the program still has a
meaning (it runs as numpy, and every adversary of the logical evaluator agrees) and the same stage fails with the same
kind of failure.
"""

from __future__ import annotations

import ast
import copy
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Final

from intent.construct import GroupPlan, Plan
from intent_testkit.fuzz.judge import IMPORTS, Failure, Options, judge
from intent_testkit.fuzz.kinds import Extents, Program, evaluate

PLANS_TRIED: Final = 9


def shrink(failure: Failure, options: Options, seconds: float = 30.0) -> Failure:
    """The smallest failure of the same signature found within ``seconds``."""
    return _Shrinker(failure, options, time.monotonic() + seconds).run()


class _Shrinker:
    def __init__(self, failure: Failure, options: Options, deadline: float) -> None:
        self.best = failure
        self.signature = failure.signature
        self.deadline = deadline
        stage = failure.signature[0]
        on_provider = stage in options.providers
        self.options = replace(
            options,
            providers=(stage,) if on_provider else (),
            random_plans=3 if on_provider else PLANS_TRIED,
            provider_plans=3,
        )

    def run(self) -> Failure:
        self._try(replace(self.best.program, extents=(self.best.extents,)))
        if "of other extents" in self.best.stage:
            self._pairs()
        changed = True
        while changed and time.monotonic() < self.deadline:
            changed = (
                self._pass(_without_statements)
                | self._pass(_without_names)
                | self._pass(_simpler_expressions)
            )
            changed |= self._extents() | self._pass(_without_helpers)
        self._plan()
        return self.best

    def _pairs(self) -> None:
        """Two assignments are needed: the plan's and the failing one's."""
        for other in self.best.program.extents:
            if other != self.best.extents and len(self.best.program.extents) > 2:
                self._try(replace(self.best.program, extents=(other, self.best.extents)))

    def _try(self, program: Program) -> bool:
        """Judge a candidate: under the failing plan first, then under several random ones."""
        stage = self.signature[0]
        pinned = (
            [self.best.plan] if self.best.plan is not None and stage not in self.options.providers else []
        )
        for plan in (*pinned, None):
            try:
                found = judge(program, replace(self.options, plan=plan))
            except Exception:  # noqa: BLE001 -- not a program any more
                return False
            if found is not None and found.signature == self.signature:
                self.best = found
                return True
            if found is not None and found.stage in {"front end", "logical"}:
                return False
        return False

    def _pass(self, cuts: Callable[[ast.Module], Iterator[ast.Module]]) -> bool:
        changed = False
        again = True
        while again:
            again = False
            for tree in cuts(_parse(self.best.program)):
                if time.monotonic() > self.deadline:
                    return changed
                if self._try(_rebuilt(self.best.program, tree)):
                    changed = again = True
                    break
        return changed

    def _extents(self) -> bool:
        changed = False
        for name in list(self.best.program.extents[0]):
            formulas = dict(self.best.program.formulas)
            if name in formulas:
                continue
            for value in (0, 1, 2, 3, 4, 5, 7, 8):
                now = self.best.program.extents[0]
                if value >= now[name] or time.monotonic() > self.deadline:
                    break
                smaller: dict[str, int] = {**now, name: value}
                for derived, text in self.best.program.formulas:
                    smaller[derived] = evaluate(text, smaller)
                if min(smaller.values()) >= 0 and self._try(replace(self.best.program, extents=(smaller,))):
                    changed = True
                    break
        return changed

    def _plan(self) -> None:
        again = self.best.plan is not None and self.signature[0] not in self.options.providers
        while again and time.monotonic() < self.deadline + 5:
            again = False
            for plan in _simpler_plans(self.best.plan):  # type: ignore[arg-type]
                found = judge(self.best.program, replace(self.options, plan=plan))
                if found is not None and found.signature == self.signature:
                    self.best, again = found, True
                    break


def _parse(program: Program) -> ast.Module:
    return ast.parse(program.source.replace(IMPORTS, "", 1))


def _kernel(tree: ast.Module) -> ast.FunctionDef:
    found = tree.body[-1]
    assert isinstance(found, ast.FunctionDef)
    return found


def _rebuilt(program: Program, tree: ast.Module) -> Program:
    """The text of a tree, without parameters that nothing mentions any more."""
    kernel = _kernel(tree)
    used = {n.id for s in kernel.body for n in ast.walk(s) if isinstance(n, ast.Name)}
    kernel.args.args = [a for a in kernel.args.args if a.arg in used]
    params = tuple(
        p if p.over in used or not p.over else replace(p, over="") for p in program.params if p.name in used
    )
    symbols = {a for p in params for a in p.shape}
    formulas = tuple(f for f in program.formulas if f[0] in symbols)
    needed = symbols | {n.id for _, t in formulas for n in ast.walk(ast.parse(t)) if isinstance(n, ast.Name)}
    needed |= {n.id for p in params for n in ast.walk(ast.parse(p.limit)) if isinstance(n, ast.Name)}
    extents: tuple[Extents, ...] = tuple({k: v for k, v in e.items() if k in needed} for e in program.extents)
    source = (
        IMPORTS + "\n\n" + ast.unparse(ast.fix_missing_locations(tree)).replace("\n\n@", "\n\n\n@") + "\n"
    )
    return replace(program, source=source, params=params, formulas=formulas, extents=extents)


def _blocks(function: ast.FunctionDef) -> list[list[ast.stmt]]:
    """All statement lists of a function, outermost first."""
    found = [function.body]
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.While | ast.If):
            found.append(node.body)
            if node.orelse:
                found.append(node.orelse)
    return found


def _without_statements(tree: ast.Module) -> Iterator[ast.Module]:
    """Each run of statements away, long runs first; each compound statement replaced by its body."""
    shapes = [len(b) for b in _blocks(_kernel(tree))]
    for size in (4, 2, 1):
        for number, length in enumerate(shapes):
            for at in reversed(range(length - size + 1)):
                cut = copy.deepcopy(tree)
                block = _blocks(_kernel(cut))[number]
                del block[at : at + size]
                if not block:
                    block.append(ast.Pass())
                yield cut
    for number, length in enumerate(shapes):
        for at in range(length):
            cut = copy.deepcopy(tree)
            block = _blocks(_kernel(cut))[number]
            statement = block[at]
            if isinstance(statement, ast.For | ast.While | ast.If):
                block[at : at + 1] = statement.body
                yield cut


def _without_names(tree: ast.Module) -> Iterator[ast.Module]:
    """Each name that is assigned once replaced by what it stands for, or by another name assigned before."""
    kernel = _kernel(tree)
    stored = [n.id for n in ast.walk(kernel) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    for number, block in enumerate(_blocks(kernel)):
        for at, statement in enumerate(block):
            if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
                continue
            name = statement.targets[0].id
            if stored.count(name) != 1:
                continue
            cut = copy.deepcopy(tree)
            inner = _blocks(_kernel(cut))[number]
            made = inner.pop(at)
            assert isinstance(made, ast.Assign)
            _kernel(cut).body = [_Inlined(name, made.value).visit(s) for s in _kernel(cut).body]
            yield cut


class _Inlined(ast.NodeTransformer):
    def __init__(self, name: str, value: ast.expr) -> None:
        self.name, self.value = name, value

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return copy.deepcopy(self.value) if node.id == self.name and isinstance(node.ctx, ast.Load) else node


def _simpler_expressions(tree: ast.Module) -> Iterator[ast.Module]:
    """Each operation replaced by one of its operands, each optional keyword dropped."""
    count = len(list(_expressions(tree)))
    for number in range(count):
        node, _ = list(_expressions(tree))[number]
        for part in range(len(_parts(node))):
            cut = copy.deepcopy(tree)
            target, put = list(_expressions(cut))[number]
            put(_parts(target)[part])
            yield cut
        if isinstance(node, ast.Call):
            for k in range(len(node.keywords)):
                cut = copy.deepcopy(tree)
                target, _ = list(_expressions(cut))[number]
                assert isinstance(target, ast.Call)
                del target.keywords[k]
                yield cut


def _parts(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp):
        return [node.left, node.right]
    if isinstance(node, ast.BoolOp):
        return node.values
    if isinstance(node, ast.Compare):
        return []
    if isinstance(node, ast.UnaryOp):
        return [node.operand]
    if isinstance(node, ast.Call):
        return [a for a in node.args if not isinstance(a, ast.Tuple)]
    if isinstance(node, ast.Subscript):
        return [node.value] if not isinstance(node.value, ast.Name) else []
    return []


def _expressions(tree: ast.Module) -> Iterator[tuple[ast.expr, Callable[[ast.expr], None]]]:
    """Every expression of the kernel's statements with a way to replace it; targets of stores stay."""
    for statement in _kernel(tree).body:
        for parent in ast.walk(statement):
            for name, value in ast.iter_fields(parent):
                if name == "targets":
                    continue
                if isinstance(value, ast.expr):
                    yield value, lambda new, p=parent, n=name: setattr(p, n, new)  # type: ignore[misc]
                elif isinstance(value, list):
                    for k, item in enumerate(value):
                        if isinstance(item, ast.expr):
                            yield item, lambda new, v=value, k=k: v.__setitem__(k, new)  # type: ignore[misc]


def _without_helpers(tree: ast.Module) -> Iterator[ast.Module]:
    for at in range(len(tree.body) - 1):
        cut = copy.deepcopy(tree)
        del cut.body[at]
        yield cut


def _simpler_plans(plan: Plan) -> Iterator[Plan]:
    """One entry made plain: a block of one, an axis serial, no guard, no grouping."""
    if plan.guards:
        yield replace(plan, guards=())
        for guard in plan.guards:
            yield replace(plan, guards=(guard,))
    for number, group in enumerate(plan.groups):
        for simpler in _simpler_groups(group):
            yield replace(plan, groups=(*plan.groups[:number], simpler, *plan.groups[number + 1 :]))


def _simpler_groups(group: GroupPlan) -> Iterator[GroupPlan]:
    if group.grouped > 1:
        yield replace(group, grouped=1)
    for k, (label, block) in enumerate(group.instance):
        for size in {1, 2, block // 2}:
            if 0 < size < block:
                yield replace(group, instance=(*group.instance[:k], (label, size), *group.instance[k + 1 :]))
    for k, (label, inner) in enumerate(group.inner):
        yield replace(group, inner=(*group.inner[:k], *group.inner[k + 1 :]))
        for size in {1, 2, inner.size // 2}:
            if 0 < size < inner.size:
                smaller = replace(inner, size=size)
                yield replace(group, inner=(*group.inner[:k], (label, smaller), *group.inner[k + 1 :]))
