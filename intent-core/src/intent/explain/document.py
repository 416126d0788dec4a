"""The report as plain data for JSON, and the JSON Schema of that data."""

from __future__ import annotations

import json
import types
from dataclasses import asdict, fields, is_dataclass
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

from intent.explain.report import VERSION, Report

__all__ = ["document", "schema"]

_PLAIN: Final = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null"}


def document(report: Report) -> str:
    """JSON text; its shape is :func:`schema`."""
    return json.dumps(asdict(report), indent=1, ensure_ascii=False) + "\n"


def schema() -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of the document, made from the classes of the report.

    Objects may have other properties: later versions add some.
    """
    definitions: dict[str, Any] = {}
    root = _reference(Report, definitions)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Intent explain report, version {VERSION}",
        **root,
        "$defs": dict(sorted(definitions.items())),
    }


def _reference(node: type, definitions: dict[str, Any]) -> dict[str, Any]:
    name = node.__name__
    if name not in definitions:
        definitions[name] = {}
        hints = get_type_hints(node)
        names = [f.name for f in fields(node)]
        definitions[name] = {
            "description": " ".join((node.__doc__ or "").split()),
            "type": "object",
            "properties": {n: _type(hints[n], definitions) for n in names},
            "required": names,
        }
    return {"$ref": f"#/$defs/{name}"}


def _type(hint: Any, definitions: dict[str, Any]) -> dict[str, Any]:
    if isinstance(hint, type) and is_dataclass(hint):
        return _reference(hint, definitions)
    origin, arguments = get_origin(hint), get_args(hint)
    if origin is Literal:
        return {"enum": list(arguments)}
    if origin is tuple:
        return {"type": "array", "items": _type(arguments[0], definitions)}
    if origin in (Union, types.UnionType):
        return {"anyOf": [_type(a, definitions) for a in arguments]}
    return {"type": _PLAIN[hint]}
