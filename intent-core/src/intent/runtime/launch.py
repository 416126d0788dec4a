"""One launch: bind, check, choose a variant, run it. Nothing is written before every check has passed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from intent.kir.kernel import Kernel
from intent.provider import Invocation, Launcher, Provider
from intent.runtime import devices, workspace
from intent.runtime.arguments import Bound, bind, bound_view
from intent.runtime.array import Library
from intent.runtime.fitting import Fitting, Fittings

__all__ = ["Checked", "Prepared", "check", "once"]


class Checked(NamedTuple):
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


def once(kernel: Kernel, checked: Checked) -> None:
    """Launch a checked call. Does not synchronise a GPU stream; an empty program space launches nothing."""
    fitting, library = checked.fitting, checked.library
    if not fitting.length:
        return
    launcher = fitting.variant.launcher(fitting.device, on_gpu=checked.on_gpu)
    if not checked.on_gpu:
        launcher(_invocation(kernel, checked, None))
        return
    with library.current(fitting.device):
        launcher(_invocation(kernel, checked, library.stream(fitting.device)))


class Prepared:
    """A checked call that can be launched again and again with the same arguments: ``prepared()``.

    Holds the arguments, so the addresses stay valid; the contents may change between launches. Launches on
    the stream that is current at each call. An empty program space launches nothing. The hidden workspace is
    shared by all launches: do not run them on two streams at once.
    """

    def __init__(self, kernel: Kernel, checked: Checked) -> None:
        self.variant = checked.fitting.variant
        self._checked = checked
        self._launcher: Launcher | None = None
        self._invocation: Invocation | None = None
        if not checked.fitting.length:
            return
        library, device = checked.library, checked.fitting.device
        self._launcher = self.variant.launcher(device, on_gpu=checked.on_gpu)
        with library.current(device):
            stream = library.stream(device) if checked.on_gpu else None
            self._invocation = _invocation(kernel, checked, stream)

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


def _invocation(kernel: Kernel, checked: Checked, stream: int | None) -> Invocation:
    """What the launcher receives; allocates the workspace, on the current device."""
    fitting, library, arrays = checked.fitting, checked.library, checked.bound.arrays
    program = fitting.variant.program
    memory, offsets = None, None
    if program.workspace:
        space = workspace.layout(program, fitting.env, fitting.length)
        memory, offsets = workspace.allocate(space, library, fitting.device), space.offsets
    strides = fitting.strides
    return Invocation(
        views={view.name: bound_view(view, arrays[view.name], strides[view.name]) for view in kernel.views},
        scalars=checked.bound.scalars,
        extents=checked.extents,
        length=fitting.length,
        workspace=memory,
        workspace_offsets=offsets,
        stream=stream,
    )
