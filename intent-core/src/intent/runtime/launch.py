"""One launch: bind, check, choose a variant, run it. Nothing is written before every check has passed.

A GPU launcher that can settle a layout (:class:`intent.provider.binder.Binder`) is asked once for each layout;
later launches of it pass addresses and scalars only.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

from intent.kir.kernel import Kernel
from intent.provider import Invocation, Launcher, Provider
from intent.provider.binder import ADDRESS_CLASS, Binder, Start, Value
from intent.runtime import devices, workspace
from intent.runtime.arguments import Bound, bind, bound_view
from intent.runtime.array import Library, Reading
from intent.runtime.fitting import Fitting, Fittings
from intent.runtime.libraries import ordinal
from intent.runtime.native import calls as native
from intent.runtime.native import when_available
from intent.runtime.workspace_pool import Workspaces

__all__ = ["Checked", "Launches", "Prepared", "check"]

_STARTS: Final = 64
"""Most settled launches of one fitting: it has one for each class of its addresses and assumed scalars."""


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


class Settled(NamedTuple):
    """A launch whose layout is settled, and the names of the symbols and scalars that it relies on."""

    start: Start
    assumes: frozenset[str]


class Launches:
    """How one artifact launches checked calls; holds the workspaces of its GPU launches."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._workspaces = Workspaces()

    def settled(self, checked: Checked) -> Settled | None:
        """The settled launch of a call, built here; None where the call is launched by its invocation.

        Call it with the fitting's device current.
        """
        fitting, library = checked.fitting, checked.library
        if not checked.on_gpu or library.reading is None or not fitting.length:
            return None
        launcher = fitting.variant.launcher(fitting.device, on_gpu=True)
        if not isinstance(launcher, Binder):
            return None
        integers = {**checked.bound.scalars, **checked.extents}
        key = (
            library.name,
            *(array.pointer % ADDRESS_CLASS for array in checked.bound.arrays.values()),
            *(integers.get(name) for name in sorted(launcher.assumes)),
        )
        found = fitting.starts.get(key)
        if found is None:
            found = self._settle(checked, launcher)
            if len(fitting.starts) >= _STARTS:
                fitting.starts.clear()
            fitting.starts[key] = found
        return Settled(found, launcher.assumes)

    def once(self, checked: Checked) -> Settled | None:
        """Launch a checked call, and give its settled launch if it has one.

        Does not synchronise a GPU stream; an empty program space launches nothing.
        """
        fitting, library = checked.fitting, checked.library
        if not fitting.length:
            return None
        if not checked.on_gpu:
            fitting.variant.launcher("cpu", on_gpu=False)(self._invocation(checked, None))
            return None
        with library.current(fitting.device):
            settled, stream = self.settled(checked), library.stream(fitting.device)
            if settled is not None:
                settled.start(stream or 0, *values(checked))
                return settled
            launcher = fitting.variant.launcher(fitting.device, on_gpu=True)
            self._attempt(launcher, self._invocation(checked, stream))
        return None

    def again(self, checked: Checked) -> Callable[[], None]:
        """A call without arguments that launches ``checked`` each time; builds now, launches nothing."""
        fitting, library = checked.fitting, checked.library
        if not fitting.length:
            return lambda: None
        if not checked.on_gpu:
            fitting.variant.launcher("cpu", on_gpu=False)
            return partial(self._forget, checked)
        with library.current(fitting.device):
            settled = self.settled(checked)
        if settled is None or library.reading is None:
            fitting.variant.launcher(fitting.device, on_gpu=True)
            return partial(self._forget, checked)
        call = _relaunch(settled.start, library, library.reading, fitting.device, values(checked))
        exchange, number = library.reading.exchange, ordinal(fitting.device)
        return native.again(settled.start, values(checked), number, exchange, call) or call

    def _forget(self, checked: Checked) -> None:
        self.once(checked)

    def _settle(self, checked: Checked, launcher: Binder) -> Start:
        fitting, library = checked.fitting, checked.library
        invocation = self._invocation(checked, library.stream(fitting.device))
        start = launcher.bind(invocation)
        if invocation.workspace is None:
            return start
        spaces, device = self._workspaces, fitting.device
        space = workspace.layout(fitting.variant.program, fitting.env, fitting.length)

        def with_workspace(stream: int, *values: Value) -> None:
            memory = spaces.get(space, library, device, stream)
            assert memory is not None, "there are buffers"
            try:
                start(stream, *values, memory.pointer)
            except Exception:
                spaces.drop()
                raise

        return with_workspace

    def _attempt(self, launcher: Launcher, invocation: Invocation) -> None:
        try:
            launcher(invocation)
        except Exception:
            self._workspaces.drop()
            raise

    def _invocation(self, checked: Checked, stream: int | None) -> Invocation:
        """What the launcher receives, with a workspace; the device is current."""
        fitting, arrays = checked.fitting, checked.bound.arrays
        program, device = fitting.variant.program, fitting.device
        memory, offsets = None, None
        if program.workspace:
            space = workspace.layout(program, fitting.env, fitting.length)
            offsets = space.offsets
            if checked.on_gpu:
                memory = self._workspaces.get(space, checked.library, device, stream or 0)
            else:
                memory = workspace.allocate(space, checked.library, device)
        strides = fitting.strides
        return Invocation(
            views={v.name: bound_view(v, arrays[v.name], strides[v.name]) for v in self._kernel.views},
            scalars=checked.bound.scalars,
            extents=checked.extents,
            length=fitting.length,
            workspace=memory,
            workspace_offsets=offsets,
            stream=stream,
        )


def values(checked: Checked) -> tuple[Value, ...]:
    """What a settled launch takes: the addresses and scalars of a call."""
    arrays, scalars = checked.bound
    return (*(array.pointer for array in arrays.values()), *scalars.values())


def _relaunch(
    start: Start, library: Library, reading: Reading, device: str, values: tuple[Value, ...]
) -> Callable[[], None]:
    now, stream, number = reading.device, reading.stream, ordinal(device)

    def again() -> None:
        if now() == number:
            start(stream(number), *values)
        else:
            with library.current(device):
                start(stream(number), *values)

    return again


class Prepared:
    """A checked call that can be launched again and again with the same arguments: ``prepared()``.

    Holds the arguments, so the addresses stay valid; the contents may change between launches. Launches on
    the stream that is current at each call; several threads and streams may use it at once. An empty program
    space launches nothing.
    """

    def __init__(self, launches: Launches, checked: Checked) -> None:
        self.variant = checked.fitting.variant
        self._checked = checked
        self._launches = launches
        self._again = launches.again(checked)
        reading = checked.library.reading
        if checked.on_gpu and reading is not None and reading.exchange is not None:
            weak = weakref.WeakMethod(self._arrived)

            def arrived() -> None:
                if (mine := weak()) is not None:
                    mine()

            when_available(arrived)

    def __call__(self) -> None:
        """Launch once. Does not synchronise a GPU stream."""
        self._again()

    def _arrived(self) -> None:
        """Compiled code is there. This may be another thread: the next launch does the rest."""
        self._again = self._renew

    def _renew(self) -> None:
        """Launch, from now on in compiled code."""
        self._again = self._launches.again(self._checked)
        self._again()
