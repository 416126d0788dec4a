"""break, continue and return as structured control (spec: logical-program 4; kernel-and-host 5).

Works on syntax. ``if c: A; return`` followed by ``B`` becomes ``if c: A`` else ``B`` where that is enough; where
control may or may not leave, a flag is set and what follows is guarded by ``not flag``::

    for i in axis:                       .stop1 = False
        if x[i] < 0:                     for i in axis, until .stop1:
            break                 =>         if x[i] < 0: .stop1 = True
        s = s + x[i]                         else: s = s + x[i]

Names of flags begin with a dot, so they meet no name of the author. A loop that can be left carries its flags in
``until``; the value of a return is the name ``.result``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

RESULT = ".result"
RETURNED = ".returned"


class Loop(ast.stmt):
    """A ``for`` or ``while`` that can be left early: ``loop`` runs until one of ``until`` is set.

    ``breaks`` are the statements that leave it, for errors.
    """

    _fields = ("loop",)
    loop: ast.For | ast.While

    def __init__(self, loop: ast.For | ast.While, until: Sequence[str], breaks: list[ast.stmt]) -> None:
        super().__init__(loop=loop)  # type: ignore[call-arg] # a field of this class
        self.until = tuple(until)
        self.breaks = breaks
        ast.copy_location(self, loop)


@dataclass(kw_only=True)
class _Context:
    """The flags of the loop around, and the exits met so far."""

    stop: str | None = None
    skip: str | None = None
    exits: list[ast.stmt] = field(default_factory=list)


class Normaliser:
    """Rewrites the body of one function."""

    def __init__(self) -> None:
        self._count = 0
        self._valued = False

    def function(self, body: Sequence[ast.stmt]) -> list[ast.stmt]:
        """The whole body; afterwards ``.result`` holds what was returned, if anything.

        Where some path returns a value, the others return None: as in Python, and refused where types must agree.
        """
        self._valued = any(stmt.value is not None and not is_none(stmt.value) for stmt in returns_of(body))
        if self._valued and not _always_leaves(body):
            body = [*body, ast.copy_location(ast.Return(value=None), body[-1])]
        out = self._block(body, _Context())
        if RETURNED in _flags_read(out):
            out.insert(0, _assign(RETURNED, ast.Constant(value=False), body[0]))
        return out

    def _block(self, body: Sequence[ast.stmt], context: _Context) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for place, stmt in enumerate(body):
            rest = body[place + 1 :]
            if isinstance(stmt, ast.Break | ast.Continue | ast.Return):
                out.extend(self._leave(stmt, context))
                return out
            kinds = _escapes([stmt])
            if not kinds:
                out.extend(self._inner(stmt))
                continue
            if isinstance(stmt, ast.If):
                out.extend(self._branch(stmt, rest, context))
                return out
            out.extend(self._loop(stmt, context))
            if "return" in kinds and rest:
                out.append(_guard([RETURNED], self._block(rest, context), rest[0]))
                return out
        return out

    def _leave(self, stmt: ast.stmt, context: _Context) -> list[ast.stmt]:
        context.exits.append(stmt)
        if isinstance(stmt, ast.Return):
            result = stmt.value or ast.copy_location(ast.Constant(value=None), stmt)
            value = [_assign(RESULT, result, stmt)] if self._valued else []
            return [*value, _assign(RETURNED, ast.Constant(value=True), stmt)]
        flag = context.stop if isinstance(stmt, ast.Break) else context.skip
        assert flag is not None
        return [_assign(flag, ast.Constant(value=True), stmt)]

    def _inner(self, stmt: ast.stmt) -> list[ast.stmt]:
        """A statement that does not leave anything around it; loops inside it may be left themselves."""
        if isinstance(stmt, ast.For | ast.While):
            return self._loop(stmt, _Context())
        if isinstance(stmt, ast.If):
            body, orelse = self._block(stmt.body, _Context()), self._block(stmt.orelse, _Context())
            return [_if(stmt.test, body, orelse, stmt)]
        return [stmt]

    def _branch(self, stmt: ast.If, rest: Sequence[ast.stmt], context: _Context) -> list[ast.stmt]:
        """An ``if`` that may leave: what follows moves to the side that does not, or is guarded."""
        then_leaves, else_leaves = _always_leaves(stmt.body), _always_leaves(stmt.orelse)
        if then_leaves and else_leaves:
            rest = ()
        if rest and then_leaves:
            body, orelse = self._block(stmt.body, context), self._block([*stmt.orelse, *rest], context)
            return [_if(stmt.test, body, orelse, stmt)]
        if rest and else_leaves:
            body, orelse = self._block([*stmt.body, *rest], context), self._block(stmt.orelse, context)
            return [_if(stmt.test, body, orelse, stmt)]
        body, orelse = self._block(stmt.body, context), self._block(stmt.orelse, context)
        out: list[ast.stmt] = [_if(stmt.test, body, orelse, stmt)]
        if rest:
            flags = {"break": context.stop, "continue": context.skip, "return": RETURNED}
            names = [flag for kind in sorted(_escapes([stmt])) if (flag := flags[kind])]
            out = [*(_assign(n, ast.Constant(value=False), stmt) for n in names if n == context.skip), *out]
            out.append(_guard(names, self._block(rest, context), rest[0]))
        return out

    def _loop(self, stmt: ast.stmt, context: _Context) -> list[ast.stmt]:
        assert isinstance(stmt, ast.For | ast.While)
        self._count += 1
        inner = _Context(stop=f".stop{self._count}", skip=f".skip{self._count}")
        kinds = _escapes(stmt.body)
        body = self._block(stmt.body, inner)
        until = [n for n, kind in ((inner.stop, "break"), (RETURNED, "return")) if kind in kinds and n]
        loop: ast.For | ast.While
        if isinstance(stmt, ast.For):
            loop = ast.For(target=stmt.target, iter=stmt.iter, body=body, orelse=stmt.orelse)
        else:
            loop = ast.While(test=stmt.test, body=body, orelse=stmt.orelse)
        ast.copy_location(loop, stmt)
        if not until:
            return [loop]
        exits: list[ast.stmt] = [e for e in inner.exits if isinstance(e, ast.Break | ast.Return)]
        context.exits.extend(e for e in exits if isinstance(e, ast.Return))
        start = [_assign(n, ast.Constant(value=False), stmt) for n in until if n == inner.stop]
        return [*start, Loop(loop, until, exits)]


def _escapes(body: Sequence[ast.stmt]) -> set[str]:
    """The kinds of exits in ``body`` that leave it: break and continue of a loop around it, and return."""
    found: set[str] = set()
    for stmt in body:
        if isinstance(stmt, ast.Return):
            found.add("return")
        elif isinstance(stmt, ast.Break):
            found.add("break")
        elif isinstance(stmt, ast.Continue):
            found.add("continue")
        elif isinstance(stmt, ast.If):
            found |= _escapes(stmt.body) | _escapes(stmt.orelse)
        elif isinstance(stmt, ast.For | ast.While):
            found |= _escapes(stmt.body) & {"return"}
    return found


def _always_leaves(body: Sequence[ast.stmt]) -> bool:
    """Whether control never reaches the end of ``body``."""
    return any(
        isinstance(s, ast.Break | ast.Continue | ast.Return)
        or (isinstance(s, ast.If) and _always_leaves(s.body) and _always_leaves(s.orelse))
        or (isinstance(s, ast.While) and _endless(s))
        for s in body
    )


def _endless(loop: ast.While) -> bool:
    """``while True`` without a break: only a return ends it."""
    return (
        isinstance(loop.test, ast.Constant) and bool(loop.test.value) and "break" not in _escapes(loop.body)
    )


def returns_of(body: Sequence[ast.stmt]) -> Iterator[ast.Return]:
    """The returns of one function; functions and classes inside it have their own."""
    for stmt in body:
        if isinstance(stmt, ast.Return):
            yield stmt
        elif isinstance(stmt, ast.If | ast.For | ast.While):
            yield from returns_of([*stmt.body, *stmt.orelse])


def is_none(value: ast.expr) -> bool:
    """Whether an expression is the constant None."""
    return isinstance(value, ast.Constant) and value.value is None


def _flags_read(body: Sequence[ast.stmt]) -> set[str]:
    found: set[str] = set()
    for stmt in body:
        for node in ast.walk(stmt):
            if isinstance(node, Loop):
                found.update(node.until)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id.startswith("."):
                found.add(node.id)
    return found


def _assign(name: str, value: ast.expr, at: ast.stmt) -> ast.stmt:
    target = ast.copy_location(ast.Name(id=name, ctx=ast.Store()), at)
    if not hasattr(value, "lineno"):
        ast.copy_location(value, at)
    return ast.copy_location(ast.Assign(targets=[target], value=value), at)


def _if(test: ast.expr, body: list[ast.stmt], orelse: list[ast.stmt], at: ast.stmt) -> ast.stmt:
    return ast.copy_location(ast.If(test=test, body=body, orelse=orelse), at)


def _guard(flags: Sequence[str], body: list[ast.stmt], at: ast.stmt) -> ast.stmt:
    """``if not (flag or ...): body``."""
    names: list[ast.expr] = [ast.copy_location(ast.Name(id=f, ctx=ast.Load()), at) for f in flags]
    flag = names[0] if len(names) == 1 else ast.copy_location(ast.BoolOp(op=ast.Or(), values=names), at)
    return _if(ast.copy_location(ast.UnaryOp(op=ast.Not(), operand=flag), at), body, [], at)
