"""What emission hands to build, launch and emulation: the text, the kernel's arguments, and the layout it is for.

The text is one file. Its parts, in this order::

    // softmax, made by Intent                         a comment
    // layout: ...                                     the layout block, from LAYOUT_BEGIN to LAYOUT_END
    typedef int Index;                                   int, or long long where int cannot be proven to do
    constexpr Index x_stride_1 = 1;                      each stride that is 1
    constexpr bool x_stride_1_is_one = true;             whether a stride is 1, where the text asks
    constexpr int x_divisor = 16;                        each divisor that the text asks for
    // end of layout
    ...                                                 parts of the prelude that the text uses
    extern "C" __global__ void __launch_bounds__(128) softmax(
        const float* x,
        Index x_stride_0,
        Index /* x_stride_1 */,                           a stride that is 1 is passed and not read
        Index M) {

A build for other arguments is the same text with another layout block (:func:`specialised`); what depends on the layout
is written as ``if constexpr (x_divisor >= 16 && x_stride_1_is_one && ...)`` or through templates of such constants.

Rules that launch and emulation rely on:

- The grid is one-dimensional and exactly as long as the program space; the block has ``threads`` threads.
- All shared memory is ``it_shared`` (an array of ``shared_bytes`` bytes, aligned to 1024, declared by the prelude); the
  text cuts it into pieces by pointers of constant offset.
- Global and shared memory are touched only through functions of the prelude that take the base pointer (the
  argument itself for a view or a workspace buffer, the piece for shared memory) and an index; emulation checks bounds
  and races there.
- Barriers are ``__syncthreads()`` and ``__syncwarp()``; shuffles and votes are the prelude's, with a constant
  mask.
- A name that starts with ``it_`` or ``IT_`` is the prelude's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from intent.provider import emission

__all__ = [
    "C_TYPES", "LAYOUT_BEGIN", "LAYOUT_END", "Emitted", "Layout", "Parameter", "Signature", "default_layout",
    "foldable", "layout_block", "parameter_list", "specialised",
]  # fmt: skip

LAYOUT_BEGIN: Final = "// layout: what this build knows of its arguments"
LAYOUT_END: Final = "// end of layout"

C_TYPES: Final = {
    "bool": "bool", "i8": "signed char", "i16": "short", "i32": "int", "i64": "long long", "index": "Index",
    "u8": "unsigned char", "u16": "unsigned short", "u32": "unsigned", "u64": "unsigned long long",
    "f16": "it_f16", "bf16": "it_bf16", "f32": "float", "f64": "double",
    "f8e4m3fn": "it_f8e4m3fn", "f8e5m2": "it_f8e5m2",
}  # fmt: skip
"""C++ type of an element of each dtype, in memory and in registers. Views of ``index`` hold ``long long``."""


@dataclass(frozen=True, kw_only=True)
class Parameter(emission.Parameter):
    """One argument of the emitted kernel.

    ``index``: its C++ type is Index, whose width the layout decides.
    ``divisor``: the name of the layout's constant that divides it (a pointer: its address in bytes), or "";
    ``steps``: the powers of two with which the text compares that constant, ascending.
    ``unit``: the name of the layout's constant that says whether the stride is 1, or "".
    """

    divisor: str = ""
    steps: tuple[int, ...] = ()
    unit: str = ""

    @property
    def type(self) -> str:
        """Its C++ type as written."""
        if self.index:
            return "Index"
        if self.kind == "scalar":
            return C_TYPES[self.dtype]
        element = "long long" if self.dtype == "index" else C_TYPES[self.dtype]
        return f"{'const ' if self.read_only else ''}{element}*"


@dataclass(frozen=True, kw_only=True)
class Signature(emission.Signature[Parameter]):
    """All arguments in order, and how many threads and shared bytes a block has."""

    threads: int
    shared_bytes: int = 0


@dataclass(frozen=True, kw_only=True)
class Emitted:
    """The text for the default layout, the kernel's name in it, and its arguments."""

    text: str
    entry: str
    signature: Signature


@dataclass(frozen=True, kw_only=True)
class Layout:
    """What a build knows of its arguments: the variant key.

    ``small``: Index is int. ``ones``: emitted names of strides that are 1, of those in :func:`foldable`.
    ``divisors``: by the constant's name, the greatest step of each parameter that divides it, or 1.
    """

    small: bool = True
    ones: frozenset[str] = frozenset()
    divisors: tuple[tuple[str, int], ...] = ()


def default_layout(signature: Signature) -> Layout:
    """Contiguous row-major views at aligned addresses, extents of any size."""
    divisors = tuple(
        (p.divisor, p.steps[-1] if p.kind in ("view", "buffer") else 1)
        for p in signature.parameters
        if p.divisor
    )
    return Layout(ones=frozenset(p.emitted for p in _last(signature)), divisors=divisors)


def foldable(signature: Signature) -> list[Parameter]:
    """The strides of which a layout says whether they are 1: those that the text asks about, and each view's last."""
    last = _last(signature)
    return [p for p in signature.parameters if p.unit or p in last]


def _last(signature: Signature) -> list[Parameter]:
    """The stride of each view's last axis that has one."""
    return [signature.parameters[i] for i in signature.last_strides()]


def layout_block(signature: Signature, layout: Layout) -> list[str]:
    """The lines of the layout block, its first and last line included."""
    lines = [LAYOUT_BEGIN, f"typedef {'int' if layout.small else 'long long'} Index;"]
    lines += [f"constexpr Index {p.emitted} = 1;" for p in signature.parameters if p.emitted in layout.ones]
    lines += [
        f"constexpr bool {p.unit} = {'true' if p.emitted in layout.ones else 'false'};"
        for p in signature.parameters
        if p.unit
    ]
    lines += [f"constexpr int {name} = {value};" for name, value in layout.divisors]
    return [*lines, LAYOUT_END]


def parameter_list(signature: Signature, layout: Layout) -> list[str]:
    """The parameters as written in the kernel's head, one each; those that the layout fixes have no name."""
    return [
        f"{p.type} /* {p.emitted} */" if p.emitted in layout.ones else _declared(p)
        for p in signature.parameters
    ]


def _declared(parameter: Parameter) -> str:
    return f"{parameter.type} {parameter.emitted}"


def specialised(text: str, signature: Signature, layout: Layout) -> str:
    """The text for ``layout``, whatever layout it was for."""
    head, rest = text.split(LAYOUT_BEGIN, 1)
    _, tail = rest.split(LAYOUT_END, 1)
    kernel = tail.rindex("__global__")
    before, after = tail[:kernel], tail[kernel:]
    for p in signature.parameters:
        if p.kind == "stride":
            name = re.escape(p.emitted)
            either = rf"\bIndex (?:{name}\b|/\* {name} \*/)"
            wanted = f"Index /* {p.emitted} */" if p.emitted in layout.ones else _declared(p)
            after = re.sub(either, wanted, after, count=1)
    return head + "\n".join(layout_block(signature, layout)) + before + after
