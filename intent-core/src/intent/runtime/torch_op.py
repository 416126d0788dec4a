"""A kernel as an operator of torch, for ``torch.compile``, ``torch.export`` and autograd."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from typing import Any, Final

from intent.diagnostics import NotSupportedYet, OptionError, UndeterminedOut
from intent.kir.kernel import Kernel
from intent.kir.value import ScalarParam, View
from intent.runtime.libraries import TorchLibrary
from intent.runtime.outputs import input_names, outs
from intent.types.extent import Atom, Scalar, Symbol

__all__ = ["schema", "torch_operator"]

_NAME: Final = re.compile(r"[A-Za-z_]\w*::[A-Za-z_]\w*")


def torch_operator(name: str, kernel: Kernel, run: Callable[..., Any]) -> Any:
    """Register ``run`` as the operator ``name``; see :meth:`Artifact.as_torch_op`."""
    if _NAME.fullmatch(name) is None:
        raise OptionError("name", name, allowed="a namespace and a name, such as 'mine::softmax'")
    _require_determined(kernel)
    torch: Any = sys.modules.get("torch")
    if torch is None:
        raise NotSupportedYet("registering an operator before torch is there", fix="import torch first")
    written = {view.name for view in kernel.views if view.mode == "inout"}

    def launch(*args: Any) -> Any:
        return run(*args)

    operator = torch.library.custom_op(name, launch, mutates_args=written, schema=schema(kernel))
    operator.register_fake(lambda *args: _fake(torch, kernel, args))
    return operator


def schema(kernel: Kernel) -> str:
    """The operator's parameters and results in torch's notation."""
    taken = {p.name: p for p in kernel.params}
    letters = iter("abcdefghijklmnopqrstuvwxyz")
    parameters = ", ".join(_parameter(taken[name], letters) for name in input_names(kernel))
    results = ["Tensor"] * len(outs(kernel))
    return f"({parameters}) -> {results[0] if len(results) == 1 else '(' + ', '.join(results) + ')'}"


def _parameter(parameter: View | ScalarParam, letters: Any) -> str:
    if isinstance(parameter, View):
        mutated = f"({next(letters)}!)" if parameter.mode == "inout" else ""
        return f"Tensor{mutated} {parameter.name}"
    dtype = parameter.value.dtype
    return f"{'float' if dtype.is_float else 'bool' if dtype.kind == 'bool' else 'int'} {parameter.name}"


def _require_determined(kernel: Kernel) -> None:
    """Raise UndeterminedOut for an Out whose extents no input has."""
    known = {a for view in kernel.views if view.mode != "out" for e in view.shape for a in e.atoms()}
    for view in outs(kernel):
        unknown = {str(a) for e in view.shape for a in e.atoms() if isinstance(a, Symbol) and a not in known}
        if unknown:
            raise UndeterminedOut(view.name, shape=view.shape, unknown=sorted(unknown), span=view.span)


def _fake(torch: Any, kernel: Kernel, args: tuple[Any, ...]) -> Any:
    """New Outs of the right shapes and dtypes on the inputs' device, whose extents may be symbolic."""
    given = dict(zip(input_names(kernel), args, strict=True))
    env = _extents(kernel, given)
    device = next((given[v.name].device for v in kernel.views if v.name in given), "cpu")
    library = TorchLibrary(torch)
    made = [
        torch.empty(
            tuple(extent.evaluate(env) for extent in view.shape),
            dtype=library.dtype(view.dtype),
            device=device,
        )
        for view in outs(kernel)
    ]
    return made[0] if len(made) == 1 else (tuple(made) or None)


def _extents(kernel: Kernel, given: Mapping[str, Any]) -> dict[Atom, Any]:
    env: dict[Atom, Any] = {}
    for parameter in kernel.params:
        if isinstance(parameter, ScalarParam):
            env[Scalar(parameter.name)] = given[parameter.name]
        elif parameter.name in given:
            for extent, size in zip(parameter.shape, given[parameter.name].shape, strict=True):
                for atom in extent.atoms():
                    env[atom] = size  # the extent of a view is one symbol or a number
    return env
