"""The artifact of a compilation: a frozen kernel, its variants, how to launch (spec: kernel-and-host 1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from intent.construct.plan import Plan
from intent.diagnostics import CapabilityError, OptionError, PlanError
from intent.explain import Report
from intent.kir.kernel import Kernel
from intent.physical import Program
from intent.planning.candidates import candidates
from intent.provider import Binary, Provider
from intent.runtime import cache, conditions, devices, launch, outputs
from intent.runtime.arguments import bind, bind_named
from intent.runtime.explaining import Form, bound_extents, rendered, report
from intent.runtime.fitting import Fitting, Fittings
from intent.runtime.options import CompileOptions
from intent.runtime.quick import Quick
from intent.runtime.quick_outs import QuickOuts
from intent.runtime.saved import Saved, write
from intent.runtime.torch_op import torch_operator
from intent.runtime.tuning import Tuning, tune
from intent.runtime.variants import Bucket, Variant, Variants

__all__ = ["Artifact"]


class Artifact:
    """One compiled kernel. Calling it launches once, and launches nothing else behind the caller.

    ``variant``, ``plan``, ``program`` and ``source`` are those of the latest launch or ``prepare``; before
    the first they are those for unknown extents.
    """

    def __init__(
        self,
        kernel: Kernel,
        provider: Provider,
        *,
        options: CompileOptions,
        target: str | None = None,
        plan: Plan | None = None,
        seconds: dict[str, float] | None = None,
    ) -> None:
        self.kir = kernel
        self.provider = provider
        self.options = options
        self.target = target
        self._seconds = dict(seconds or {})
        self._names = tuple(parameter.name for parameter in kernel.params)
        self._variants = Variants(kernel, provider, options, plan)
        self._fixed = plan
        self._launches = launch.Launches(kernel)
        self._outs = QuickOuts(kernel)
        self._latest: Fitting | None = None
        self._forget_calls()

    def _forget_calls(self) -> None:
        """Check every call anew: what is known of calls names variants that may not be theirs any more."""
        self._fittings = Fittings(self.kir, self.provider, self._variants)
        self._quick = Quick(self.kir)

    def __repr__(self) -> str:
        return f"<artifact {self.name}({', '.join(self._names)}) for provider '{self.provider.name}'>"

    @property
    def name(self) -> str:
        """The kernel's name."""
        return self.kir.name

    @property
    def variant(self) -> Variant:
        """The variant of the latest launch."""
        return self._latest.variant if self._latest is not None else self._variants.initial

    @property
    def plan(self) -> Plan:
        """The plan of the latest launch."""
        return self.variant.plan

    @property
    def program(self) -> Program:
        """The verified physical program of the latest launch; ``print`` shows it."""
        return self.variant.program

    @property
    def source(self) -> str:
        """The text that the provider emitted for the latest launch. Raises CapabilityError."""
        return self.variant.source.text

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        """Launch once with every runtime parameter: views and scalars in the kernel's order, or by name.

        Runs on the arguments' device and the caller's current stream, and does not wait for it. Every launch
        condition is checked first; an error leaves all arrays as they were. What only the layout of GPU arrays
        decides is checked (and ``INTENT_EXECUTION`` read) at the first launch of that layout.
        """
        if kwargs:
            given = bind_named(self.kir, self._names, args, kwargs)
            args = tuple(given[name] for name in self._names)
        known = self._quick.call(args)
        if known is None:
            self._launch(args)
        else:
            self._latest = known[0]

    def _launch(self, args: Sequence[Any]) -> None:
        """Launch a call that is not known, and remember it where that helps."""
        checked = self._checked(args, {})
        settled = self._launches.once(checked)
        if settled is not None and not (self._fittings.flagged or checked.fitting.in_place):
            scalars = settled.assumes.intersection(checked.bound.scalars) | {*self._fittings.scalars}
            self._quick.learn(args, checked, settled.start, scalars)

    def prepare(self, *args: Any, **kwargs: Any) -> launch.Prepared:
        """Check a call and build it without launching: the result relaunches with ``()``, for hot loops."""
        return launch.Prepared(self._launches, self._checked(args, kwargs))

    def _checked(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> launch.Checked:
        """Bind and check a call with every argument, and remember its variant as the latest."""
        given = bind_named(self.kir, self._names, args, kwargs)
        checked = launch.check(self.kir, self.provider, self._fittings, given)
        self._latest = checked.fitting
        return checked

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Launch once with the inputs (In, InOut, scalars; in order or by name) and return the new Outs.

        The Outs are allocated by the library and on the device of the inputs: one is returned bare, several
        as a tuple in the kernel's order, none as None.

        Raises:
            UndeterminedOut: The extents of an Out do not follow from the inputs.
        """
        if kwargs:
            names = outputs.input_names(self.kir)
            given = bind_named(self.kir, names, args, kwargs, "run")
            args = tuple(given[name] for name in names)
        made = self._outs.allocate(args)
        if made is None:
            made = self._allocate(args)
        self(*self._outs.all_of(args, made))
        return made[0] if len(made) == 1 else (tuple(made) or None)

    def _allocate(self, args: Sequence[Any]) -> list[Any]:
        """The Outs of inputs whose layout is not known, which is then remembered."""
        on_gpu = devices.runs_on_gpu(self.provider)
        inputs = bind(self.kir, bind_named(self.kir, outputs.input_names(self.kir), args, {}, "run"))
        library = devices.library_of(inputs.arrays.values(), on_gpu=on_gpu)
        device = conditions.check_devices(inputs, on_gpu=on_gpu)
        layouts = outputs.out_layouts(self.kir, inputs, library, device)
        if on_gpu:
            self._outs.learn(args, layouts, library)
        return [library.empty(*layout) for layout in layouts]

    def build(self, target: str | None = None) -> Binary:
        """Compile the current variant natively for ``target`` (for example ``sm_90``); needs no GPU.

        Raises:
            OptionError: Neither this call nor the compilation names a target; a target is a name.
            BuildFailure, MissingToolkit, CapabilityError: The provider cannot build it.
        """
        chosen = target or self.target
        if not isinstance(chosen, str):
            raise OptionError(
                "target", chosen, allowed="the names of the provider's targets, such as 'sm_90'"
            )
        return self.provider.build(self.variant.source, chosen)

    def tune(self, *args: Any, count: int = 24, **kwargs: Any) -> Tuning:
        """Measure up to ``count`` plans on a call with every argument, and use the fastest from now on.

        It is used for calls whose extents are like these (:func:`intent.runtime.variants.bucket`) and satisfy its
        guards; :meth:`save` keeps it. The written arrays hold afterwards what they held before. Waits for the
        device; each plan is built, so this takes seconds or minutes.

        Raises:
            PlanError: The artifact has one fixed plan, or no plan could be measured.
            IntentError: The call violates a launch condition.
        """
        if self._fixed is not None:
            raise PlanError("the artifact was compiled with one plan, so there is nothing to choose from")
        checked = self._checked(args, kwargs)
        plans = candidates(
            self._variants.analysis,
            self._variants.capabilities,
            checked.fitting.extents,
            self.provider.knobs(),
            count,
        )
        found = tune(checked, plans, lambda plan: self._with(plan).prepare(*args, **kwargs))
        self._variants.prefer(found.plan, checked.fitting.env)
        self._forget_calls()
        self._checked(args, kwargs)
        return found

    def _with(self, plan: Plan) -> Artifact:
        return Artifact(self.kir, self.provider, options=self.options, target=self.target, plan=plan)

    def remember(self, tuned: Mapping[Bucket, Plan]) -> None:
        """Prefer plans that tuning chose for another artifact of this kernel, by class of extents."""
        self._variants.remember(tuned)
        self._forget_calls()

    def save(self, folder: str | Path) -> Path:
        """Write the artifact to a folder, which is made if need be; :func:`intent.load` reads it.

        The logical kernel, the options and the plans that tuning chose are kept, so the author's Python source is not
        needed where it is loaded. Native builds are made again there. Raises OSError.
        """
        saved = Saved(
            kernel=self.kir,
            provider=self.provider.name,
            options=self.options,
            target=self.target,
            plan=self._fixed,
            tuned=self._variants.tuned,
        )
        try:
            source = self.variant.source
        except CapabilityError:
            source = None
        write(Path(folder), saved, self.provider, self.program, source)
        return Path(folder)

    def as_torch_op(self, name: str) -> Any:
        """Register the kernel with torch as the operator ``namespace::name``, and give it.

        The operator takes what :meth:`run` takes, in the same order, and returns the new Outs; InOuts are declared as
        mutated. ``torch.compile`` and ``torch.export`` see their shapes without running the kernel. It has no
        gradient of its own: ``register_autograd`` of the result adds one.

        Raises:
            OptionError: The name is not of the form ``namespace::name``.
            UndeterminedOut: The extents of an Out do not follow from the inputs.
            NotSupportedYet: Nobody has imported torch.
        """
        return torch_operator(name, self.kir, self.run)

    def publish_source(self) -> Path:
        """Write the emitted text to a file named by its content, for debuggers and profilers."""
        return cache.publish(self.variant.source)

    def explain(self, *, format: Form = "text", extents: Mapping[str, int] | None = None) -> str:  # noqa: A002
        """What was constructed and why: text, a JSON document, or one HTML page that needs nothing else.

        It is about the variant and the extents of the latest launch; with ``extents``, by name, about the variant
        that a launch with these extents would run. :mod:`intent.explain` documents the forms.

        Raises:
            OptionError: There is no such format, or ``extents`` does not bind exactly the kernel's extents.
            PlanError: The artifact has one fixed plan, whose guards ``extents`` violates.
        """
        return rendered(self.report(extents), format)

    def report(self, extents: Mapping[str, int] | None = None) -> Report:
        """What :meth:`explain` renders, as typed data; it raises the same errors."""
        variant, env = self.variant, self._latest.env if self._latest is not None else None
        if extents is not None:
            env = bound_extents(self.kir, extents)
            variant = self._variants.select(env)
        return report(self.kir, self.provider, self._variants, variant, env, self._seconds)
