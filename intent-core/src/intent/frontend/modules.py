"""What a kernel may name of a module: helpers and constants of the author's, and a few numbers of libraries."""

from __future__ import annotations

import ast
import enum
import math
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Final

from intent import language
from intent.diagnostics import TargetQuery, UnknownAttribute
from intent.frontend.array_habits import LIBRARIES, refuse_function
from intent.frontend.scope import wrap
from intent.frontend.values import FrontValue, Literal, PyConst
from intent.language import FnDefinition, Intrinsic, KernelDefinition, Namespace
from intent.types import DType

if TYPE_CHECKING:
    from intent.frontend.lowering import Lowering

__all__ = ["module_attribute"]

_OURS: Final = (FnDefinition, Intrinsic, KernelDefinition, Namespace, DType)
"""What means the same in whatever module it is found."""
_HOST: Final = frozenset({*sys.stdlib_module_names, *LIBRARIES, "intent"})
"""Modules that are no author's: what they hold are questions about the host, functions, and a few numbers."""


def module_attribute(lowering: Lowering, module: ModuleType, node: ast.Attribute) -> FrontValue:
    """``module.name``: a helper, a constant or a module of the author's, or a number such as ``math.pi``.

    Raises:
        UnsupportedSyntax: a function of the host, with what to write instead.
        TargetQuery: anything else of a module that is not the author's.
        UnknownAttribute: a module of the author's has no such name.
        MutableCapture: it has one, which can change.
    """
    text, span, name = lowering.text(node), lowering.builder.span, node.attr
    missing = object()
    value = getattr(module, name, missing)
    if isinstance(value, _OURS) or value is language or _is_enum_of_ours(value):
        return PyConst(value=value) if value is language else wrap(value, text, span)
    if module.__name__.partition(".")[0] in _HOST:
        if isinstance(value, float):
            return Literal(value=value)
        if module is math and callable(value):
            return PyConst(value=value)
        refuse_function(module, name, text, span)
        raise TargetQuery(text, span=span)
    if value is missing:
        known = tuple(n for n in vars(module) if not n.startswith("_"))
        raise UnknownAttribute(ast.unparse(node.value), "a module", name, known, span=span)
    if isinstance(value, bool | int | float | str | enum.Enum):
        lowering.scope.captured[text] = value
    return wrap(value, text, span)


def _is_enum_of_ours(value: object) -> bool:
    return isinstance(value, language.Enum) or (isinstance(value, type) and issubclass(value, language.Enum))
