"""One lowering of a kernel: the builder, the scope of the function at hand, and the dispatch over syntax."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence

from intent.diagnostics import ConditionNotScalar, IntentError, NotConstexpr, Recursion, UnsupportedSyntax
from intent.frontend.builder import Builder
from intent.frontend.liveness import assigned
from intent.frontend.normalise import RESULT
from intent.frontend.preparation import Preparation
from intent.frontend.scope import Scope, wrap_default
from intent.frontend.values import (
    NONE,
    UNSET,
    BufferRef,
    FrontValue,
    Function,
    Literal,
    Tensor,
    Undefined,
    ViewRef,
)
from intent.kir import Cast, Load, Value
from intent.language.annotations import ConstexprAnnotation
from intent.language.definitions import Definition
from intent.types import DType, Span

Expression = Callable[["Lowering", ast.expr], FrontValue]
Statement = Callable[["Lowering", ast.stmt], None]


class Lowering:
    """Lowers statements and expressions of one function after another into one kernel.

    ``builder`` creates the KIR; ``scope`` holds the names of the function being lowered. Expressions and statements
    are handled by the tables of :mod:`~intent.frontend.expressions` and :mod:`~intent.frontend.statements`.
    """

    def __init__(
        self,
        builder: Builder,
        expressions: Mapping[type[ast.expr], Expression],
        statements: Mapping[type[ast.stmt], Statement],
    ) -> None:
        self.builder = builder
        self.scope: Scope
        self.stack: list[Definition[...]] = []
        self.sites: tuple[Span, ...] = ()
        self.captured: dict[str, object] = {}
        self._locals: dict[Definition[...], Mapping[str, int]] = {}
        self._expressions = expressions
        self._statements = statements
        self._preparation = Preparation(self)
        self._spans: dict[int, tuple[ast.AST, Span]] = {}
        self._texts: dict[int, tuple[FrontValue, ast.expr]] = {}
        builder.text_of, builder.text_of_value = self.text_of, self.text_of_value

    # -- places

    def span(self, node: ast.AST) -> Span:
        """Where ``node`` stands in the author's source."""
        known = self._spans.get(id(node))
        if known is None:
            known = self._spans[id(node)] = (node, self.scope.definition.source.span(node))
        return known[1]

    def text_of(self, front: FrontValue, default: str) -> str:
        """The author's text of a value, shortened; ``default`` when it has none."""
        known = self._texts.get(id(front))
        return default if known is None else self.text(known[1])

    def place_of(self, front: FrontValue) -> Span | None:
        """Where a value was last written in the function that is being lowered."""
        known = self._texts.get(id(front))
        return None if known is None else self.span(known[1])

    def text_of_value(self, value: Value) -> str | None:
        """The author's text of a value or of what it is a cast of, or the name of what it was read from."""
        made = {f.value.id: node for f, node in self._texts.values() if isinstance(f, Tensor)}
        while value.id not in made and isinstance(op := self.builder.defs.get(value.id), Cast):
            value = op.value
        if value.id in made:
            return self.text(made[value.id])
        op = self.builder.defs.get(value.id)
        return op.source.name if isinstance(op, Load) else None

    @staticmethod
    def text(node: ast.expr) -> str:
        """The author's text of an expression, shortened."""
        text = ast.unparse(node)
        return text if len(text) <= 40 else f"{text[:37]}..."

    # -- syntax

    def expression(self, node: ast.expr) -> FrontValue:
        """The value of an expression."""
        handler = self._expressions.get(type(node))
        if handler is None:
            raise self.unsupported(node)
        saved, self.builder.span = self.builder.span, self.span(node)
        try:
            value = handler(self, node)
        finally:
            self.builder.span = saved
        self._texts[id(value)] = (value, node)
        return value

    def block(self, body: Sequence[ast.stmt]) -> None:
        """Lower statements in order."""
        for stmt in body:
            handler = self._statements.get(type(stmt))
            if handler is None:
                raise self.unsupported(stmt)
            self.builder.span = self.span(stmt)
            handler(self, stmt)

    def unsupported(self, node: ast.AST) -> UnsupportedSyntax:
        """The error for Python that the language does not have."""
        construct, fix = _REFUSED.get(
            type(node), (f"'{type(node).__name__}'", "write it with the constructs of the language")
        )
        return UnsupportedSyntax(construct, fix=fix, span=self.span(node))

    def condition(self, front: FrontValue, construct: str) -> bool | Tensor:
        """A condition: a Python bool if it is known now, else a bool scalar. Raises ConditionNotScalar."""
        if isinstance(front, Literal):
            return bool(front.value)
        if front is NONE:
            return False
        tensor = (
            self.builder.data(front, construct) if isinstance(front, Tensor | ViewRef | BufferRef) else None
        )
        if tensor is None or tensor.shape or tensor.dtype.kind != "bool":
            raise ConditionNotScalar(construct, found=front.describe(), span=self.builder.span)
        return tensor

    def condition_value(self, node: ast.expr, construct: str) -> FrontValue:
        """The condition ``node`` as a value: a Literal or a bool scalar."""
        found = self.test(node, construct)
        return Literal(value=found) if isinstance(found, bool) else found

    def test(self, node: ast.expr, construct: str) -> bool | Tensor:
        """The condition ``node``: a Python bool if it is known now, else a bool scalar; errors blame ``node``."""
        front = self.expression(node)
        with self.builder.at(self.span(node)):
            return self.condition(front, construct)

    # -- functions

    def inline(
        self,
        function: Function,
        args: Sequence[FrontValue],
        kwargs: Mapping[str, FrontValue] | None = None,
        span: Span | None = None,
        through: str | None = None,
    ) -> FrontValue:
        """Lower a helper's body at this place and give its result (spec: kernel-and-host 3).

        ``through``: the argument by which an operation that calls the helper passes it more values, for errors.

        Raises Recursion, and what binding and the body raise; the call site joins the error's chain.
        """
        definition = function.definition
        span = span or self.builder.span
        if definition in self.stack:
            cycle = [d.name for d in self.stack[self.stack.index(definition) :]]
            raise Recursion([*cycle, definition.name], span=span)
        bound = definition.bind(args, kwargs or {}, span=span)
        names = {n: self._argument(definition, n, v, span) for n, v in bound.items()}
        saved, sites = self.builder.span, self.sites
        self.sites = (*sites, span)
        try:
            return self.run(definition, names, through)
        except IntentError as error:
            if error.span is not span:
                error.called_from(span)
            raise
        finally:
            self.builder.span, self.sites = saved, sites

    def run(
        self, definition: Definition[...], names: dict[str, FrontValue], through: str | None = None
    ) -> FrontValue:
        """Lower the body of a definition with these names bound; the value of its return, or NONE."""
        outer = getattr(self, "scope", None)
        self.scope = Scope(
            definition=definition,
            names={RESULT: UNSET, **names},
            local=self._locals_of(definition),
            caller=outer.names if outer is not None else {},
            through=through,
        )
        self.stack.append(definition)
        try:
            self.block(self._preparation.body(definition, names))
            for name, value in self.scope.captured.items():
                self.captured[f"{definition.name}.{name}" if outer else name] = value
            found = self.scope.names[RESULT]
            if isinstance(found, Undefined):
                raise found.error(self.builder.span)
            return NONE if found is UNSET else found
        finally:
            self.stack.pop()
            if outer is not None:
                self.scope = outer

    def _locals_of(self, definition: Definition[...]) -> Mapping[str, int]:
        """The names that a body assigns, with the line of the last assignment."""
        found = self._locals.get(definition)
        if found is None:
            statements = assigned(definition.source.tree.body)
            found = self._locals[definition] = {name: s.lineno for name, s in statements.items()}
        return found

    def _argument(self, definition: Definition[...], name: str, value: object, span: Span) -> FrontValue:
        """An argument; a dtype annotation of the helper types a literal."""
        front = value if isinstance(value, FrontValue) else wrap_default(value, name, span)
        annotation = definition.annotation_scope.annotations.get(name)
        if annotation is None:
            return front
        try:
            meaning = definition.annotation_scope.evaluate(annotation)
        except Exception:  # noqa: BLE001 -- annotations of helpers are documentation unless they are dtypes
            return front
        if isinstance(meaning, ConstexprAnnotation) and isinstance(front, Tensor | ViewRef | BufferRef):
            raise NotConstexpr(f"'{name}' of {definition.name}", found=front.describe(), span=span)
        typed = isinstance(meaning, DType) and isinstance(front, Literal)
        return self.builder.typed(front, meaning, name) if typed else front


_HELPER = "define it outside with @intent.fn and call it"
_REFUSED: dict[type[ast.AST], tuple[str, str]] = {
    ast.JoinedStr: ("an f-string", "kernels have no text; remove it"),
    ast.Lambda: ("a lambda", _HELPER),
    ast.FunctionDef: ("a function inside a function", _HELPER),
    ast.AsyncFunctionDef: ("an async function", _HELPER),
    ast.ClassDef: ("a class", "define it outside; I.record(...) makes a product of values"),
    ast.ListComp: ("a comprehension", "loop over a domain, or write one tensor expression"),
    ast.SetComp: ("a comprehension", "loop over a domain, or write one tensor expression"),
    ast.DictComp: ("a comprehension", "loop over a domain, or write one tensor expression"),
    ast.GeneratorExp: ("a generator", "loop over a domain, or write one tensor expression"),
    ast.List: ("a list", "write a tuple (a, b), or I.buffer(...) for mutable storage"),
    ast.Dict: ("a dict", "write I.record(name=value)"),
    ast.Set: ("a set", "write a tuple"),
    ast.NamedExpr: ("':='", "assign in a statement of its own"),
    ast.Starred: ("'*'", "write the items out"),
    ast.Await: ("'await'", "kernels run as a whole; remove it"),
    ast.Yield: ("'yield'", "write results to I.Out views"),
    ast.With: ("'with'", "remove it; the language has no context managers"),
    ast.Try: ("'try'", "check conditions with if, or on the host"),
    ast.Raise: ("'raise'", "check arguments on the host"),
    ast.Import: ("an import", "import outside of the kernel"),
    ast.ImportFrom: ("an import", "import outside of the kernel"),
    ast.Global: ("'global'", "pass values as parameters and results"),
    ast.Nonlocal: ("'nonlocal'", "pass values as parameters and results"),
    ast.Delete: ("'del'", "remove it; values need no release"),
    ast.Match: ("'match'", "write if and elif"),
}
