"""Expressions of scalar operations by C++ type, shared by the rows of several dialects."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from phobos_nb.cuda.emit.emitter import Compute, Emitter
from phobos_nb.cuda.emit.spelling import UNSIGNED

Unary = Callable[[str], str]
Binary = Callable[[str, str], str]
Ternary = Callable[[str, str, str], str]

HALVES = ("f16", "bf16")
"""Types computed in f32 and rounded once."""

OPERATORS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def is_float(ctype: str) -> bool:
    """Whether a C++ type is one of the four float types."""
    return ctype in ("float", "double", *HALVES)


def in_float(e: Emitter, ctype: str, compute: Compute) -> Compute:
    """Compute in the type itself, or for f16 and bf16 in f32 with one rounding at the end."""
    if ctype not in HALVES:
        return compute

    def rounded(*operands: str) -> str:
        wide = [widen(e, ctype, x) for x in operands]
        return narrow(e, cast("Callable[..., str]", compute)(*wide), ctype)

    return rounded


def widen(e: Emitter, ctype: str, text: str) -> str:
    """A float as f32 when it is narrower."""
    return e.call(f"f32.{ctype}", text) if ctype in HALVES else text


def narrow(e: Emitter, text: str, ctype: str, source: str = "float") -> str:
    """A value of type `source` rounded to f16 or bf16."""
    return e.call(f"to_{ctype}.{source.replace(' ', '_')}", text)


def extremum(e: Emitter, name: str, ctype: str) -> Binary:
    """The NaN-propagating `max_nan` or `min_nan` of a float type."""
    wide = "float" if ctype in HALVES else ctype
    return binary(e, ctype, lambda a, b: e.call(f"{name}.{wide}", a, b))


def binary(e: Emitter, ctype: str, compute: Binary) -> Binary:
    """`in_float` of an expression of two operands."""
    return cast(Binary, in_float(e, ctype, compute))


def fused(e: Emitter, ctype: str) -> Ternary:
    """The expression a * b + c with one rounding for floats, plain for integers."""
    if not is_float(ctype):
        return lambda a, b, c: f"{a} * {b} + {c}"
    function = "fma" if ctype == "double" else "fmaf"
    exact: Ternary = lambda a, b, c: f"{function}({a}, {b}, {c})"  # noqa: E731 - typed for the caller
    return cast(Ternary, in_float(e, ctype, exact))


def smaller(a: str, b: str) -> str:
    """The smaller of two integers."""
    return f"{a} < {b} ? {a} : {b}"


def larger(a: str, b: str) -> str:
    """The larger of two integers."""
    return f"{a} > {b} ? {a} : {b}"


def combine(e: Emitter, kind: str, ctype: str) -> Binary:
    """How a reduction of that `vector.kind` joins two values."""
    functions = {"maximumf": "max_nan", "minimumf": "min_nan"}
    if kind in functions:
        return extremum(e, functions[kind], ctype)
    if kind in ("maxnumf", "minnumf"):
        name = ("fmax" if kind == "maxnumf" else "fmin") + ("" if ctype == "double" else "f")
        return binary(e, ctype, lambda a, b: f"{name}({a}, {b})")
    if kind in ("add", "mul") and is_float(ctype):
        return binary(e, ctype, lambda a, b: f"{a} {OPERATORS[kind]} {b}")
    if kind in ("add", "mul", "minui", "maxui"):
        return _unsigned(kind, ctype)
    return INTEGER_KINDS[kind]


def _unsigned(kind: str, ctype: str) -> Binary:
    """Wrapping sums and products, and extrema of the unsigned readings."""
    unsigned = UNSIGNED[ctype]
    if kind in OPERATORS:
        return lambda a, b: f"({ctype})(({unsigned}){a} {OPERATORS[kind]} ({unsigned}){b})"
    sign = "<" if kind == "minui" else ">"
    return lambda a, b: f"({unsigned}){a} {sign} ({unsigned}){b} ? {a} : {b}"


INTEGER_KINDS: dict[str, Binary] = {
    "and": lambda a, b: f"{a} & {b}",
    "or": lambda a, b: f"{a} | {b}",
    "xor": lambda a, b: f"{a} ^ {b}",
    "minsi": smaller,
    "maxsi": larger,
}
"""Signed and bitwise integer reductions by kind."""
