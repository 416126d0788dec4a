"""The report of an artifact: which variant it is about, and in which form it is given."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, get_args

from intent.diagnostics import CapabilityError, OptionError
from intent.explain import Built, Report, collect, document, page, text
from intent.kir.kernel import Kernel
from intent.provider import Provider
from intent.runtime.extents import Environment, launch_atoms
from intent.runtime.variants import Variant, Variants
from intent.types.extent import Atom, Scalar, Symbol

__all__ = ["Form", "bound_extents", "rendered", "report"]

Form = Literal["text", "json", "html"]
_RENDERINGS: Final = {"text": text, "json": document, "html": page}


def rendered(made: Report, form: str) -> str:
    """The report in one of its forms. Raises OptionError for another."""
    if form not in _RENDERINGS:
        raise OptionError("format", form, allowed=", ".join(repr(known) for known in get_args(Form)))
    return _RENDERINGS[form](made)


def report(
    kernel: Kernel,
    provider: Provider,
    variants: Variants,
    variant: Variant,
    env: Environment | None,
    seconds: Mapping[str, float],
) -> Report:
    """The report about ``variant`` for the extents of a launch."""
    try:
        source, refusal = variant.source, None
    except CapabilityError as error:
        source, refusal = None, str(error)
    return collect(
        Built(
            kernel=kernel,
            analysis=variants.analysis,
            plan=variant.plan,
            program=variant.program,
            provider=provider,
            source=source,
            refusal=refusal,
            env=env,
            seconds={**seconds, **variant.seconds},
            variants=tuple(
                (known.plan, known.program) for known in dict.fromkeys((*variants.known, variant))
            ),
        )
    )


def bound_extents(kernel: Kernel, extents: Mapping[str, int]) -> Environment:
    """The environment that binds every symbol and integer scalar of the kernel's extents by its name.

    Raises:
        OptionError: A name is missing or unknown, or a value is no integer.
    """
    atoms = dict.fromkeys(a for a in launch_atoms(kernel) if isinstance(a, Symbol | Scalar))
    names = {atom.name for atom in atoms}
    if set(extents) != names or not all(isinstance(value, int) for value in extents.values()):
        raise OptionError(
            "extents", dict(extents), allowed=f"an integer for each of {', '.join(sorted(names))}"
        )
    found: dict[Atom, int] = {atom: extents[atom.name] for atom in atoms}
    return found
