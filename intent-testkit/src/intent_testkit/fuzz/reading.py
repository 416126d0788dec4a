"""A kernel that a person wrote, as a program of the fuzzer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intent_testkit.fuzz.judge import IMPORTS, define
from intent_testkit.fuzz.kinds import Draw, Extents, Param, Program


def read(
    source: str,
    *extents: Extents,
    draws: Mapping[str, tuple[Draw, str]] | None = None,
    scalars: Mapping[str, int] | None = None,
) -> Program:
    """The program of a module's text whose last definition is the kernel.

    ``draws``: how views that hold indices are filled, with the bound; ``scalars``: values of run-time scalars
    (2 where not given).
    """
    text = IMPORTS + source
    name = text[text.rindex("@intent.kernel") :].split("def ", 1)[1].split("(", 1)[0]
    found = []
    for param in define(text, name).signature.params:
        if param.kind not in {"view", "scalar"}:
            raise ValueError(f"'{param.name}' is neither a view nor a run-time scalar")
        dtype: Any = param.dtype
        if param.kind == "scalar":
            value = (scalars or {}).get(param.name, 2)
            found.append(Param(name=param.name, dtype=dtype.name, role="scalar", value=value))
            continue
        draw, limit = (draws or {}).get(param.name, ("small", "1"))
        shape = tuple(str(axis) for axis in param.shape)
        found.append(
            Param(name=param.name, dtype=dtype.name, shape=shape, role=param.mode, draw=draw, limit=limit)
        )
    return Program(seed=-1, source=text, params=tuple(found), extents=tuple(extents), name=name)
