"""The typed parameters of a kernel, read from its annotations (spec: kernel-and-host 1, 4)."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from dataclasses import dataclass
from inspect import Parameter
from typing import TYPE_CHECKING, Any, Final, Literal

from intent.diagnostics import (
    AnnotationError,
    ConstexprMissing,
    ConstexprUnknown,
    IntentError,
    NotADefinition,
)
from intent.language.annotations import ConstexprAnnotation, Constraints, Mode, ViewAnnotation
from intent.language.constexprs import check_constexpr, check_constexpr_type
from intent.language.views import check_view
from intent.types import DType, Span

if TYPE_CHECKING:
    from intent.language.definitions import KernelDefinition

__all__ = ["MISSING", "KernelSignature", "Param", "resolve_signature"]


class _Missing:
    def __repr__(self) -> str:
        return "MISSING"


MISSING: Final = _Missing()
"""The default of a parameter that has none."""


@dataclass(frozen=True, kw_only=True)
class Param:
    """One parameter.

    A view has ``mode``, ``dtype``, ``shape`` (ints and symbols) and ``constraints``; a scalar has
    ``dtype``; a constexpr has ``constexpr_type`` and perhaps ``default``.
    """

    name: str
    kind: Literal["view", "scalar", "constexpr"]
    mode: Mode | None = None
    dtype: DType | None = None
    shape: tuple[int | str, ...] | None = None
    constraints: Constraints | None = None
    constexpr_type: type[Any] | None = None
    default: Any = MISSING
    span: Span | None = None

    @property
    def writable(self) -> bool:
        """Whether the kernel may write through this view."""
        return self.mode in ("out", "inout")


@dataclass(frozen=True, kw_only=True)
class KernelSignature:
    """The parameters of one kernel in the author's order."""

    name: str
    params: tuple[Param, ...]
    span: Span | None = None

    def __getitem__(self, name: str) -> Param:
        return {param.name: param for param in self.params}[name]

    @property
    def views(self) -> tuple[Param, ...]:
        return tuple(p for p in self.params if p.kind == "view")

    @property
    def scalars(self) -> tuple[Param, ...]:
        return tuple(p for p in self.params if p.kind == "scalar")

    @property
    def constexprs(self) -> tuple[Param, ...]:
        return tuple(p for p in self.params if p.kind == "constexpr")

    @property
    def runtime(self) -> tuple[Param, ...]:
        """Views and scalars: what every call passes."""
        return tuple(p for p in self.params if p.kind != "constexpr")

    @property
    def outs(self) -> tuple[Param, ...]:
        """The Out views: what ``.run`` allocates and returns."""
        return tuple(p for p in self.params if p.mode == "out")

    @property
    def symbols(self) -> tuple[str, ...]:
        """Extent and stride symbols in order of appearance."""
        found: dict[str, None] = {}
        for param in self.views:
            strides = (param.constraints.strides if param.constraints else None) or ()
            found.update((s, None) for s in (*(param.shape or ()), *strides) if isinstance(s, str))
        return tuple(found)

    def bind_constexprs(self, given: Mapping[str, Any] | None) -> dict[str, Any]:
        """The value of every constexpr: the given one, else its default.

        Raises:
            ConstexprUnknown, ConstexprMissing, ConstexprWrongType.
        """
        given = given or {}
        known = [p.name for p in self.constexprs]
        for name in given:
            if name not in known:
                raise ConstexprUnknown(self.name, name, known, span=self.span)
        values = {p.name: given.get(p.name, p.default) for p in self.constexprs}
        missing = [name for name, value in values.items() if value is MISSING]
        if missing:
            raise ConstexprMissing(self.name, missing, span=self.span)
        return {
            p.name: check_constexpr(p.name, p.constexpr_type, values[p.name], p.span) for p in self.constexprs
        }


def resolve_signature(definition: KernelDefinition[...]) -> KernelSignature:
    """Evaluate and check the annotations of a kernel.

    Raises:
        AnnotationError: an annotation is missing or malformed; it points at the annotation.
        NotADefinition: ``definition`` is not a kernel.
    """
    if getattr(definition, "decorator", None) != "kernel":
        raise NotADefinition("a kernel", definition, fix="decorate the function with @intent.kernel")
    tree = definition.source.tree
    nodes = {a.arg: a for a in (*tree.args.posonlyargs, *tree.args.args, *tree.args.kwonlyargs)}
    params: list[Param] = []
    for name, parameter in definition.python_signature.parameters.items():
        if parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD):
            stars = "*" if parameter.kind is Parameter.VAR_POSITIONAL else "**"
            raise AnnotationError(
                name,
                f"a kernel cannot take {stars}{name}",
                fix="name every parameter",
                span=definition.source.definition_span,
            )
        node = nodes[name]
        span = definition.source.span(node.annotation or node)
        params.append(_param(definition, name, parameter, node, span))
    _check_return(definition, tree)
    return KernelSignature(name=definition.name, params=tuple(params), span=definition.source.definition_span)


def _param(
    definition: KernelDefinition[...], name: str, parameter: Parameter, node: ast.arg, span: Span
) -> Param:
    if node.annotation is None:
        raise AnnotationError(name, "it has no annotation", span=span)
    annotation = _evaluate(definition, name, node.annotation, span)
    default = MISSING if parameter.default is Parameter.empty else parameter.default
    if isinstance(annotation, ConstexprAnnotation):
        type_ = check_constexpr_type(name, annotation.type, span)
        if default is not MISSING:
            default = check_constexpr(name, type_, default, span)
        return Param(name=name, kind="constexpr", constexpr_type=type_, default=default, span=span)
    if default is not MISSING:
        raise AnnotationError(
            name,
            "a run-time parameter cannot have a default",
            fix="remove the default and pass the value at every call, or make the parameter an I.Constexpr",
            span=span,
        )
    if isinstance(annotation, DType):
        return Param(name=name, kind="scalar", dtype=annotation, span=span)
    if isinstance(annotation, ViewAnnotation):
        dtype, shape, constraints = check_view(name, annotation, span)
        return Param(
            name=name,
            kind="view",
            mode=annotation.mode,
            dtype=dtype,
            shape=shape,
            constraints=constraints,
            span=span,
        )
    raise AnnotationError(
        name, *_not_an_annotation(annotation), span=span, found=ast.unparse(node.annotation)
    )


def _not_an_annotation(annotation: object) -> tuple[str]:
    """What is wrong with an object that is none of the forms."""
    name = getattr(annotation, "__name__", None)
    if name in ("In", "Out", "InOut"):
        return (f"I.{name} needs a dtype and a shape",)
    if name == "Constexpr":
        return ("I.Constexpr needs a type, for example I.Constexpr[int]",)
    if annotation in (int, float, bool):
        return (f"'{name}' is a Python type; run-time scalars have dtypes such as I.i32, I.f32, I.bool",)
    return ("this is not an annotation of the language",)


def _evaluate(definition: KernelDefinition[...], name: str, node: ast.expr, span: Span) -> Any:
    scope = definition.annotation_scope
    try:
        return scope.evaluate(scope.annotations.get(name, ast.unparse(node)))
    except IntentError as error:
        raise error.at(span)  # noqa: B904 -- the same error, now with a place
    except Exception as error:  # noqa: BLE001 -- the author's expression may raise anything
        raise AnnotationError(
            name,
            f"its annotation cannot be evaluated: {error}",
            found=ast.unparse(node),
            fix="define the names that the annotation uses before the kernel",
            span=span,
        ) from None


def _check_return(definition: KernelDefinition[...], tree: ast.FunctionDef) -> None:
    returns = tree.returns
    if returns is not None and not (isinstance(returns, ast.Constant) and returns.value in (None, "None")):
        raise AnnotationError(
            "return",
            "a kernel returns nothing",
            found=ast.unparse(returns),
            fix="write results to I.Out parameters and remove the return annotation",
            span=definition.source.span(returns),
        )
