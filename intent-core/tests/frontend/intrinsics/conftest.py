"""Lowering a kernel and looking at the operations that matter."""

from __future__ import annotations

import numpy as np
import pytest

from intent.diagnostics import IntentError
from intent.frontend import lower
from intent.kir import Constant, ExtentValue, Iota, Load, Pointwise, Store
from intent.kir.parse import parse_kernel
from intent.kir.text import print_kernel
from intent.kir.verify import verify
from intent.kir.walk import walk
from intent.reference.logical import evaluate
from intent.reference.logical.choices import Adversary

_PLUMBING = (Constant, ExtentValue, Iota, Load, Store)


@pytest.fixture
def lowered():
    """``lowered(kernel, **constexprs)``: the verified logical kernel; its text parses back equal."""

    def run(kernel, **constexprs):
        made = lower(kernel, constexprs)
        verify(made)
        assert parse_kernel(print_kernel(made)) == made
        return made

    return run


@pytest.fixture
def ops(lowered):
    """``ops(kernel)``: the operations of a kernel and its regions as text such as ``reduce.sum f32[M]``.

    Constants, coordinates, loads and stores are left out.
    """

    def run(kernel, **constexprs):
        made = lowered(kernel, **constexprs)
        return [_text(op) for op in walk(made.body) if not isinstance(op, _PLUMBING)]

    return run


@pytest.fixture
def one(lowered):
    """``one(kernel, Node)``: the only operation of a class."""

    def run(kernel, node, **constexprs):
        (found,) = [op for op in walk(lowered(kernel, **constexprs).body) if isinstance(op, node)]
        return found

    return run


@pytest.fixture
def refused():
    """``refused(kernel, Error)``: the error of a kernel that must be refused, and the text it blames."""

    def run(kernel, error, **constexprs):
        with pytest.raises(error) as found:
            lower(kernel, constexprs)
        assert type(found.value) is error
        assert isinstance(found.value, IntentError)
        assert found.value.span is not None
        assert found.value.fix
        return found.value

    return run


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture(params=["plain", "adversary 1", "adversary 2"])
def choices(request):
    """What the evaluator chooses where the language leaves it open: orders, trees, slices."""
    if request.param == "plain":
        return None
    return Adversary(np.random.default_rng(int(request.param[-1])))


@pytest.fixture
def run(lowered, choices):
    """``run(kernel, **arguments)``: a copy of every Out and InOut argument after the kernel."""

    def call(kernel, constexprs=None, **arguments):
        made = lowered(kernel, **(constexprs or {}))
        held = {name: np.array(v) if isinstance(v, np.ndarray) else v for name, v in arguments.items()}
        evaluate(made, [held[p.name] for p in made.params], choices)
        return {v.name: held[v.name] for v in made.views if v.mode != "in"}

    return call


def _text(op):
    name = type(op).__name__.lower()
    detail = op.fn if isinstance(op, Pointwise) else getattr(op, "kind", None)
    results = ", ".join(_type(r) for r in op.results)
    return (
        f"{detail if isinstance(op, Pointwise) else f'{name}.{detail}' if detail else name} {results}".strip()
    )


def _type(value):
    return f"{value.dtype}[{', '.join(map(str, value.shape))}]" if value.shape else str(value.dtype)
