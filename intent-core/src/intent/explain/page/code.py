"""The author's lines, what a program does, and the emitted source, side by side and linked by the author's lines."""

from __future__ import annotations

from collections.abc import Iterator

from intent.explain.page.highlight import highlighted
from intent.explain.page.markup import Html, join, tag
from intent.explain.report import Emitted, Operation, Report

__all__ = ["code"]

_MARKS = {
    "read": "R", "write": "W", "atomic": "A", "loop": "↻", "while": "↻", "if": "?", "else": "?", "reduce": "Σ",
    "scan": "⇢", "contract": "×", "histogram": "▥", "buffer": "▤", "fence": "‖", "compute": "ƒ", "carry": "→",
}  # fmt: skip


def code(report: Report) -> Html:
    """The section with three panes."""
    return tag(
        "section",
        tag("h2", "From your lines to the GPU's"),
        tag("p", "Point at a line to see what comes of it, click to keep it.", class_="note"),
        tag(
            "div",
            _pane("Your source", join(_author(report)) or _note("The source is not known."), "author"),
            _pane("One program", join(_programs(report)), "program"),
            _pane(f"Emitted for {report.provider}", _emitted(report.emitted), "emitted"),
            class_="panes",
        ),
        id="code",
    )


def _pane(title: str, body: Html, name: str) -> Html:
    return tag("div", tag("h3", title), tag("div", body, class_="lines", tabindex=0), class_=f"pane {name}")


def _note(text: str) -> Html:
    return tag("p", text, class_="note")


def _author(report: Report) -> Iterator[Html]:
    before: tuple[str, int] | None = None
    margin = {line.file: _margin(report, line.file) for line in report.lines}
    for line in report.lines:
        if before is not None and before != (line.file, line.line - 1):
            yield tag("div", "⋯", class_="gap")
        before = line.file, line.line
        yield tag(
            "div",
            tag("b", line.line),
            tag("code", highlighted(line.text[margin[line.file] :]) or " "),
            class_="line" if line.used else "line idle",
            data_k=line.key if line.used else None,
        )


def _margin(report: Report, file: str) -> int:
    """Blanks in front of every line of the file: of functions defined inside others."""
    texts = [line.text for line in report.lines if line.file == file and line.text.strip()]
    return min((len(text) - len(text.lstrip()) for text in texts), default=0)


def _programs(report: Report) -> Iterator[Html]:
    for segment in report.segments:
        if len(report.segments) > 1:
            yield tag("div", f"group {segment.group}", class_="gap")
        for operation in segment.operations:
            yield _operation(operation)


def _operation(operation: Operation) -> Html:
    key = None if operation.place is None else operation.place.key
    return tag(
        "div",
        tag("b", _MARKS[operation.kind], class_=f"mark {operation.kind}", title=operation.kind),
        tag("code", _text(operation), style=f"padding-left:{operation.depth * 1.2:.1f}em"),
        class_="line op",
        data_k=key,
    )


def _text(operation: Operation) -> Html:
    """The line; of a write also what it writes."""
    value = None if operation.value is None else tag("i", f" ← {operation.value}")
    return join([operation.text, value])


def _emitted(emitted: Emitted) -> Html:
    if emitted.refusal is not None:
        return _note(emitted.refusal)
    lines = []
    for number, line in enumerate(emitted.lines, 1):
        keys = " ".join(map(str, line.lines)) or None
        lines.append(
            tag(
                "div",
                tag("b", number),
                tag("code", highlighted(line.text, emitted.language) or " "),
                class_="line",
                data_k=keys,
            )
        )
    return join(lines)
