"""Names of the emitted text: the author's own, made unique and never one that C++ or the text itself needs."""

from __future__ import annotations

import re
from typing import Final

from intent.provider.emission import Namer

_WORDS: Final = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
    compl concept const consteval constexpr constinit const_cast continue co_await co_return co_yield decltype
    default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline
    int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
    this thread_local throw true try typedef typeid typename union unsigned using virtual void volatile wchar_t
    while xor xor_eq Index thread scratch staged
    std warpSize threadIdx blockIdx blockDim gridDim main assert abs min max
    exp exp2 log log2 log10 pow sqrt cbrt sin cos tan asin acos atan atan2 sinh cosh tanh erf erfc lgamma tgamma
    floor ceil round rint trunc fma fmod hypot j0 j1 y0 y1 jn yn gamma signbit isnan isinf isfinite div index
    select clock time printf malloc free memcpy memset rsqrt saturate norm linux unix stdin stdout stderr errno
    INFINITY NAN NULL EOF I w from step upper along
"""
_TEMPORARIES: Final = frozenset(f"{name}_{k}" for name in ("other", "part", "before") for k in range(32))
"""Names that stand inside the loops of reductions and scans."""
RESERVED: Final = frozenset({*_WORDS.split(), *(f"{word}f" for word in _WORDS.split()), *_TEMPORARIES})
"""Words of C++, and names that the text or a library's headers may declare at the outermost level."""
_NOT_NAME: Final = re.compile(r"\W", re.ASCII)


def namer() -> Namer:
    """Hands out identifiers that neither C++ nor the prelude has."""
    return Namer(RESERVED, spell=_plain)


def _plain(hint: str) -> str:
    """``hint`` as an identifier outside the ranges that C++ and the prelude keep for themselves."""
    base = _NOT_NAME.sub("_", hint)
    base = re.sub(r"_{2,}", "_", base).strip("_") or "t"
    return f"v{base}" if base[0].isdigit() or base.lower().startswith("it_") else base
