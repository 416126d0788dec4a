"""Variants of an artifact: one build of one plan, and the choice of the variant that a launch runs.

A variant whose guard a launch violates is never launched. Extents fall into buckets; inside a bucket that
has a variant whose guards hold, a new shape compiles nothing.
"""

from __future__ import annotations

import hashlib
import threading
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeAlias

from intent.construct import Analysis, analyze, construct
from intent.construct.plan import Plan
from intent.diagnostics import NotSupportedYet, PlanError, VerificationError
from intent.kir.kernel import Kernel
from intent.kir.snapshot import can_copy, with_copies
from intent.passes import finish, refine
from intent.physical import Program
from intent.physical.verify import verify
from intent.planning import default_plan, formed, minimal_plan
from intent.provider import Capabilities, Launcher, Provider, Source
from intent.provider.lanes import require_lanes
from intent.runtime.cache import Memory, kernel_key
from intent.runtime.conditions import violated_guards
from intent.runtime.extents import launch_atoms, named
from intent.runtime.in_place import same_storage_ok
from intent.runtime.options import CompileOptions
from intent.runtime.timing import stage
from intent.types.extent import Atom

__all__ = ["Bucket", "Variant", "Variants", "bucket"]

Bucket: TypeAlias = tuple[tuple[str, int, int], ...]
Pairs: TypeAlias = frozenset[tuple[str, str]]
_ALIGNED: Final = 128
"""Divisibility beyond this never changes a plan."""


@dataclass(kw_only=True, eq=False)
class Variant:
    """A verified program for one plan, its emitted text, and its launchers by device (built at first use)."""

    plan: Plan
    program: Program
    provider: Provider
    seconds: dict[str, float]
    _source: Source | None = None
    _launchers: dict[str, Launcher] = field(default_factory=dict)
    _shared: dict[tuple[str, str], bool] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)

    @property
    def source(self) -> Source:
        """The provider's text, emitted once. Raises CapabilityError for what the target lacks."""
        with self._lock:
            if self._source is None:
                require_lanes(self.program, self.provider.name, self.provider.capabilities.max_lanes)
                with stage(self.seconds, "emit"):
                    self._source = self.provider.serialize(self.program)
            return self._source

    def may_share(self, written: str, other: str) -> bool:
        """Whether the program may run with both views on the very same elements (language decision 7)."""
        known = self._shared.get((written, other))
        if known is None:
            known = self._shared[written, other] = same_storage_ok(self.program, written, other)
        return known

    def launcher(self, device: str, *, on_gpu: bool) -> Launcher:
        """What runs this variant on ``device``. A failing build is not kept: every launch raises again."""
        key = device if on_gpu else "cpu"
        with self._lock:
            found = self._launchers.get(key)
            if found is None:
                source = self.source
                with stage(self.seconds, "build"):
                    load, emulate = self.provider.load, self.provider.emulate
                    found = load(source, device) if on_gpu else emulate(source)
                self._launchers[key] = found
            return found


_VARIANTS: Final[Memory[Variant]] = Memory()
"""Every variant of the process, by the content of its kernel, its provider, options and plan."""

_VERIFIED: Final[Memory[None]] = Memory(1 << 14)
"""What was verified in this process: kernels with programs, by digests of all that they say."""


class Variants:
    """The variants of one artifact. With ``fixed`` there is one, whose guards every launch has to satisfy."""

    def __init__(
        self, kernel: Kernel, provider: Provider, options: CompileOptions, fixed: Plan | None
    ) -> None:
        self._kernel = kernel
        self._provider = provider
        self._analyze_seconds: dict[str, float] = {}
        self._plan_seconds: dict[str, float] = {}
        with stage(self._analyze_seconds, "analyze"):
            self._analysis = analyze(kernel)
        self._key = (kernel_key(kernel), provider, options)
        self._fixed = fixed = fixed and formed(fixed, self._analysis, provider.capabilities)
        self._permissions = options.permissions
        self._buckets: dict[Bucket, list[Variant]] = {}
        self._tuned: dict[Bucket, Plan] = {}
        self._in_place: dict[Pairs, Variants | None] = {}
        self._lock = threading.RLock()
        self.initial = self.variant(fixed) if fixed is not None else self._first((self._plan(None),), None)
        self._atoms = frozenset(launch_atoms(kernel))

    @property
    def capabilities(self) -> Capabilities:
        """What planning reads: the provider's capabilities, with the tiles that the options permit."""
        found = self._provider.capabilities
        return replace(found, plans=found.plans.splitting()) if self._permissions.split else found

    def copies(self, written: str, other: str) -> bool:
        """Whether there are variants that copy what they read where both views are the same elements."""
        return self._fixed is None and can_copy(self._kernel, [(written, other)])

    def in_place(self, pairs: Pairs) -> Variants | None:
        """The variants for calls in which these (written, read) views are the same elements; None without any.

        What is read is copied first (:mod:`intent.kir.snapshot`).
        """
        with self._lock:
            if pairs not in self._in_place:
                possible = self._fixed is None and can_copy(self._kernel, pairs)
                self._in_place[pairs] = (
                    Variants(with_copies(self._kernel, sorted(pairs)), self._provider, self._key[2], None)
                    if possible
                    else None
                )
            return self._in_place[pairs]

    @property
    def analysis(self) -> Analysis:
        """What is known about the kernel before a plan."""
        return self._analysis

    @property
    def known(self) -> tuple[Variant, ...]:
        """The variants that this artifact has used so far, each once, the initial one first."""
        with self._lock:
            used = [self.initial, *(v for known in self._buckets.values() for v in known)]
        return tuple(dict.fromkeys(used))

    def variant(self, plan: Plan) -> Variant:
        """The variant of a plan: constructed and verified here, unless the process has it already.

        Raises:
            PlanError: The plan does not fit the kernel.
            VerificationError: The program breaks a rule (a fault of the compiler).
        """
        return _VARIANTS.get((*self._key, plan), lambda: self._construct(plan))

    def select(self, env: Mapping[Atom, int]) -> Variant:
        """The variant for a launch with these extents.

        Raises:
            PlanError: The artifact has a fixed plan, and this launch violates one of its guards.
        """
        if self._fixed is not None:
            self._require(self.initial, env)
            return self.initial
        key = self._bucket(env)
        with self._lock:
            known = self._buckets.setdefault(key, [])
            for variant in known:
                if not violated_guards(variant.program, env):
                    return variant
            chosen = self._choose(key, env)
            known.append(chosen)
            return chosen

    def _bucket(self, env: Mapping[Atom, int]) -> Bucket:
        return bucket({atom: value for atom, value in env.items() if atom in self._atoms})

    def prefer(self, plan: Plan, env: Mapping[Atom, int]) -> None:
        """Use a plan from now on for launches with extents like these, where its guards hold."""
        with self._lock:
            key = self._bucket(env)
            self._tuned[key] = plan
            self._buckets[key] = [self.variant(plan)]

    @property
    def tuned(self) -> dict[Bucket, Plan]:
        """The preferred plans, by the class of extents that they are for."""
        with self._lock:
            return dict(self._tuned)

    def remember(self, tuned: Mapping[Bucket, Plan]) -> None:
        """Prefer the plans that another artifact of this kernel preferred."""
        with self._lock:
            self._tuned.update(tuned)
            self._buckets.clear()

    def _choose(self, key: Bucket, env: Mapping[Atom, int]) -> Variant:
        """The preferred plan; else the default one for these extents, the one for unknown ones, the spec's initial."""
        preferred = (self._tuned[key],) if key in self._tuned else ()
        return self._first((*preferred, *self._defaults(env)), env)

    def _first(self, plans: Iterable[Plan], env: Mapping[Atom, int] | None) -> Variant:
        """The first plan that fits the kernel and this launch, else the spec's initial one.

        Raises:
            NotSupportedYet: No plan fits; the place is that of the value which has none.
            VerificationError: The program of the initial plan breaks a rule, too (a fault of the compiler).
        """
        for plan in plans:
            try:
                variant = self.variant(plan)
            except PlanError:  # the planner's wish; what is slower and fits is better than nothing
                continue
            except VerificationError as error:
                text = f"the planned program of kernel '{self._kernel.name}' is refused; the initial one runs: {error}"
                warnings.warn(text, RuntimeWarning, stacklevel=2)
                continue
            if env is None or not violated_guards(variant.program, env):
                return variant
        known = None if env is None else named(env)
        try:
            fallback = self.variant(minimal_plan(self._analysis, self._provider.capabilities, known))
        except PlanError as error:
            raise NotSupportedYet(
                f"this kernel, of which no plan can be made ({error.reason}),",
                fix="give values extents that arguments bound, such as a part of a view: x[0:n]",
                span=error.span or self._kernel.span,
            ) from error
        if env is not None:
            self._require(fallback, env)
        return fallback

    def _defaults(self, env: Mapping[Atom, int]) -> Iterator[Plan]:
        yield self._plan(named(env))
        yield self.initial.plan

    def _plan(self, extents: Mapping[str, int] | None) -> Plan:
        with stage(self._plan_seconds, "plan"):
            return default_plan(self._analysis, self.capabilities, extents)

    def _construct(self, plan: Plan) -> Variant:
        seconds = self._analyze_seconds | self._plan_seconds
        self._plan_seconds.clear()
        with stage(seconds, "construct"):
            constructed = construct(self._kernel, plan, self._analysis)
        with stage(seconds, "passes"):
            refined = refine(constructed, replace(self._permissions, online=plan.online, peel=plan.peel))
            program = finish(refined, self._provider.capabilities, planes=plan.planes)
        with stage(seconds, "verify"):
            self._verify(refined)
            if program is not refined:
                verify(program)
        return Variant(plan=plan, program=program, provider=self._provider, seconds=seconds)

    def _verify(self, program: Program) -> None:
        """Verify a program beside the kernel, unless that was done for another provider or another plan."""
        text = repr(replace(program, knobs=()))
        key = (self._key[0], hashlib.sha256(text.encode()).hexdigest())
        _VERIFIED.get(key, lambda: verify(program, self._kernel))

    def _require(self, variant: Variant, env: Mapping[Atom, int]) -> None:
        for guard, value in violated_guards(variant.program, env):
            raise PlanError(
                f"this call violates its guard '{guard}': {guard.extent} is {value}",
                plan=variant.plan,
                span=self._kernel.span,
            )


def bucket(env: Mapping[Atom, int]) -> Bucket:
    """The class of shapes that share plans: per extent its size class and the power of two dividing it."""
    return tuple(sorted((str(atom), _size_class(value), _divisor(value)) for atom, value in env.items()))


def _size_class(value: int) -> int:
    """0 for 0, k for (2**(k-2), 2**(k-1)]; negative values mirror."""
    return (value - 1).bit_length() + 1 if value > 0 else -(-value).bit_length()


def _divisor(value: int) -> int:
    """The largest power of two that divides the value, up to the bound that plans look at."""
    return min(value & -value, _ALIGNED) if value else _ALIGNED
