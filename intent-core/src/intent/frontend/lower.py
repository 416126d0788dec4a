"""From a kernel's definition to frozen KIR."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace

from intent.diagnostics import ReturnsTensor, UnsupportedSyntax
from intent.frontend.builder import Builder
from intent.frontend.cleanup import drop_dead, used_domains
from intent.frontend.expressions import EXPRESSIONS
from intent.frontend.liveness import assigned
from intent.frontend.lowering import Lowering
from intent.frontend.normalise import is_none, returns_of
from intent.frontend.scope import wrap
from intent.frontend.statements import STATEMENTS
from intent.frontend.uniqueness import promised_points
from intent.frontend.unwritten import refuse_unwritten
from intent.frontend.values import CarryKey, FrontValue, Tensor, ViewRef
from intent.kir import Kernel, KernelID, ScalarParam, View
from intent.kir.verify import verify
from intent.language import KernelDefinition, Param
from intent.types import DType
from intent.types.extent import const, scalar, symbol
from intent.types.span import UNKNOWN


def lower(
    definition: KernelDefinition[...],
    constexprs: Mapping[str, object] | None = None,
    *,
    races: bool = False,
) -> Kernel:
    """The logical kernel that a definition means for these constexpr values (spec: kernel-and-host 1, 4).

    ``races``: points of parallel loops that provably conflict are left in, for the sanitizer to show them.
    Raises the errors of :mod:`intent.diagnostics` at the author's line; VerificationError is a fault of the compiler.
    """
    constants = definition.signature.bind_constexprs(constexprs)
    _refuse_results(definition)
    later: dict[CarryKey, DType] = {}
    while True:
        builder = Builder()
        builder.races, builder.later = races, later
        kernel = _lowered(builder, definition, constants)
        if builder.expected.keys() <= later.keys():  # nothing new: each round settles at least one carry
            verify(kernel)
            return kernel if races else _with_promises(kernel)
        later = {**later, **builder.expected}


def _with_promises(kernel: Kernel) -> Kernel:
    """The kernel with what its parallel points promise. Raises CollidingWrites where points surely meet."""
    return replace(kernel, assumptions=(*kernel.assumptions, *promised_points(kernel)))


def _lowered(builder: Builder, definition: KernelDefinition[...], constants: Mapping[str, object]) -> Kernel:
    """One lowering, in which ``builder`` may note what later uses expect of literals carried by loops."""
    builder.open()
    names: dict[str, FrontValue] = {}
    params: list[View | ScalarParam] = []
    for param in definition.signature.params:
        if param.kind == "constexpr":
            names[param.name] = wrap(constants[param.name], param.name, param.span or UNKNOWN)
        else:
            made, names[param.name] = _parameter(builder, param)
            params.append(made)
    lowering = Lowering(builder, EXPRESSIONS, STATEMENTS)
    lowering.run(definition, names)
    bounds = {info.id: builder.bounds_of(info.id) for info in builder.domains}
    _refuse_rebound(definition, params, builder.written)
    closed = builder.close()
    if not builder.races:
        refuse_unwritten(closed, builder.defs)
    body = drop_dead(closed, bounds)
    return Kernel(
        name=KernelID(definition.name),
        params=tuple(params),
        body=body,
        domains=used_domains(body, builder.domains),
        conditions=tuple(builder.conditions),
        assumptions=tuple(builder.assumptions),
        constexprs=tuple((n, repr(v)) for n, v in {**constants, **lowering.captured}.items()),
        span=definition.source.definition_span,
    )


def _parameter(builder: Builder, param: Param) -> tuple[View | ScalarParam, FrontValue]:
    """One run-time parameter and what its name stands for."""
    span, dtype = param.span or UNKNOWN, param.dtype
    assert dtype is not None
    if param.kind == "scalar":
        value = builder.argument(dtype, (), param.name)
        builder.parameters[value.id] = param.name
        extent = scalar(param.name) if dtype.is_integer else None
        return ScalarParam(name=param.name, value=value, span=span), Tensor(value=value, extent=extent)
    assert param.mode is not None
    promises = param.constraints
    view = View(
        name=param.name,
        dtype=dtype,
        shape=tuple(symbol(e) if isinstance(e, str) else const(e) for e in param.shape or ()),
        mode=param.mode,
        strides=promises.strides if promises else None,
        alias=promises.alias if promises else None,
        noalias=bool(promises and promises.noalias),
        span=span,
    )
    if view.noalias:
        with builder.at(span):
            builder.assume("noalias", f"'{view.name}' overlaps no other view")
    return view, ViewRef(view=view)


def _refuse_results(definition: KernelDefinition[...]) -> None:
    """A kernel writes its results; it returns none (spec: kernel-and-host 1)."""
    for node in returns_of(definition.source.tree.body):
        if node.value is not None and not is_none(node.value):
            raise ReturnsTensor(definition.name, span=definition.source.span(node))


def _refuse_rebound(
    definition: KernelDefinition[...], params: Sequence[View | ScalarParam], written: Container[str]
) -> None:
    """``y = value`` binds a name and writes nothing; where nothing else writes the view, it was meant to."""
    idle = {p.name for p in params if isinstance(p, View) and p.mode != "in" and p.name not in written}
    for name, stmt in assigned(definition.source.tree.body).items():
        if name in idle:
            raise UnsupportedSyntax(
                f"'{name} = ...' for a view that nothing writes",
                fix=f"write its elements: {name}[...] = value",
                span=definition.source.span(stmt),
            )
