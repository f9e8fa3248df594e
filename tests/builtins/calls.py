"""Calls of built-ins without a parser: checked on typed values, run on arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from phobos_nb.builtins import table
from phobos_nb.diagnostics import Diagnostic, Diagnostics, Stop
from phobos_nb.dtypes import ALL
from phobos_nb.language import typed
from phobos_nb.language.meaning.conversion import convert, numpy_dtype
from phobos_nb.language.registry import CallSite
from phobos_nb.language.types import ScalarType, TensorType, TileType, Uniformity
from phobos_nb.source import Span

CALL = Span(10, 20)


@dataclass
class Threads:
    """As much of a CTA as a built-in sees: its threads, and whether `dot` rounds."""

    threads: int = 64
    rounding: bool = False

    def active_mask(self) -> Any:
        return np.ones(self.threads, bool)


def of(kind: str, *shape: int, at: int = 0, uniformity: Uniformity = Uniformity.CTA) -> typed.Expr:
    """A variable of a dtype and shape; a scalar for the empty shape."""
    dtype = ALL[kind]
    type_ = TileType(dtype, shape) if shape else ScalarType(dtype)
    span = Span(at, at + 1)
    variable = typed.Variable("v", type_, False, span)
    return typed.VariableRead(type=type_, span=span, uniformity=uniformity, variable=variable)


def number(value: float, kind: str = "") -> typed.Constant:
    """A literal, or a constant of a given dtype."""
    dtype = ALL[kind or ("index" if isinstance(value, int) else "f32")]
    return typed.Constant(type=ScalarType(dtype), span=Span(5, 6), value=value, literal=not kind)


def tensor(kind: str, *dims: Any) -> typed.Tensor:
    return typed.Tensor("A", TensorType(ALL[kind], dims), Span(2, 3))


def checked(name: str, *arguments: Any) -> typed.Call:
    return table()[name].check(CallSite(name, arguments, CALL, Diagnostics()))


def refused(name: str, *arguments: Any) -> Diagnostic:
    """The one diagnostic of a call that does not check."""
    diagnostics = Diagnostics()
    try:
        table()[name].check(CallSite(name, arguments, CALL, diagnostics))
    except Stop:
        (found,) = diagnostics.items
        return found
    raise AssertionError(f"{name} accepted {arguments}")


def _typed(value: Any) -> typed.Expr:
    array = np.asarray(value)
    name = next(n for n, d in ALL.items() if numpy_dtype(d) == array.dtype and n != "index")
    return of(name, *array.shape)


def _given(argument: Any, value: Any) -> Any:
    """The value after the conversions that the check wrapped around it."""
    if isinstance(argument, typed.Convert):
        return convert(value, _typed(value).type.dtype, argument.type.dtype)
    if isinstance(argument, typed.Fill):
        return np.broadcast_to(value, argument.type.shape)
    return value


def evaluated(name: str, *values: Any, machine: Threads | None = None, **constants: int) -> Any:
    """The built-in on arrays (tiles, or 0-d scalars), through its own check."""
    extra = [number(v) for v in constants.values()]
    call = checked(name, *map(_typed, values), *extra)
    given = [_given(a, np.asarray(v)) for a, v in zip(call.arguments, values, strict=True)]
    with np.errstate(all="ignore"):
        out = table()[name].reference(machine or Threads(), call, *given)
    assert out.dtype == numpy_dtype(call.type.dtype)
    assert out.shape == (call.type.shape if isinstance(call.type, TileType) else out.shape)
    return out
