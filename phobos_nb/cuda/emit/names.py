"""C++ names for SSA values: readable, unique, never a word that C++ or CUDA uses itself."""

from __future__ import annotations

import re

_KEYWORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false final float for friend goto if import inline int long module mutable namespace new
    noexcept not not_eq nullptr operator or or_eq override private protected public register
    reinterpret_cast requires return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename typeof union unsigned
    using virtual void volatile wchar_t while xor xor_eq
"""
KEYWORDS = frozenset(_KEYWORDS.split())
"""Words of C++20 and GNU C++ that cannot name a variable."""

_CUDA_WORDS = """
    threadIdx blockIdx blockDim gridDim warpSize printf assert NULL NAN INFINITY linux unix i386
    main std cuda vec f16 bf16 ph tensor_map
"""
CUDA_WORDS = frozenset(_CUDA_WORDS.split())
"""Words that CUDA, the compiler's predefined macros or the printed helpers use."""

_FUNCTIONS = """
    acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cos cosh erf exp exp2 expm1 fabs floor fma
    fmax fmin fmod log log10 log1p log2 pow rint round rsqrt sin sinh sqrt tan tanh trunc
    """
FUNCTIONS = frozenset(name + suffix for name in _FUNCTIONS.split() for suffix in ("", "f"))
"""Functions of the CUDA math library that rows call by name, in double and single precision."""

RESERVED = KEYWORDS | CUDA_WORDS | FUNCTIONS


def identifier(text: str) -> str:
    """A legal C++ identifier that reads like `text`; other letters become `uXXXX_`."""
    mangled = "".join(c if c.isascii() and (c.isalnum() or c == "_") else _letter(c) for c in text)
    if not mangled or mangled[0].isdigit() or mangled.startswith("_"):
        mangled = f"v{mangled}"
    return mangled


def _letter(character: str) -> str:
    return f"u{ord(character):04x}_" if character.isalnum() else "_"


class Names:
    """Hands out names, each once."""

    def __init__(self) -> None:
        self.taken: set[str] = set(RESERVED)
        self.counts: dict[str, int] = {}

    def fresh(self, hint: str | None) -> str:
        """A new name like `hint`, or like `v_0` when there is none."""
        base = identifier(hint) if hint else "v"
        base = re.sub(r"_\d+$", "", base) or "v"
        if hint and base not in self.taken:
            return self._take(base)
        number = self.counts.get(base, 0 if not hint else 1)
        while f"{base}_{number}" in self.taken:
            number += 1
        self.counts[base] = number + 1
        return self._take(f"{base}_{number}")

    def _take(self, name: str) -> str:
        self.taken.add(name)
        return name
