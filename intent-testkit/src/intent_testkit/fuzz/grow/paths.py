"""Vectors that a loop carries through a matrix over their own axis."""

from __future__ import annotations

from intent_testkit.fuzz.kinds import Value
from intent_testkit.fuzz.writer import Writer


def paths(w: Writer) -> None:
    """The best or the sum of all ways into each state, a few steps long."""
    n = w.any(list(w.symbols))
    if not w.fits((n, n)):
        return
    dtype = w.any(("i32", "i64", "f32"))
    step, start = f"{w.param('in', dtype, (n, n)).name}[...]", w.bounded(w.of(dtype, (n,)), 3.0)
    c, k = w.name("c"), w.name("k")
    forms = (
        f"I.reduce.max({c}[:, None] + {step}, axis=0)",
        f"I.reduce.min({step} - {c}[None, :], axis=1)",
        f"I.reduce.sum({step} * {c}, axis=1)",
        f"I.vecmat({c}, {step})",
        f"I.matvec({step}, {c})",
        f"I.maximum({c}, I.reduce.max({step} + {c}[:, None], axis=0))",
    )
    w.line(f"{c} = {start.text}")
    with w.block(f"for {k} in range({w.any((0, 1, 3))}):"):
        text = w.any(forms)
        w.line(f"{c} = I.clamp({text}, -3.0, 3.0)" if start.is_float else f"{c} = {text}")
    w.pool.append(Value(text=c, dtype=dtype, shape=(n,), bound=3.0))
    w.features.add("paths")
