"""Reading the text of a logical kernel back; the grammar is described in :mod:`intent.kir.text`."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from json import loads
from typing import Any, Final, TypeVar

from intent.diagnostics import TextError
from intent.kir import control, effects, ops
from intent.kir.kernel import Kernel
from intent.kir.ops import Op
from intent.kir.roles import roles
from intent.kir.text import operation_name
from intent.kir.value import (
    Assumption,
    BranchTest,
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
from intent.types import DType, Extent
from intent.types.dtypes import BY_NAME
from intent.types.extent import Call, as_extent, dyn, scalar, symbol

__all__ = ["parse_extent", "parse_kernel"]

_T = TypeVar("_T")
_TOKEN: Final = re.compile(
    r"""(?P<space>\s+)
      | (?P<string>"(?:[^"\\]|\\.)*")
      | (?P<number>-?(?:\d+\.\d*(?:e[+-]?\d+)?|\d+e[+-]?\d+|\d+|inf\b))
      | (?P<word>[A-Za-z_][A-Za-z0-9_]*)
      | (?P<mark>[%#^@!$:=,()\[\]{}<>*+-])""",
    re.VERBOSE,
)
_LITERALS: Final[dict[str, object]] = {
    "None": None, "True": True, "False": False, "nan": math.nan, "inf": math.inf,
}  # fmt: skip
_OPERATIONS: Final[dict[str, type[Op]]] = {
    operation_name(node): node
    for module in (ops, effects, control)
    for node in vars(module).values()
    if isinstance(node, type) and issubclass(node, Op) and node is not Op
}


def parse_kernel(text: str) -> Kernel:
    """The kernel whose text this is. Raises TextError."""
    return _Parser(text).kernel()


def parse_extent(text: str) -> Extent:
    """The extent that ``str`` wrote. Raises TextError."""
    parser = _Parser(text)
    extent = parser.extent()
    if parser.left:
        raise _unreadable(1, "the end of an extent", parser.left)
    return extent


class _Parser:
    def __init__(self, text: str) -> None:
        self._tokens = _tokenize(text)
        self._at = 0
        self._values: dict[int, Value] = {}
        self._views: dict[str, View] = {}
        self._buffers: dict[int, Buffer] = {}

    # Tokens.

    def _peek(self, ahead: int = 0) -> str:
        at = self._at + ahead
        return self._tokens[at][0] if at < len(self._tokens) else ""

    def _next(self) -> str:
        token = self._peek()
        self._at += 1
        return token

    def _fail(self, expected: str) -> TextError:
        line = self._tokens[min(self._at, len(self._tokens) - 1)][1] if self._tokens else 1
        return _unreadable(line, expected, self._peek())

    def _accept(self, token: str) -> bool:
        if self._peek() != token:
            return False
        self._at += 1
        return True

    def _expect(self, token: str) -> None:
        if not self._accept(token):
            raise self._fail(f"'{token}'")

    def _word(self) -> str:
        token = self._peek()
        if token.startswith('"'):
            self._at += 1
            return str(loads(token))
        if not re.match(r"[A-Za-z_]", token):
            raise self._fail("a name")
        return self._next()

    def _integer(self) -> int:
        try:
            value = int(self._peek())
        except ValueError:
            raise self._fail("an integer") from None
        self._at += 1
        return value

    def _listed(self, opening: str, closing: str, item: Callable[[], _T]) -> tuple[_T, ...]:
        self._expect(opening)
        found: list[_T] = []
        while not self._accept(closing):
            if found:
                self._expect(",")
            found.append(item())
        return tuple(found)

    # The kernel and its header.

    def kernel(self) -> Kernel:
        self._expect("kernel")
        name = self._word()
        rows: dict[str, list[Any]] = {
            kind: [] for kind in ("parameter", "domain", "condition", "assume", "constexpr")
        }
        readers: dict[str, tuple[str, Callable[[], object]]] = {
            "view": ("parameter", self._view),
            "scalar": ("parameter", self._scalar),
            "buffer": ("", self._buffer),
            "domain": ("domain", self._domain),
            "condition": ("condition", self._condition),
            "assume": ("assume", self._assumption),
            "constexpr": ("constexpr", self._constexpr),
        }
        while not self._accept("body"):
            if self._peek() not in readers:
                raise self._fail("'body' or a line of the header")
            group, read = readers[self._next()]
            row = read()
            if group:
                rows[group].append(row)
        body = self._region()
        if self._peek():
            raise self._fail("the end")
        return Kernel(
            name=KernelID(name),
            params=tuple(rows["parameter"]),
            body=body,
            domains=tuple(rows["domain"]),
            conditions=tuple(rows["condition"]),
            assumptions=tuple(rows["assume"]),
            constexprs=tuple(rows["constexpr"]),
        )

    def _view(self) -> View:
        name = self._word()
        self._expect(":")
        dtype, shape = self._type()
        mode: Any = self._word()
        strides: Any = None
        if self._accept("strides"):
            self._expect("=")
            strides = self._attribute()
        alias = None
        if self._accept("alias"):
            self._expect("=")
            alias = self._word()
        noalias = self._accept("noalias")
        coincident = self._accept("coincident")
        view = View(
            name=name,
            dtype=dtype,
            shape=shape,
            mode=mode,
            strides=strides,
            alias=alias,
            noalias=noalias,
            coincident=coincident,
        )
        self._views[name] = view
        return view

    def _scalar(self) -> ScalarParam:
        name = self._word()
        self._expect(":")
        return ScalarParam(name=name, value=self._definition())

    def _buffer(self) -> Buffer:
        self._expect("!")
        number = self._integer()
        name = self._word()
        self._expect(":")
        dtype, shape = self._type()
        self._buffers[number] = Buffer(id=number, name=name, dtype=dtype, shape=shape)
        return self._buffers[number]

    def _domain(self) -> DomainInfo:
        number = DomainID(self._integer())
        name = self._word()
        parent: DomainID | None = None
        extent: Extent | None = None
        if self._accept("parent"):
            self._expect("=")
            parent = DomainID(self._integer())
        if self._accept("extent"):
            self._expect("=")
            extent = self._quoted_extent()
        begin: Extent | None = None
        end: Extent | None = None
        if self._accept("begin"):
            self._expect("=")
            begin = self._quoted_extent()
            for mark in ("end", "="):
                self._expect(mark)
            end = self._quoted_extent()
        return DomainInfo(id=number, name=name, parent=parent, extent=extent, begin=begin, end=end)

    def _condition(self) -> Condition:
        kind: Any = self._word()
        lhs, rhs, reason = self._quoted_extent(), self._quoted_extent(), self._word()
        when = []
        while self._accept("when"):
            test: Any = self._word()
            when.append(BranchTest(kind=test, lhs=self._quoted_extent(), rhs=self._quoted_extent()))
        return Condition(kind=kind, lhs=lhs, rhs=rhs, reason=reason, when=tuple(when))

    def _assumption(self) -> Assumption:
        kind: Any = self._word()
        return Assumption(kind=kind, detail=self._word())

    def _constexpr(self) -> tuple[str, str]:
        return self._word(), self._word()

    # Regions and operations.

    def _region(self) -> Region:
        self._expect("^")
        number = RegionID(self._integer())
        arguments = self._listed("(", ")", self._definition)
        self._expect("{")
        body: list[Op] = []
        yields: list[Value] = []
        while not self._accept("}"):
            if self._accept("yield"):
                yields.append(self._use())
                while self._accept(","):
                    yields.append(self._use())
            else:
                body.append(self._operation())
        return Region(id=number, args=arguments, ops=tuple(body), yields=tuple(yields))

    def _operation(self) -> Op:
        results: list[Value] = []
        if self._peek() == "%":
            results.append(self._definition())
            while self._accept(","):
                results.append(self._definition())
            self._expect("=")
        node = _OPERATIONS.get(self._peek())
        if node is None:
            raise self._fail("an operation")
        self._next()
        self._expect("#")
        number = self._integer()
        role_of = {field.name: role for field, role in roles(node)}
        given: dict[str, Any] = {}
        while self._peek() in role_of and self._peek(1) == "=":
            field = self._next()
            self._expect("=")
            given[field] = self._field(role_of[field])
        return node(id=OpID(number), results=tuple(results), **given)

    def _field(self, role: str) -> Any:
        if role != "attribute" and self._accept("None"):
            return None
        match role:
            case "operand":
                return self._use()
            case "operands":
                return self._listed("(", ")", self._use)
            case "relation":
                pairs = self._listed("[", "]", lambda: (self._use(), self._listed("(", ")", self._integer)))
                return Relation(coordinates=tuple(c for c, _ in pairs), axes=tuple(a for _, a in pairs))
            case "resource":
                return self._resource()
            case "region":
                return self._region()
        return self._attribute()

    def _resource(self) -> Resource:
        if self._accept("@"):
            found: Resource | None = self._views.get(self._word())
        else:
            self._expect("!")
            found = self._buffers.get(self._integer())
        if found is None:
            raise self._fail("a resource of the header")
        return found

    def _value_name(self) -> tuple[int, str]:
        self._expect("%")
        number = self._integer()
        return number, self._word() if self._accept(":") else ""

    def _use(self) -> Value:
        number, _ = self._value_name()
        if number not in self._values:
            raise self._fail(f"a value defined above, not %{number},")
        return self._values[number]

    def _definition(self) -> Value:
        number, name = self._value_name()
        dtype, shape = self._type()
        value = Value(id=ValueID(number), dtype=dtype, shape=shape, name=name)
        self._values[number] = value
        return value

    def _type(self) -> tuple[DType, tuple[Extent, ...]]:
        dtype = BY_NAME.get(self._peek())
        if dtype is None:
            raise self._fail("a dtype")
        self._next()
        shape = self._listed("[", "]", self.extent) if self._peek() == "[" else ()
        return dtype, shape

    # Attributes and extents.

    def _attribute(self) -> Any:
        token = self._peek()
        if token == "(":
            return self._listed("(", ")", self._attribute)
        if token == "<":
            return self._quoted_extent()
        if token in _LITERALS:
            return _LITERALS[self._next()]
        if re.match(r"-?(\d|inf$)", token):
            self._next()
            return int(token) if re.fullmatch(r"-?\d+", token) else float(token)
        return self._word()

    @property
    def left(self) -> str:
        """The next token; empty at the end."""
        return self._peek()

    def _quoted_extent(self) -> Extent:
        self._expect("<")
        extent = self.extent()
        self._expect(">")
        return extent

    def extent(self) -> Extent:
        """A sum of products."""
        negative = self._accept("-")
        total = self._product()
        total = -total if negative else total
        while self._peek() in ("+", "-"):
            total = total + self._product() if self._next() == "+" else total - self._product()
        return total

    def _product(self) -> Extent:
        product = self._atom()
        while self._accept("*"):
            product = product * self._atom()
        return product

    def _atom(self) -> Extent:
        if self._accept("$"):
            return scalar(self._word())
        if self._accept("%"):
            return dyn(self._integer())
        if re.match(r"-?\d", self._peek()):
            return as_extent(self._integer())
        name = self._word()
        if self._peek() != "(":
            return symbol(name)
        return Extent((((Call(name, self._listed("(", ")", self.extent)),), 1),))


def _tokenize(text: str) -> list[tuple[str, int]]:
    found: list[tuple[str, int]] = []
    at, line = 0, 1
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _unreadable(line, "a token", text[at])
        if match.lastgroup != "space":
            found.append((match.group(), line))
        line += match.group().count("\n")
        at = match.end()
    return found


def _unreadable(line: int, expected: str, found: str) -> TextError:
    return TextError(f"line {line} of the kernel's text cannot be read", expected=expected, found=repr(found))
