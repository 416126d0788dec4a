"""Artifacts in a folder: the frozen kernel with its options and plans, without the Python source it came from.

    kernel.kir      the logical kernel's text, which is read back
    places.json     the author's lines that its parts come from
    artifact.json   provider, options, target, plan, and the plans that tuning chose
    program.txt     the program and the emitted source of the latest launch: for people, never read
    source.*

A native build belongs to one driver and one toolkit, so it is made again where the artifact is loaded.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from intent.construct.plan import Plan
from intent.construct.plan_record import plan_of_record, record_of_plan
from intent.diagnostics import ArtifactError, OptionError, TextError
from intent.kir.kernel import Kernel
from intent.kir.parse import parse_kernel
from intent.kir.spans import put_places, take_places
from intent.kir.text import print_kernel
from intent.physical import Program
from intent.provider import Provider, Source
from intent.runtime.options import CompileOptions
from intent.runtime.variants import Bucket

__all__ = ["Saved", "read", "write"]

FORMAT: Final = 1
_RECORD, _KERNEL, _PLACES, _PROGRAM = "artifact.json", "kernel.kir", "places.json", "program.txt"


@dataclass(frozen=True, kw_only=True)
class Saved:
    """What an artifact is made of. ``tuned``: plans by the class of extents that they were chosen for."""

    kernel: Kernel
    provider: str
    options: CompileOptions
    target: str | None
    plan: Plan | None
    tuned: Mapping[Bucket, Plan]


def write(folder: Path, saved: Saved, provider: Provider, program: Program, source: Source | None) -> None:
    """Write the files, each of them whole or not at all; ``source`` is None where the target cannot say it."""
    folder.mkdir(parents=True, exist_ok=True)
    record = {
        "format": FORMAT,
        "kernel": saved.kernel.name,
        "provider": {"name": provider.name, "version": provider.version},
        "options": asdict(saved.options),
        "target": saved.target,
        "plan": None if saved.plan is None else record_of_plan(saved.plan),
        "tuned": [[list(map(list, bucket)), record_of_plan(plan)] for bucket, plan in saved.tuned.items()],
    }
    _put(folder / _KERNEL, print_kernel(saved.kernel) + "\n")
    _put(folder / _PLACES, json.dumps(take_places(saved.kernel)))
    _put(folder / _PROGRAM, f"{program}\n")
    if source is not None:
        _put(folder / f"source{source.suffix}", source.text)
    _put(folder / _RECORD, json.dumps(record, indent=1) + "\n")


def read(folder: Path) -> Saved:
    """What :func:`write` wrote.

    Raises:
        ArtifactError: Files are missing, or they are not those of an artifact of this format.
    """
    try:
        record = json.loads((folder / _RECORD).read_text(encoding="utf-8"))
        if not isinstance(record, dict) or record.get("format") != FORMAT:
            found = record.get("format") if isinstance(record, dict) else record
            raise ArtifactError(folder, f"its format is {found!r}, this version reads {FORMAT}")
        kernel = parse_kernel((folder / _KERNEL).read_text(encoding="utf-8"))
        places = json.loads((folder / _PLACES).read_text(encoding="utf-8"))
        return Saved(
            kernel=put_places(kernel, places),
            provider=record["provider"]["name"],
            options=CompileOptions(**record["options"]),
            target=record["target"],
            plan=None if record["plan"] is None else plan_of_record(record["plan"]),
            tuned={
                tuple((atom, size, divisor) for atom, size, divisor in bucket): plan_of_record(plan)
                for bucket, plan in record["tuned"]
            },
        )
    except FileNotFoundError as error:
        raise ArtifactError(folder, f"there is no {Path(error.filename).name}") from error
    except (TextError, OptionError) as error:
        raise ArtifactError(folder, str(error.message)) from error
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise ArtifactError(folder, f"its files do not hold what they should ({error!r})") from error


def _put(path: Path, text: str) -> None:
    """Readers see the whole file or the one before."""
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        file.write(text)
    Path(file.name).replace(path)
