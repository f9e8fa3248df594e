"""What a built-in and an attribute are, and the tables of them that the checker is handed.

A built-in is one file in `builtins/` that defines `SPEC = Builtin(...)`, an attribute one file in
`attributes/` that defines `SPEC = Attribute(...)`. This module knows neither folder.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.typed import Call, Expr, SharedArray, Tensor, TypedKernel
from phobos_nb.source import Span

Argument = Expr | Tensor | SharedArray


@dataclass(frozen=True)
class CallSite:
    """One call as the checker sees it: typed arguments, their span, where to report.

    `named` holds keyword-like arguments where a built-in has them, `signature` is its form for help.
    A check returns the typed call or raises what `diagnostics.error` returned.
    """

    name: str
    arguments: tuple[Argument, ...]
    span: Span
    diagnostics: Diagnostics
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    signature: str = ""


@dataclass(frozen=True)
class Builtin:
    """A built-in of the language.

    signature: how it is written, for help and errors, such as "rowsum(t: tile[R, C]) -> tile[R, 1]".
    check(site) -> Call: types, shapes, uniformity, or a diagnostic.
    reference(machine, call, *values): the NumPy meaning. `machine` is the CTA that
      `language/meaning` runs (active mask, thread ids, memory); pure built-ins ignore it.
      Tiles arrive as arrays of the tile's shape, per-thread scalars as arrays [threads] or as
      0-d where CTA-uniform, tensors as the memory objects of the machine.
    build(builder, call, values): emits tile MLIR and returns the value, or None for an effect. Imports
      xDSL inside the function only.
    pure: same arguments give the same value and nothing else happens.
    writes: it changes elements of its tensor arguments.
    zero_preserving: f(0) == 0 for a one-argument elementwise built-in, for the filler analysis.
    """

    name: str
    group: str
    signature: str
    doc: str
    check: Callable[[CallSite], Call]
    reference: Callable[..., Any]
    build: Callable[..., Any]
    pure: bool = True
    writes: bool = False
    zero_preserving: bool = False


@dataclass(frozen=True)
class AttributeSite:
    """One attribute use before checking: positional and named arguments as written.

    A literal arrives as int, float or bool, a name as str, `X in [..]` as a tuple of int under X.
    `spans` holds the place of each argument by position or name. `constants` are the values of the
    kernel's compile-time names, `extents` its run-time symbols.
    """

    name: str
    positional: tuple[object, ...]
    named: Mapping[str, object]
    span: Span
    diagnostics: Diagnostics
    spans: Mapping[int | str, Span] = field(default_factory=dict[int | str, Span])
    constants: Mapping[str, int] = field(default_factory=dict[str, int])
    extents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Attribute:
    """An attribute above a kernel.

    check(site) -> the named values kept on the typed kernel, or a diagnostic. effect: one sentence on
    what it changes; `inert` ones are accepted and say in a note that they change nothing yet.
    review(kernel, diagnostics): looks at the typed kernel and adds warnings and notes.
    """

    name: str
    signature: str
    doc: str
    effect: str
    check: Callable[[AttributeSite], Mapping[str, object]]
    inert: bool = False
    review: Callable[[TypedKernel, Diagnostics], None] | None = None


Builtins = Mapping[str, Builtin]
Attributes = Mapping[str, Attribute]
