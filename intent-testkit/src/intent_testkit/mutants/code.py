"""What a provider's text compiles to, and what that costs.

Two texts that give right results and compile to the same instructions, in whatever order, are as good as each other.

Triton and CUDA C++ compile to PTX without a GPU, cuTile to its compiler's typed IR. Names, comments, lines and the
order in which a text names its values are not part of the code.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from inspect import signature
from typing import Any, Final

from intent.physical import Program
from intent.provider.registry import registry
from intent_testkit.mutants.expense import Expense

_CAPABILITY: Final = 90
_REGISTER: Final = re.compile(r"%[a-z]+\d+|\$L_\w+|\$[\d.]+")
_KINDS: Final = {
    "barriers": re.compile(r"(bar|barrier)\b|tile_fence"),
    "accesses": re.compile(r"(ld|st|atom|red|cp|ldmatrix|stmatrix)\.(?!param)|\w*(load|store|atomic)\w*"),
    "conversions": re.compile(r"cvt\.|astype"),
    "exchanges": re.compile(r"(shfl|vote|redux)\."),
}


def said(provider: str, program: Program) -> list[Any]:
    """All that a provider's emission says of a program: texts and signatures, for each value of its flags.

    Raises CapabilityError for a program that the provider cannot spell.
    """
    emit = import_module(f"{_package(provider)}.emit").emit
    flags = [name for name, p in signature(emit).parameters.items() if p.kind is p.KEYWORD_ONLY]
    return [
        emit(program),
        *(emit(program, **{flag: not signature(emit).parameters[flag].default}) for flag in flags),
    ]


@contextmanager
def spelling(provider: str) -> Iterator[list[Program]]:
    """Inside, the programs that the provider spells are put into the list."""
    emitter = import_module(f"{_package(provider)}.emit.kernel").KernelEmitter
    made, spelled = emitter.__init__, list[Program]()

    def noted(self: Any, program: Program, *rest: Any, **flags: Any) -> None:
        spelled.append(program)
        made(self, program, *rest, **flags)

    emitter.__init__ = noted
    try:
        yield spelled
    finally:
        emitter.__init__ = made


def code_of(provider: str, program: Program) -> list[str]:
    """The instructions of the program as the provider spells it, for several layouts of its arguments.

    Raises BuildFailure if its compiler refuses the text, MissingToolkit without the compiler.
    """
    return [line for listing in _LISTINGS[provider](program) for line in _instructions(listing)]


def unordered(code: list[str]) -> Expense:
    """How often each instruction is there, whatever its registers are called."""
    names = {name for line in code for name in re.findall(r"([\w.$]+): ", line)}
    return Counter(
        re.sub(r"[$%]?[\w.$]+", lambda m: "%" if m[0] in names or _REGISTER.fullmatch(m[0]) else m[0], line)
        for line in code
    )


def price(code: list[str]) -> Expense:
    """Barriers, accesses to memory, conversions, exchanges between lanes, and all instructions."""
    found = Counter(instructions=len(code))
    for line in code:
        for kind, pattern in _KINDS.items():
            found[kind] += pattern.search(line) is not None
    return found


def dearer_only(made: Expense, right: Expense) -> list[str]:
    """What there is more of, if there is less of nothing; else nothing."""
    kinds = {*made, *right}
    if any(made[kind] < right[kind] for kind in kinds):
        return []
    return sorted(kind for kind in kinds if made[kind] > right[kind])


def _package(provider: str) -> str:
    return type(registry().get(provider)).__module__.split(".")[0]


def _instructions(listing: str) -> Iterator[str]:
    """Lines that do something, without places in the source."""
    for line in listing.split("\n\t.section", maxsplit=1)[0].splitlines():
        text = re.sub(r"//.*", "", line).strip()
        if text and not re.match(
            r"\.(loc|file|version|target|address_size|global)\b|\$L__(tmp|func)\w*:", text
        ):
            yield text


def _cupy(program: Program) -> Iterator[str]:
    from intent_provider_cupy.build import build
    from intent_provider_cupy.emit.interface import Layout, default_layout, foldable, specialised

    source = registry().get("cupy").serialize(program)
    (emitted,) = said("cupy", program)
    known = emitted.signature
    best = Layout(
        ones=frozenset(p.emitted for p in foldable(known)),
        divisors=tuple((p.divisor, p.steps[-1]) for p in known.parameters if p.divisor),
    )
    worst = Layout(small=False, divisors=tuple((p.divisor, 1) for p in known.parameters if p.divisor))
    for layout in (default_layout(known), best, worst):
        text = specialised(source.text, known, layout)
        yield build(replace(source, text=text), f"sm_{_CAPABILITY}a").listing


def _triton(program: Program) -> Iterator[str]:
    from intent_provider_triton.build import Layout, compiled, default_layout

    source = registry().get("triton").serialize(program)
    (emitted,) = said("triton", program)
    for layout in (default_layout(emitted.signature), Layout(small=False)):
        yield compiled(source, emitted.signature, layout, _CAPABILITY).asm["ptx"]


def _cutile(program: Program) -> Iterator[str]:
    from cuda.tile import _compile, compilation

    from intent_provider_cutile.build import BYTECODE_VERSION, Layout, _signature, default_layout, specialised
    from intent_provider_cutile.toolkit import kernel_of, tile_module

    module = tile_module()
    for emitted in said("cutile", program):
        best = default_layout(emitted.signature)
        for layout in (best, Layout(small=False)):
            text = specialised(emitted.text, emitted.signature, layout)
            kernel, _ = kernel_of(text, emitted.entry)
            made = _compile.compile_tile(
                kernel._annotated_function,  # noqa: SLF001 -- only the compiler's own function gives its IR
                [_signature(module, compilation, emitted.signature, layout, emitted.entry)],
                compiler_options=kernel._compiler_options,  # noqa: SLF001 -- as above
                bytecode_version=_compile.parse_bytecode_version(BYTECODE_VERSION),
                return_final_ir=True,
                return_cubin=False,
            )
            lines = [repr(kernel._compiler_options), *(ir.to_string() for ir in made.final_ir)]  # noqa: SLF001 -- as above
            yield "\n".join(lines)


_LISTINGS: Final[dict[str, Callable[[Program], Iterator[str]]]] = {
    "cupy": _cupy,
    "triton": _triton,
    "cutile": _cutile,
}
