"""Helper functions printed above a kernel, each only when the kernel calls it.

A helper's key is its function name, with a dot and a type where there are several overloads; its
text is a device function in namespace `ph`. No header is included: what the CUDA headers would give
(f16 conversions, asynchronous copies, NaN-propagating extrema) is inline PTX.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from phobos_nb.target import Target

INLINE = "__device__ __forceinline__"


@dataclass(frozen=True)
class Helper:
    """A helper's text and the helpers it calls itself.

    Where `feature` is named, targets without it get `fallback` instead.
    """

    text: str
    needs: tuple[str, ...] = ()
    feature: str = ""
    fallback: str = ""

    def on(self, target: Target) -> str:
        """The text for a target; TypeError where the target has no way to do it."""
        if not self.feature or target.has(self.feature):
            return self.text
        if not self.fallback:
            raise TypeError(f"{target.name} has no {self.feature}")
        return self.fallback


HELPERS: dict[str, Helper] = {}
"""Filled by the helper files, in the order in which they may call each other."""

TYPES = {
    r"\bvec<": """template <class T, int N>
struct alignas((N * sizeof(T)) % 16 == 0 ? 16 : (N * sizeof(T)) % 8 == 0 ? 8 :
               (N * sizeof(T)) % 4 == 0 ? 4 : (N * sizeof(T)) % 2 == 0 ? 2 : 1) vec { T e[N]; };""",
    r"\btensor_map\b": "struct alignas(64) tensor_map { unsigned long long words[16]; };",
    r"\bf16\b": "struct f16 { unsigned short bits; };",
    r"\bbf16\b": "struct bf16 { unsigned short bits; };",
}
"""Type definitions by the pattern that shows they are used."""


def helper(key: str, text: str, *needs: str, feature: str = "", fallback: str = "") -> None:
    """Register a helper; `INLINE` is put in front of every line that starts a function."""
    HELPERS[key] = Helper(_inlined(text), needs, feature, _inlined(fallback))


def _inlined(text: str) -> str:
    return text.strip("\n").replace("@", f"{INLINE} ", 1) if text else ""


def prelude(used: Iterable[str], body: str, target: Target) -> list[str]:
    """The lines to print above a kernel whose text is `body` and which calls the helpers `used`."""
    wanted = _closure(used)
    texts = [HELPERS[key].on(target) for key in HELPERS if key in wanted]
    printed = "\n".join([body, *texts])
    types = [text for pattern, text in TYPES.items() if re.search(pattern, printed)]
    space = ["namespace ph {", *texts, "}"] if texts else []
    return "\n".join([*types, *space]).split("\n") if types or space else []


def _closure(used: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(used)
    while waiting:
        key = waiting.pop()
        if key not in found:
            found.add(key)
            waiting.extend(HELPERS[key].needs)
    return found
