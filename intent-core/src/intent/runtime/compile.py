"""Compilation: Python source to a verified program, for one provider (spec: kernel-and-host 1)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from intent.construct.plan import Plan
from intent.diagnostics import NotADefinition, OptionError
from intent.frontend import lower
from intent.kir.kernel import Kernel
from intent.language.definitions import KernelDefinition
from intent.provider import Provider, is_provider, registry
from intent.runtime.artifact import Artifact
from intent.runtime.options import CompileOptions
from intent.runtime.timing import stage

__all__ = ["compile", "lowered"]


def compile(  # noqa: A001 - intent.compile is the verb of the public API, its order is documented
    kernel: KernelDefinition[Any] | Kernel,
    provider: str | Provider | None = None,
    constexprs: Mapping[str, Any] | None = None,
    options: CompileOptions | None = None,
    target: str | None = None,
    plan: Plan | None = None,
) -> Artifact:
    """Compile one kernel for one provider. Launches nothing, and needs no GPU.

    The front end, construction and verification run here; the native build follows at the first use of a
    variant. One compilation is one artifact, and one call of it is one launch.

    Args:
        kernel: A function decorated with ``@intent.kernel``, or a kernel of the logical IR.
        provider: A provider's name, or a provider; None picks the best one that can run here.
        constexprs: Values of the Constexpr parameters by name.
        options: Permissions about numbers.
        target: What ``artifact.build()`` builds for, such as ``sm_90``.
        plan: A plan to use for every launch, instead of the default ones.

    Raises:
        IntentError: The class says the cause; the author's line is quoted.
    """
    for name, value, kind, allowed in (
        ("constexprs", constexprs, Mapping, "a dict of values by name"),
        ("options", options, CompileOptions, 'intent.CompileOptions(numerics="...")'),
        ("target", target, str, "the name of a target such as 'sm_90'"),
        ("plan", plan, Plan, "a plan of intent.planning, or None for the default ones"),
    ):
        if value is not None and not isinstance(value, kind):
            raise OptionError(name, value, allowed=allowed)
    seconds: dict[str, float] = {}
    chosen = _provider(provider)
    with stage(seconds, "front end"):
        logical = lowered(kernel, constexprs or {})
    return Artifact(
        logical,
        chosen,
        options=options if options is not None else CompileOptions(),
        target=target,
        plan=plan,
        seconds=seconds,
    )


def _provider(provider: str | Provider | None) -> Provider:
    if provider is None:
        return registry().default()
    if isinstance(provider, str):
        return registry().get(provider)
    if not is_provider(provider):
        raise OptionError("provider", provider, allowed="the name of a provider, a provider, or None")
    return provider


def lowered(kernel: object, constexprs: Mapping[str, Any], *, races: bool = False) -> Kernel:
    """The logical kernel of a definition, or the kernel of the logical IR that was given.

    ``races``: see :func:`intent.frontend.lower`.

    Raises:
        IntentError: The errors of the front end, or OptionError for constexprs that are bound already.
    """
    if isinstance(kernel, Kernel):
        if constexprs:
            allowed = "left out: a kernel of the logical IR has its constexprs bound"
            raise OptionError("constexprs", dict(constexprs), allowed=allowed)
        return kernel
    if not isinstance(kernel, KernelDefinition):
        raise NotADefinition("a kernel", kernel, fix="decorate the function with @intent.kernel")
    return lower(kernel, constexprs, races=races)
