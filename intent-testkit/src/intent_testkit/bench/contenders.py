"""How contenders are made: this project's artifacts, torch functions eager and compiled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import intent
from intent_testkit.bench.contender import Call, Contender, Tensors

Function = Callable[[Tensors], Any]

RELAXED = intent.CompileOptions(numerics="relaxed_normalization")
"""Inputs are finite here, as every peer assumes: softmax may read its rows once for maximum and sum."""


def ours(
    provider: str,
    kernel: Any,
    arguments: Sequence[str],
    constexprs: Mapping[str, Any] | None = None,
    options: intent.CompileOptions | None = None,
) -> Contender:
    """A kernel of this project on a provider, default plan, called with ready tensors."""

    def bind(tensors: Tensors) -> Call:
        artifact = intent.compile(kernel, provider=provider, constexprs=constexprs, options=options)
        ready = [tensors[name] for name in arguments]

        def call() -> Any:
            artifact(*ready)
            return tensors["out"]

        return call

    return Contender(name=f"intent ({provider})", bind=bind, ours=True)


def eager(function: Function, name: str = "torch eager") -> Contender:
    """A torch function as it is."""
    return Contender(name=name, bind=lambda tensors: lambda: function(tensors))


def compiled(function: Function) -> Contender:
    """The same function through torch.compile, specialised to these shapes."""

    def bind(tensors: Tensors) -> Call:
        import torch

        torch.compiler.reset()
        names = sorted(tensors)

        def positional(*values: Any) -> Any:
            return function(dict(zip(names, values, strict=True)))

        fast = torch.compile(positional, dynamic=False)
        values = [tensors[name] for name in names]
        return lambda: fast(*values)

    return Contender(name="torch.compile", bind=bind)


def field(
    kernel: Any,
    arguments: Sequence[str],
    *peers: Contender,
    constexprs: Mapping[str, Any] | None = None,
    options: intent.CompileOptions | None = None,
) -> Callable[[tuple[str, ...]], list[Contender]]:
    """Our providers on ``kernel``, then the peers."""
    return lambda providers: [
        *(ours(name, kernel, arguments, constexprs, options) for name in providers),
        *peers,
    ]
