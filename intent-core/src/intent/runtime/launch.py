"""One launch: bind, check, choose a variant, run it. Nothing is written before every check has passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from intent.kir.kernel import Kernel
from intent.provider import Invocation, Launcher, Provider
from intent.runtime import devices, workspace
from intent.runtime.arguments import Bound, bind, bound_view
from intent.runtime.array import Library
from intent.runtime.fitting import Fitting, Fittings

__all__ = ["Checked", "Prepared", "check"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """A call that satisfies every launch condition."""

    bound: Bound
    fitting: Fitting
    extents: dict[str, int]
    library: Library
    on_gpu: bool


def check(kernel: Kernel, provider: Provider, fittings: Fittings, given: Mapping[str, Any]) -> Checked:
    """Check every launch condition of a call with all arguments given, and choose its variant.

    Raises:
        IntentError: A class of :mod:`intent.diagnostics.call`, NoDevice or PlanError; nothing was written.
    """
    on_gpu = devices.runs_on_gpu(provider)
    bound = bind(kernel, given)
    fitting = fittings.fit(bound, on_gpu=on_gpu)
    return Checked(
        bound=bound,
        fitting=fitting,
        extents=fittings.extents(fitting, bound),
        library=devices.library_of(bound.arrays.values(), on_gpu=on_gpu),
        on_gpu=on_gpu,
    )


class Prepared:
    """A checked call that can be launched again and again with the same arguments: ``prepared()``.

    Holds the arguments, so the addresses stay valid; the contents may change between launches. Launches on
    the stream that is current at each call. An empty program space launches nothing.
    """

    def __init__(self, kernel: Kernel, checked: Checked) -> None:
        self.variant = checked.fitting.variant
        self._checked = checked
        self._launcher: Launcher | None = None
        self._invocation: Invocation | None = None
        if checked.fitting.length:
            self._launcher = self.variant.launcher(checked.fitting.device, on_gpu=checked.on_gpu)
            self._invocation = _invocation(kernel, checked)

    def __call__(self) -> None:
        """Launch once. Does not synchronise a GPU stream."""
        if self._launcher is None or self._invocation is None:
            return
        if not self._checked.on_gpu:
            self._launcher(self._invocation)
            return
        library, device = self._checked.library, self._checked.fitting.device
        with library.current(device):
            stream = library.stream(device)
            if stream != self._invocation.stream:
                self._invocation = replace(self._invocation, stream=stream)
            self._launcher(self._invocation)


def _invocation(kernel: Kernel, checked: Checked) -> Invocation:
    fitting, library, arrays = checked.fitting, checked.library, checked.bound.arrays
    device = fitting.device
    program = fitting.variant.program
    memory, offsets = None, None
    if program.workspace:
        space = workspace.layout(program, fitting.env, fitting.length)
        with library.current(device):
            memory, offsets = workspace.allocate(space, library, device), space.offsets
    return Invocation(
        views={view.name: bound_view(view, arrays[view.name]) for view in kernel.views},
        scalars=checked.bound.scalars,
        extents=checked.extents,
        length=fitting.length,
        workspace=memory,
        workspace_offsets=offsets,
        stream=library.stream(device) if checked.on_gpu else None,
    )
