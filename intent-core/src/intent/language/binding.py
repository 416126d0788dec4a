"""Binding of call arguments to parameters, with errors of the language instead of Python's TypeError.

The front end binds syntax, not values: an argument may be any object, an AST node included.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from inspect import Parameter, Signature
from typing import Any

from intent.diagnostics import MissingArgument, RepeatedArgument, TooManyArguments, UnknownKeyword, Where
from intent.types import Span

__all__ = ["bind", "signature_text"]

_POSITIONAL = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
_KEYWORD = (Parameter.KEYWORD_ONLY, Parameter.POSITIONAL_OR_KEYWORD)


def bind(
    callee: str,
    signature: Signature,
    args: Sequence[Any],
    kwargs: Mapping[str, Any],
    *,
    aliases: Mapping[str, str] | None = None,
    span: Span | None = None,
    chain: Iterable[Span] = (),
) -> dict[str, Any]:
    """Arguments by parameter name in the order of the signature, defaults filled in.

    ``**name`` parameters get a dict of the keywords that no other parameter takes.

    Raises:
        MissingArgument, TooManyArguments, UnknownKeyword, RepeatedArgument: at ``span``.
    """
    where: Where = {"span": span, "chain": tuple(chain)}
    parameters = signature.parameters
    positional = [name for name, p in parameters.items() if p.kind in _POSITIONAL]
    if len(args) > len(positional):
        text = signature_text(callee, signature)
        raise TooManyArguments(callee, given=len(args), accepted=len(positional), signature=text, **where)
    given = dict(zip(positional, args, strict=False))
    extra: dict[str, Any] = {}
    for keyword, value in kwargs.items():
        name = (aliases or {}).get(keyword, keyword)
        if name in given:
            raise RepeatedArgument(callee, name, spelling=keyword, **where)
        if name in parameters and parameters[name].kind in _KEYWORD:
            given[name] = value
        else:
            extra[keyword] = value
    text = signature_text(callee, signature)
    takes_any = any(p.kind is Parameter.VAR_KEYWORD for p in parameters.values())
    if extra and not takes_any:
        accepted = [*parameters, *(aliases or {})]
        raise UnknownKeyword(callee, next(iter(extra)), accepted=accepted, signature=text, **where)
    bound, missing = _complete(signature, given, extra)
    if missing:
        raise MissingArgument(callee, missing, signature=text, **where)
    return bound


def _complete(
    signature: Signature, given: Mapping[str, Any], extra: dict[str, Any]
) -> tuple[dict[str, Any], list[str]]:
    """Every parameter's argument or default, and the names of those that have neither."""
    bound: dict[str, Any] = {}
    missing: list[str] = []
    for name, parameter in signature.parameters.items():
        if parameter.kind is Parameter.VAR_KEYWORD:
            bound[name] = extra
        elif name in given:
            bound[name] = given[name]
        elif parameter.default is not Parameter.empty:
            bound[name] = parameter.default
        elif parameter.kind is not Parameter.VAR_POSITIONAL:
            missing.append(name)
    return bound, missing


def signature_text(callee: str, signature: Signature) -> str:
    """The call as an author writes it: parameter names and defaults, no types."""
    plain = [p.replace(annotation=Parameter.empty) for p in signature.parameters.values()]
    return f"{callee}{Signature(plain)}"
