"""One launch: bind, check, choose a variant, run it. Nothing is written before every check has passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from intent.kir.kernel import Kernel
from intent.provider import Invocation, Launcher, Provider
from intent.runtime import conditions, devices, workspace
from intent.runtime.arguments import Bound, bind, bound_view
from intent.runtime.array import Library
from intent.runtime.extents import Environment, bind_extents, named
from intent.runtime.variants import Variant, Variants

__all__ = ["Checked", "Prepared", "check", "prepare"]


@dataclass(frozen=True, kw_only=True)
class Checked:
    """A call that satisfies every launch condition, with the variant that it runs."""

    bound: Bound
    env: Environment
    variant: Variant
    length: int
    library: Library
    device: str
    on_gpu: bool


def check(kernel: Kernel, provider: Provider, variants: Variants, given: Mapping[str, Any]) -> Checked:
    """Check every launch condition of a call with all arguments given, and choose its variant.

    Raises:
        IntentError: A class of :mod:`intent.diagnostics.call`, NoDevice or PlanError; nothing was written.
    """
    on_gpu = devices.runs_on_gpu(provider)
    bound = bind(kernel, given)
    env = bind_extents(kernel, bound)
    device = conditions.check_devices(bound, on_gpu=on_gpu)
    conditions.check_memory(kernel, bound)
    conditions.check_conditions(kernel, env)
    variant = variants.select(env)
    limit = provider.capabilities.grid_limit
    length = conditions.program_length(variant.program, env, limit=limit, provider=provider.name)
    return Checked(
        bound=bound,
        env=env,
        variant=variant,
        length=length,
        library=devices.library_of(bound.arrays.values(), on_gpu=on_gpu),
        device=device,
        on_gpu=on_gpu,
    )


class Prepared:
    """A checked call that can be launched again and again with the same arguments: ``prepared()``.

    Holds the arguments, so the addresses stay valid; the contents may change between launches. Launches on
    the stream that is current at each call. An empty program space launches nothing.
    """

    def __init__(self, kernel: Kernel, checked: Checked) -> None:
        self.variant = checked.variant
        self._checked = checked
        self._launcher: Launcher | None = None
        self._invocation: Invocation | None = None
        if checked.length:
            self._launcher = checked.variant.launcher(checked.device, on_gpu=checked.on_gpu)
            self._invocation = _invocation(kernel, checked)

    def __call__(self) -> None:
        """Launch once. Does not synchronise a GPU stream."""
        if self._launcher is None or self._invocation is None:
            return
        library, device = self._checked.library, self._checked.device
        if not self._checked.on_gpu:
            self._launcher(self._invocation)
            return
        with devices.current_device(library, device):
            stream = devices.current_stream(library, device)
            if stream != self._invocation.stream:
                self._invocation = replace(self._invocation, stream=stream)
            self._launcher(self._invocation)


def prepare(kernel: Kernel, provider: Provider, variants: Variants, given: Mapping[str, Any]) -> Prepared:
    """Check a call and build what it needs, without launching it."""
    return Prepared(kernel, check(kernel, provider, variants, given))


def _invocation(kernel: Kernel, checked: Checked) -> Invocation:
    program = checked.variant.program
    space = workspace.layout(program, checked.env, checked.length)
    views = {view.name: bound_view(view, checked.bound.arrays[view.name]) for view in kernel.views}
    with devices.current_device(checked.library, checked.device):
        return Invocation(
            views=views,
            scalars=checked.bound.scalars,
            extents=named(checked.env),
            length=checked.length,
            workspace=workspace.allocate(space, checked.library, checked.device),
            workspace_offsets=space.offsets if space.size else None,
            stream=devices.current_stream(checked.library, checked.device),
        )
