"""The command line: ``python -m intent providers``, and ``explain|source|program|kir FILE:KERNEL``.

A module that can be imported may stand for the file. Constexprs are given as ``NAME=VALUE``. Nothing here launches a
kernel. ``explain --html PAGE --json DOCUMENT`` writes its other forms to files.
"""

from __future__ import annotations

import argparse
import ast
import importlib
import importlib.util
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

from rich.console import Console
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from intent.diagnostics import IntentError, NotADefinition, OptionError
from intent.kir.text import print_kernel
from intent.language.definitions import KernelDefinition
from intent.provider.registry import registry
from intent.runtime.artifact import Artifact
from intent.runtime.compile import compile as compile_kernel
from intent.runtime.explaining import Form

__all__ = ["main"]

_COLOURS = {"ready": "green", "no device": "yellow", "broken": "red", "duplicate": "red"}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0 when it worked, 1 for an IntentError, 2 for wrong usage."""
    given = _parser().parse_args(arguments)
    console = Console(soft_wrap=True, highlight=False)
    try:
        if given.command == "providers":
            _providers(console)
        else:
            _show(given, console)
    except IntentError as error:
        Console(stderr=True, soft_wrap=True, highlight=False).print(Text(str(error), style="red"))
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m intent", description=(__doc__ or "").partition("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("providers", help="the installed providers and the state of each")
    for name, text in (
        ("explain", "what is constructed from a kernel, and why"),
        ("source", "the text that the provider emits"),
        ("program", "the verified physical program"),
        ("kir", "the logical IR"),
    ):
        command = commands.add_parser(name, help=text)
        command.add_argument(
            "kernel", metavar="FILE:KERNEL", help="a Python file, or a module, and a kernel in it"
        )
        command.add_argument("--provider", help="the provider's name; the best one here by default")
        command.add_argument(
            "-c", "--constexpr", action="append", default=[], metavar="NAME=VALUE", type=_constexpr,
            help="the value of a constexpr, as a Python literal",
        )  # fmt: skip
        if name == "explain":
            _explain_options(command)
    return parser


def _explain_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--html", metavar="FILE", help="write one self-contained HTML page")
    command.add_argument("--json", metavar="FILE", help="write a JSON document")
    command.add_argument(
        "-e", "--extent", action="append", default=[], metavar="NAME=VALUE", type=_constexpr,
        help="an extent of a launch; give all or none",
    )  # fmt: skip


def _constexpr(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    try:
        if equals:
            return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        pass
    raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE with a Python literal")


def _providers(console: Console) -> None:
    table = Table("name", "version", "state", "package", box=None)
    details: list[Text] = []
    for name in registry().names():
        status = registry().status(name)
        state = Text(status.state, style=_COLOURS[status.state])
        table.add_row(name, status.version, state, status.source)
        if status.detail:
            details.append(Text(f"{name}: {status.detail}"))
    console.print(table)
    for detail in details:
        console.print(detail)


def _show(given: argparse.Namespace, console: Console) -> None:
    artifact = _compile(given)
    if given.command == "source":
        language = "python" if artifact.variant.source.suffix == ".py" else "cpp"
        console.print(Syntax(artifact.source, language, background_color="default"))
        return
    match given.command:
        case "explain":
            text = _explained(given, artifact)
        case "program":
            text = str(artifact.program)
        case _:
            text = print_kernel(artifact.kir)
    console.print(Text(text.rstrip()))


def _explained(given: argparse.Namespace, artifact: Artifact) -> str:
    """The text, or where the other forms were written."""
    extents = dict(given.extent) or None
    forms: tuple[tuple[Form, str | None], ...] = (("html", given.html), ("json", given.json))
    written = []
    for form, file in forms:
        if file is not None:
            Path(file).write_text(artifact.explain(format=form, extents=extents), encoding="utf-8")
            written.append(f"wrote {file}")
    return "\n".join(written) or artifact.explain(extents=extents)


def _compile(given: argparse.Namespace) -> Artifact:
    definition = _load(given.kernel)
    return compile_kernel(definition, given.provider, dict(given.constexpr))


def _load(place: str) -> KernelDefinition[Any]:
    """The kernel of ``FILE:KERNEL`` or ``MODULE:KERNEL``; a file is executed as a module.

    Raises:
        OptionError: No such file or module, or not of that form.
        NotADefinition: The file has no kernel of that name.
    """
    file, _, name = place.rpartition(":")
    module = _executed(Path(file)) if Path(file).is_file() else _imported(file)
    if module is None:
        raise OptionError(
            "FILE:KERNEL", place, allowed="a Python file, or a module's name, and a kernel in it"
        )
    found = getattr(module, name, None)
    if not isinstance(found, KernelDefinition):
        kernels = [key for key, value in vars(module).items() if isinstance(value, KernelDefinition)]
        raise NotADefinition("a kernel", found, fix=f"name one of: {', '.join(kernels) or 'none is there'}")
    return found


def _executed(path: Path) -> ModuleType | None:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        return None
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    spec.loader.exec_module(module)
    return module


def _imported(name: str) -> ModuleType | None:
    """The module of a dotted name, if there is one; errors of its own code are not hidden."""
    if not all(part.isidentifier() for part in name.split(".")):
        return None
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:  # a package in front of it is missing
        return None
    return None if found is None else importlib.import_module(name)


if __name__ == "__main__":
    sys.exit(main())
