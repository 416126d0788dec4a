"""Running a kernel's text as Python."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from types import CodeType, FrameType, SimpleNamespace
from typing import Any, Final

import numpy as np

from intent_testkit.fuzz.eager import structured, values
from intent_testkit.fuzz.eager.memory import POINTS, Invalid, View

FILE: Final = "<eager>"
LINES: Final = 200_000


class _Annotation:
    """Stands for ``I.In`` and its like in annotations, which mean nothing here."""

    def __getitem__(self, _: Any) -> None:
        return None


LANGUAGE = SimpleNamespace(
    **values.NAMES,
    **structured.NAMES,
    In=_Annotation(),
    Out=_Annotation(),
    InOut=_Annotation(),
    buffer=None,
    constraints=dict,
)


def _buffer(shape: Any, dtype: Any, init: Any = None) -> View:
    known = init is not None
    return View(np.array(np.broadcast_to(np.asarray(init if known else 0, dtype), shape)), known=known)


LANGUAGE.buffer = _buffer
INTENT = SimpleNamespace(kernel=lambda function: function, fn=lambda function: function)


def run_eagerly(code: CodeType, name: str, arguments: Mapping[str, Any], outs: frozenset[str]) -> None:
    """Run the function ``name`` of ``code`` on numpy arrays (written in place) and numpy scalars.

    ``code`` is the kernel's module without its imports; ``outs`` names the views that hold nothing yet.

    Raises:
        Invalid: The program does what the language forbids; Conflict: its parallel points do.
    """
    POINTS.begin()
    namespace: dict[str, Any] = {"I": LANGUAGE, "intent": INTENT, "__name__": "fuzzed"}
    exec(code, namespace)  # noqa: S102 -- the text is the fuzzer's own
    given = {
        key: View(value, known=key not in outs) if isinstance(value, np.ndarray) else value
        for key, value in arguments.items()
    }
    with np.errstate(all="ignore"), _bounded():
        namespace[name](**given)


@contextmanager
def _bounded() -> Iterator[None]:
    """Raise Invalid in programs that do not end soon (shrinking makes such loops)."""
    left = LINES

    def count(frame: FrameType, event: str, _: Any) -> Any:
        nonlocal left
        if frame.f_code.co_filename != FILE:
            return None
        left -= event == "line"
        if left < 0:
            raise Invalid("the program does not end")
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        yield
    finally:
        sys.settrace(before)
