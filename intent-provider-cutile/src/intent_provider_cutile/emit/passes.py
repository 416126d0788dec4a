"""Passes over rows whose ends are the same numbers for every pass: only those that have rows, without a condition."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from intent.physical import Loop
from intent.provider.emission import Width
from intent.provider.emission.python import Prec, Value
from intent.types import Span
from intent_provider_cutile.emit.literals import INDEX_TYPES
from intent_provider_cutile.emit.row_ends import Ends, Sum
from intent_provider_cutile.emit.runs import Run

if TYPE_CHECKING:
    from intent_provider_cutile.emit.body import Body


@dataclass(frozen=True, kw_only=True)
class Rows:
    """The names of 64-bit scalars, empty where there is none: the row of lane 0 at loop index 0, and the ends."""

    shift: str
    low: str
    high: str


def bounds(body: Body, op: Loop, run: Run, ends: Ends) -> list[Value]:
    """The bounds of the loop without the passes that have no rows.

    It begins a whole number of passes later, never behind the end, and ends no later. Where there are no rows at all,
    it ends where it begins.
    """
    begin, end, step = body.loop_bounds_of(op)
    rows = body.context.rows[id(run.region)] = _named(body, ends, op.span)
    size, less = run.dim.size, f" - {rows.shift}" if rows.shift else ""
    start = _name(body, "begin", body.widen(begin, Width.LONG).text, op.span)
    stop = body.widen(end, Width.LONG).text
    if rows.high:
        stop = f"ct.minimum({rows.high}{less}, {stop})"
        stop = f"ct.where({rows.low} < {rows.high}, {stop}, {start})" if rows.low else stop
        stop = _name(body, "stop", f"ct.maximum({stop}, {start})", op.span)
    if rows.low:
        after, plus = ("", "") if start == "0" else (f" - {start}", f"{start} + ")
        skipped = _name(body, "skipped", f"({rows.low}{less}{after} - {size}) // {size} + 1", op.span)
        start = f"ct.minimum({plus}ct.maximum({skipped}, 0) * {size}, {stop})"
    width = body.context.bounds.width(op.body.args[0])
    kind = "" if width is Width.LONG else INDEX_TYPES[width]
    found = []
    for value, text in ((begin, start), (end, stop)):
        narrowed = f"ct.astype({text}, {kind})" if kind and not text.isdecimal() else text
        found.append(replace(value, text=narrowed, prec=Prec.ATOM, width=width, literal=text.isdecimal()))
    return [*found, step]


def _name(body: Body, hint: str, text: str, span: Span) -> str:
    """A name for what is no atom; names that are there already stay."""
    if text.isidentifier() or text.isdecimal():
        return text
    name = body.context.namer.fresh(hint)
    body.writer.statement(f"{name} = {text}", span)
    return name


def first_and_last(body: Body, run: Run, rows: Rows, span: Span) -> tuple[str, str]:
    """Names of the first row of a pass and the one behind its last."""
    fresh, write = body.context.namer.fresh, body.writer.statement
    index = body.values[run.region.args[0].id].text
    at = fresh("at")
    write(f"{at} = ct.astype({index}, ct.int64)" + (f" + {rows.shift}" if rows.shift else ""), span)
    first, last, end = fresh("first"), fresh("last"), f"{at} + {run.dim.size}"
    write(f"{first} = ct.astype({f'ct.maximum({at}, {rows.low})' if rows.low else at}, INDEX)", span)
    write(f"{last} = ct.astype({f'ct.minimum({end}, {rows.high})' if rows.high else end}, INDEX)", span)
    return first, last


def _named(body: Body, ends: Ends, span: Span) -> Rows:
    """Statements that compute the ends once, before the loop."""
    names = []
    joined = {"shift": "", "low": "ct.maximum", "high": "ct.minimum"}
    shift = () if ends.shift == Sum() else (ends.shift,)
    for (hint, join), sums in zip(joined.items(), (shift, ends.low, ends.high), strict=True):
        texts = [_text(body, made) for made in sums]
        whole = texts[0] if texts else ""
        for text in texts[1:]:
            whole = f"{join}({whole}, {text})"
        names.append(_name(body, hint, whole, span) if whole else "")
    return Rows(shift=names[0], low=names[1], high=names[2])


def _text(body: Body, made: Sum) -> str:
    """A sum in 64 bits, which what data says may need."""
    text = ""
    for fragment, times in made.terms:
        value = body.widen(body.use(fragment), Width.LONG)
        term = value.at(Prec.PRODUCT) if abs(times) == 1 else f"{value.at(Prec.UNARY)} * {abs(times)}"
        sign = "-" if times < 0 else "+"
        text = f"{text} {sign} {term}" if text else f"{'-' if times < 0 else ''}{term}"
    if not text:
        return f"ct.int64({made.number})"
    return text if not made.number else f"{text} {'-' if made.number < 0 else '+'} {abs(made.number)}"
