"""Exchanges and reductions over the 32 lanes of a warp and over the threads of a CTA."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.builtins.families.elementwise import computed
from phobos_nb.builtins.families.reductions import Result
from phobos_nb.dtypes import DType
from phobos_nb.language.meaning.conversion import numpy_dtype
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call, Expr
from phobos_nb.language.types import ScalarType, Uniformity

Array = NDArray[Any]
Build = Callable[[Any, Call, Any], Any]
WARP = 32


def warps(machine: Any, value: Array) -> Array:
    """A per-thread value as [warps, 32]."""
    return np.broadcast_to(value, (machine.threads,)).reshape(-1, WARP)


def check_exchange(site: CallSite) -> Call:
    """A scalar and an integer that says which lane."""
    operands.expect_count(site, 2)
    value, lane = operands.scalar(site, 0), operands.scalar(site, 1)
    operands.wanted_dtype(site, lane, "integer")
    return Call(
        type=value.type,
        span=site.span,
        uniformity=Uniformity.LANE,
        builtin=site.name,
        arguments=(value, lane),
    )


def exchange(
    name: str, doc: str, second: str, source: Callable[[Array, Array], Array], build: Build
) -> Builtin:
    """A shuffle: each lane reads the value of lane `source(own lane, argument)`."""

    def reference(machine: Any, call: Call, value: Array, argument: Array) -> Array:  # noqa: ARG001
        lanes = np.broadcast_to(np.arange(WARP), (machine.threads // WARP, WARP))
        chosen = source(lanes, warps(machine, argument).astype(np.int64))
        return np.take_along_axis(warps(machine, value), chosen, axis=1).reshape(-1)

    return Builtin(
        name=name,
        group="lanes",
        signature=f"{name}(v, {second})",
        doc=doc,
        check=check_exchange,
        reference=reference,
        build=build,
        pure=False,
    )


def check_reduction(result: Result, uniformity: Uniformity) -> Callable[[CallSite], Call]:
    """A check for one scalar number that threads contribute."""

    def checked(site: CallSite) -> Call:
        operands.expect_count(site, 1)
        value: Expr = operands.scalar(site, 0)
        dtype = result(operands.wanted_dtype(site, value, "number"))
        return Call(
            type=ScalarType(dtype),
            span=site.span,
            uniformity=uniformity,
            builtin=site.name,
            arguments=(value,),
        )

    return checked


def butterfly(call: Call, combine: Callable[..., Array], values: Array) -> Array:
    """values: [rows, n], n a power of two -> [rows]: combined in halves, each step rounded."""
    step = computed(combine)
    while values.shape[1] > 1:
        half = values.shape[1] // 2
        values = step(None, call, values[:, :half], values[:, half:])
    return values[:, 0]


def in_result_dtype(value: Array, dtype: DType) -> Array:
    """The contributions in the dtype of the result."""
    return value.astype(numpy_dtype(dtype), copy=False)


def over_lanes(
    name: str, doc: str, combine: Callable[..., Array], result: Result, build: Build
) -> Builtin:
    """A reduction over the lanes of each warp; every lane gets the result."""

    def reference(machine: Any, call: Call, value: Array) -> Array:
        given = in_result_dtype(warps(machine, value), operands.dtype_of(call))
        return np.repeat(butterfly(call, combine, given), WARP)

    return Builtin(
        name=name,
        group="lanes",
        signature=f"{name}(v)",
        doc=doc,
        check=check_reduction(result, Uniformity.WARP),
        reference=reference,
        build=build,
        pure=False,
    )


def over_block(
    name: str, doc: str, combine: Callable[..., Array], result: Result, build: Build
) -> Builtin:
    """A reduction over all threads of the CTA; every thread gets the result."""

    def reference(machine: Any, call: Call, value: Array) -> Array:
        given = in_result_dtype(warps(machine, value), operands.dtype_of(call))
        partial = butterfly(call, combine, given)
        step = computed(combine)
        total = partial[0]
        for other in partial[1:]:
            total = step(machine, call, total, other)
        return np.asarray(total)

    return Builtin(
        name=name,
        group="CTA",
        signature=f"{name}(v)",
        doc=doc,
        check=check_reduction(result, Uniformity.CTA),
        reference=reference,
        build=build,
        pure=False,
    )
