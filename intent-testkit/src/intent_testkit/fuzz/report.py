"""A failure as text: enough to read it, and to run it again."""

from __future__ import annotations

from typing import Final

import numpy as np

from intent_testkit.fuzz.judge import Failure

SHOWN: Final = 40


def report(failure: Failure) -> str:
    """Source, extents, plan, inputs, and the first element that differs or the error."""
    lines = [f"seed {failure.program.seed}: {failure.stage}: {failure.kind}", failure.detail, ""]
    lines += [failure.program.source.strip(), "", f"extents: {dict(failure.extents)}"]
    if failure.plan is not None:
        lines += [f"plan ({failure.plan.name}):", *("  " + line for line in str(failure.plan).splitlines())]
        lines += [f"  {failure.plan!r}"]
    if failure.layout:
        lines.append(f"layout: {failure.layout}")
    for name, value in failure.arguments.items():
        array = np.asarray(value)
        if array.size <= SHOWN:
            lines.append(f"{name}: {array.dtype} {array.tolist()}")
        else:
            lines.append(f"{name}: {array.dtype} {array.shape} {array.reshape(-1)[:SHOWN].tolist()} ...")
    lines += ["", f"again: python -m intent_testkit.fuzz --seed {failure.program.seed} --count 1"]
    return "\n".join(lines)
