"""Reductions of a rank-2 tile along its columns ("row...", to [R, 1]) or rows ("col...", to [1, C]).

A rank-1 tile counts as one row. Sums of f16 and bf16 accumulate in f32 and are f32 tiles, sums of i8
and u8 are i32 tiles; so what is rounded is the store, as with `dot`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.dtypes import F32, I32, DType
from phobos_nb.language.meaning.conversion import numpy_dtype
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call, Expr
from phobos_nb.language.types import TileType

Array = NDArray[Any]
Build = Callable[[Any, Call, Any], Any]
Result = Callable[[DType], DType]


def sum_dtype(dtype: DType) -> DType:
    """The dtype of a sum of elements of `dtype`."""
    if dtype.is_float:
        return F32 if dtype.bits == 16 else dtype
    return I32 if dtype.bits == 8 else dtype


def same_dtype(dtype: DType) -> DType:
    """The dtype of a maximum of elements of `dtype`."""
    return dtype


def call_of(site: CallSite, tile: Expr, dtype: DType, axis: int) -> Call:
    """The typed call of a reduction of `tile` along `axis`, kept as `attributes["axis"]`."""
    rows, columns = operands.shape_of(tile)
    shape = (rows, 1) if axis == 1 else (1, columns)
    return Call(
        type=TileType(dtype, shape),
        span=site.span,
        builtin=site.name,
        arguments=(tile,),
        attributes={"axis": axis},
    )


def check(axis: int, result: Result) -> Callable[[CallSite], Call]:
    """A check for one tile of numbers, reduced along `axis`."""

    def checked(site: CallSite) -> Call:
        operands.expect_count(site, 1)
        tile = operands.rows(site, 0)
        dtype = operands.wanted_dtype(site, tile, "number")
        return call_of(site, tile, result(dtype), axis)

    return checked


def reduced(ufunc: np.ufunc) -> Callable[[Any, Call, Array], Array]:
    """The reference: the ufunc along the call's axis, in the result's dtype (f16 and bf16 in f32)."""

    def reference(machine: Any, call: Call, tile: Array) -> Array:  # noqa: ARG001
        dtype = operands.dtype_of(call)
        working = numpy_dtype(F32 if dtype.is_float and dtype.bits == 16 else dtype)
        out = ufunc.reduce(
            tile.astype(working, copy=False), axis=int(call.attributes["axis"]), keepdims=True
        )
        return out.astype(numpy_dtype(dtype), copy=False)

    return reference


def along_rows(name: str, doc: str, ufunc: np.ufunc, result: Result, build: Build) -> Builtin:
    """A reduction of every row, [R, C] to [R, 1]."""
    return Builtin(
        name=name,
        group="reduction",
        signature=f"{name}(t: tile[R, C]) -> tile[R, 1]",
        doc=doc,
        check=check(1, result),
        reference=reduced(ufunc),
        build=build,
    )


def along_columns(name: str, doc: str, ufunc: np.ufunc, result: Result, build: Build) -> Builtin:
    """A reduction of every column, [R, C] to [1, C]."""
    return Builtin(
        name=name,
        group="reduction",
        signature=f"{name}(t: tile[R, C]) -> tile[1, C]",
        doc=doc,
        check=check(0, result),
        reference=reduced(ufunc),
        build=build,
    )
