"""``intent.check``: the sanitizer on the arguments of a call, whatever library they are of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from intent.diagnostics import ArgumentKind, IntentError, LaunchCondition
from intent.kir.kernel import Kernel
from intent.kir.value import View
from intent.language.definitions import KernelDefinition
from intent.reference.sanitizer import Report, check_kernel
from intent.reference.sanitizer.check import ROUNDS
from intent.runtime.arguments import Bound, bind, bind_named
from intent.runtime.array import Array, memory_of
from intent.runtime.compile import lowered
from intent.runtime.conditions import check_conditions, check_memory
from intent.runtime.extents import Environment, bind_extents
from intent.runtime.libraries import NUMPY
from intent.runtime.outputs import allocate_outs, input_names
from intent.runtime.overlap import check_overlap, writable_pairs

__all__ = ["check"]


def check(
    kernel: KernelDefinition[Any] | Kernel,
    *args: Any,
    constexprs: Mapping[str, Any] | None = None,
    seed: int = 0,
    rounds: int = ROUNDS,
) -> Report:
    """Run a kernel on copies of ``args`` in checking mode and report every rule that it breaks.

    The kernel runs on the CPU, several times: once with the plainest choices and ``rounds - 1`` times with others
    that the language allows, drawn from ``seed`` (orders of parallel points, reduction trees, segments). Compiles
    nothing, and writes to none of the arguments. Finds what happens on these arguments, not what could happen on
    others.

    Args:
        kernel: A function decorated with ``@intent.kernel``, or a kernel of the logical IR.
        args: Every runtime parameter in the kernel's order, or only the inputs (In, InOut and scalars).
        constexprs: Values of the Constexpr parameters by name.
        seed: Where the random choices start; the same seed finds the same.
        rounds: How many evaluations.

    Returns:
        The report; it is false, and empty, when nothing was found.

    Raises:
        IntentError: The kernel cannot be compiled, or the arguments do not fit its parameters.
    """
    logical = lowered(kernel, constexprs or {}, races=True)
    given = _given(logical, args)
    bound = bind(logical, given)
    on_cpu = {name: _host(array) for name, array in bound.arrays.items()}
    bound = Bound(arrays=on_cpu, scalars=bound.scalars)
    env = bind_extents(logical, bound)
    check_memory(logical, bound)
    for written, other in writable_pairs(logical):
        # Whether the very same elements may be given twice depends on a plan; the check meets the races itself.
        check_overlap(written, other, on_cpu[written.name], on_cpu[other.name], may_share=lambda *_: True)
    checked, refused = _conditions(logical, env, bound.scalars)
    values = [
        _numpy(p, on_cpu[p.name]) if isinstance(p, View) else bound.scalars[p.name] for p in logical.params
    ]
    return check_kernel(checked, values, seed=seed, rounds=rounds, refused=refused)


def _conditions(
    kernel: Kernel, env: Environment, scalars: Mapping[str, object]
) -> tuple[Kernel, list[IntentError]]:
    """The kernel with the launch conditions that hold, and the errors of the others.

    A launch with these arguments is refused. Running without the condition often shows what would happen.
    """
    held, refused = [], []
    for condition in kernel.conditions:
        try:
            check_conditions(replace(kernel, conditions=(condition,)), env, scalars)
        except LaunchCondition as error:
            refused.append(error)
        else:
            held.append(condition)
    return replace(kernel, conditions=tuple(held)), list(refused)


def _given(kernel: Kernel, args: tuple[Any, ...]) -> dict[str, Any]:
    """Arguments by name; Outs that are left out are allocated on the CPU."""
    names = [p.name for p in kernel.params]
    inputs = input_names(kernel)
    if len(args) == len(names) or len(args) != len(inputs):
        return bind_named(kernel, names, args, {})
    given = bind_named(kernel, inputs, args, {})
    return given | allocate_outs(kernel, bind(kernel, given), NUMPY, "cpu")


def _host(array: Array) -> Array:
    """The array itself, or a copy of a GPU's in the CPU's memory."""
    if array.device == "cpu":
        return array
    owner: Any = array.owner
    if hasattr(owner, "get"):
        copy = NUMPY.recognize(owner.get())
    elif hasattr(owner, "cpu"):
        from intent.runtime.foreign import recognize

        copy = recognize(owner.cpu())
    else:
        copy = None
    if copy is None:
        raise ArgumentKind("args", expected="an array of numpy, torch or CuPy", found=owner)
    return copy


def _numpy(view: View, array: Array) -> NDArray[Any]:
    owner = array.owner
    return owner if isinstance(owner, np.ndarray) else memory_of(array, view.dtype.numpy)
