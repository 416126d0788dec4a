"""What the demo prints: the author's kernel, what was constructed, and how it ran."""

from __future__ import annotations

import inspect

from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from intent_testkit.demo.choose import Choice
from intent_testkit.demo.jobs import Job
from intent_testkit.demo.run import Outcome

__all__ = ["show_job", "show_summary"]


def show_job(console: Console, job: Job, choice: Choice, outcome: Outcome, *, with_source: bool) -> None:
    """Print one job: kernel, summary, the emitted source if asked for, and the run."""
    console.rule(f"[bold]{job.name}")
    source = inspect.getsource(inspect.unwrap(job.kernel))
    console.print(Panel(_python(source), title="what the author wrote", title_align="left"))
    summary = Text(str(outcome.artifact.explain()).rstrip())
    console.print(Panel(summary, title="what was constructed", title_align="left"))
    if with_source:
        emitted = _python(str(outcome.artifact.source))
        console.print(Panel(emitted, title=f"what {choice.provider} was given", title_align="left"))
    console.print(Panel(_how(job, choice, outcome), title="how it ran", title_align="left"))


def show_summary(console: Console, rows: list[tuple[Job, Outcome]], choice: Choice) -> None:
    """Print one line for each job, and the verdict."""
    table = Table(title=f"provider {choice.provider}, {choice.how}", title_justify="left")
    for heading in ("kernel", "result", "largest error against numpy", "second run"):
        table.add_column(heading)
    for job, outcome in rows:
        verdict = "[green]correct" if outcome.correct else "[red]WRONG"
        table.add_row(job.name, verdict, f"{outcome.error:.2e}", _seconds(outcome.second_run_seconds))
    console.print(table)


def _how(job: Job, choice: Choice, outcome: Outcome) -> Text:
    shapes = " and ".join(str(shape) for shape in outcome.shapes)
    verdict = "within" if outcome.correct else "NOT within"
    lines = [
        f"provider {choice.provider}, {choice.how}",
        f"inputs {shapes}, result {outcome.result_shape}",
        f"compiled and verified in {_seconds(outcome.compile_seconds)}",
        f"first run, with its build: {_seconds(outcome.first_run_seconds)}",
        f"second run: {_seconds(outcome.second_run_seconds)}",
        f"largest error against numpy in float64: {outcome.error:.2e}",
        f"{verdict} the tolerance of {job.atol:g} + {job.rtol:g} of the value",
    ]
    return Text("\n".join(lines), style="" if outcome.correct else "red")


def _python(text: str) -> Syntax:
    return Syntax(text.rstrip(), "python", theme="ansi_light", background_color="default", word_wrap=True)


def _seconds(value: float) -> str:
    return f"{value * 1e3:.1f} ms" if value < 1.0 else f"{value:.2f} s"
