"""Elementwise built-ins on scalars and tiles: operands in one dtype, tiles stretched as in NumPy.

f16 and bf16 are computed in f32 and rounded once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.dtypes import DType
from phobos_nb.language.meaning.conversion import numpy_dtype
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call, Expr

Array = NDArray[Any]
Build = Callable[[Any, Call, Any], Any]


def call_of(site: CallSite, arguments: list[Expr], dtype: DType) -> Call:
    """The typed call of an elementwise built-in with converted operands."""
    return Call(
        type=operands.with_shape(dtype, operands.stretched(site, arguments)),
        span=site.span,
        uniformity=operands.joined(arguments),
        builtin=site.name,
        arguments=tuple(arguments),
    )


def check(count: int, wanted: str) -> Callable[[CallSite], Call]:
    """A check for `count` operands of a common dtype of the kind `wanted` (float, integer, number)."""

    def checked(site: CallSite) -> Call:
        operands.expect_count(site, count)
        values = [operands.value(site, k) for k in range(count)]
        arguments = operands.common(site, values)
        dtype = operands.wanted_dtype(site, arguments[0], wanted)
        return call_of(site, arguments, dtype)

    return checked


def computed(function: Callable[..., Array]) -> Callable[..., Array]:
    """The reference of a function on arrays: f16 and bf16 in f32, the result rounded once."""

    def reference(machine: Any, call: Call, *values: Array) -> Array:  # noqa: ARG001
        dtype = numpy_dtype(operands.dtype_of(call))
        working = np.dtype(np.float32) if operands.dtype_of(call).bits == 16 else dtype
        out = np.asarray(function(*(np.asarray(v).astype(working, copy=False) for v in values)))
        return out.astype(dtype, copy=False)

    return reference


def in_double(function: Callable[..., Array]) -> Callable[..., Array]:
    """The function evaluated in f64 whatever the operands' dtype, for a correctly rounded f32."""

    def evaluated(*values: Array) -> Array:
        return function(*(v.astype(np.float64) for v in values))

    return evaluated


def function(
    name: str, doc: str, meaning: Callable[..., Array], build: Build, *, zero_preserving: bool = False
) -> Builtin:
    """A float function of one operand. `meaning` maps an f32 or f64 array to one of any float dtype."""
    return Builtin(
        name=name,
        group="elementwise",
        signature=f"{name}(x)",
        doc=doc,
        check=check(1, "float"),
        reference=computed(meaning),
        build=build,
        zero_preserving=zero_preserving,
    )


def selection(name: str, doc: str, meaning: Callable[..., Array], build: Build) -> Builtin:
    """A choice between two numbers of a common dtype, such as `max`."""
    return Builtin(
        name=name,
        group="elementwise",
        signature=f"{name}(a, b)",
        doc=doc,
        check=check(2, "number"),
        reference=computed(meaning),
        build=build,
    )
