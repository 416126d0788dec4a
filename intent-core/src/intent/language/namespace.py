"""Evaluating annotations that are text, as ``from __future__ import annotations`` makes them."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import FrameType
from typing import Any

__all__ = ["AnnotationScope"]


class AnnotationScope:
    """The names that a function's annotations may use.

    Python drops the local variables of an enclosing function that only annotations mention. They are taken
    from the frame that decorates, and only those names, so that nothing else is kept alive.
    """

    def __init__(self, function: Callable[..., Any], frame: FrameType | None) -> None:
        self._globals = function.__globals__
        try:
            self.annotations: dict[str, Any] = dict(function.__annotations__)
        except NameError:  # Python 3.14 evaluates late; a name may not exist yet
            self.annotations = {}
        self._locals: dict[str, Any] = {}
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self._cells = dict(cells)
        if frame is not None and frame.f_locals is not frame.f_globals:
            texts = [text for text in self.annotations.values() if isinstance(text, str)]
            self._locals = {n: frame.f_locals[n] for t in texts for n in _names(t) if n in frame.f_locals}

    def evaluate(self, annotation: Any) -> Any:
        """The value of an annotation; text is evaluated (twice if it was quoted as well).

        Raises whatever the author's expression raises.
        """
        for _ in range(2):
            if not isinstance(annotation, str):
                break
            scope = {**self._cell_values(), **self._locals}
            annotation = eval(annotation, self._globals, scope)  # noqa: S307 -- the author's own code
        return annotation

    def _cell_values(self) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, cell in self._cells.items():
            try:
                values[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        return values


def _names(text: str) -> list[str]:
    try:
        tree = ast.parse(text, mode="eval")
    except SyntaxError:
        return []
    if isinstance(tree.body, ast.Constant) and isinstance(tree.body.value, str):  # quoted as well
        return _names(tree.body.value)
    return [node.id for node in ast.walk(tree) if isinstance(node, ast.Name)]
