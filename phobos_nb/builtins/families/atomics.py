"""Atomic updates of global tensors: once per active thread for a scalar, once per element for a tile.

The meaning lets the threads of a CTA go in the order of their ids.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phobos_nb.builtins.families import operands
from phobos_nb.dtypes import F32, DType
from phobos_nb.language.meaning.conversion import numpy_dtype
from phobos_nb.language.meaning.memory import Memory, Span
from phobos_nb.language.registry import Builtin, CallSite
from phobos_nb.language.typed import Call, Expr, Tensor
from phobos_nb.language.types import ScalarType, TileType, Uniformity, VoidType

Array = NDArray[Any]
Build = Callable[[Any, Call, Any], Any]
Combine = Callable[[Array, Array], Array]


INSTEAD = (
    "atomics work on tensors only: give each thread an element of the array for itself, and let one "
    "thread put them together after a `barrier()`"
)
"""The help for an atomic on a shared array."""


def indexed(site: CallSite, operand_count: int) -> tuple[Tensor, list[Expr], list[Expr]]:
    """The tensor, one index per axis, and the operands after them."""
    operands.expect_count(site, 1 + operand_count, 16)
    tensor = operands.tensor(site, 0, INSTEAD)
    rank = len(tensor.type.dims)
    operands.expect_count(site, 1 + rank + operand_count)
    indices = [operands.scalar(site, 1 + k) for k in range(rank)]
    for index in indices:
        operands.wanted_dtype(site, index, "integer")
    return tensor, indices, [operands.value(site, 1 + rank + k) for k in range(operand_count)]


def expect_width(site: CallSite, tensor: Tensor, *, integers_only: bool = False) -> None:
    """Report element types for which GPUs have no such atomic."""
    dtype = tensor.type.dtype
    if dtype.bits >= 16 and (dtype.is_integer or not integers_only):
        return
    wanted = "i32 or i64" if integers_only else "i32, i64, f16, bf16, f32 or f64"
    message = f"{site.name} wants a tensor of {wanted}, found {tensor.type}"
    raise site.diagnostics.error("PH104", message, tensor.span)


def check(site: CallSite) -> Call:
    """A tensor, its indices, a scalar or a tile of at most the tensor's rank."""
    tensor, indices, (amount,) = indexed(site, 1)
    expect_width(site, tensor)
    rank = len(tensor.type.dims)
    if len(operands.shape_of(amount)) > rank:
        message = f"{site.name} adds at most a rank-{rank} tile to {tensor.name}, found {amount.type}"
        raise site.diagnostics.error("PH104", message, amount.span)
    amount = operands.converted(site, amount, tensor.type.dtype)
    tile = isinstance(amount.type, TileType)
    return Call(
        type=VoidType() if tile else ScalarType(tensor.type.dtype),
        span=site.span,
        uniformity=Uniformity.CTA if tile else Uniformity.LANE,
        builtin=site.name,
        arguments=(tensor, *indices, amount),
    )


def update(combine: Combine) -> Callable[..., Array | None]:
    """The reference of an atomic: the old value per thread, nothing for a tile."""

    def reference(machine: Any, call: Call, memory: Memory, *values: Array) -> Array | None:
        *indices, amount = values
        rounded = in_working_dtype(combine, memory.dtype)
        last = call.arguments[-1]
        if isinstance(last, Expr) and isinstance(last.type, TileType):
            return _tile(memory, indices, amount, rounded)
        return per_thread(machine, memory, indices, (amount,), rounded)

    return reference


def in_working_dtype(combine: Combine, dtype: DType) -> Combine:
    """The function computed in f32 for f16 and bf16, and rounded once to `dtype`."""
    stored = numpy_dtype(dtype)
    working = numpy_dtype(F32) if dtype.bits == 16 else stored
    return lambda a, b: np.asarray(combine(a.astype(working), b.astype(working))).astype(stored)


def per_thread(
    machine: Any,
    memory: Memory,
    indices: list[Array],
    amounts: tuple[Array, ...],
    step: Callable[..., Any],
) -> Array:
    """Thread after thread: element <- step(element, amounts); gives the old values, zero outside."""
    threads = (machine.threads,)
    where = [np.broadcast_to(i, threads) for i in indices]
    given = [np.broadcast_to(a, threads) for a in amounts]
    old = np.zeros(threads, memory.array.dtype)
    for t in np.flatnonzero(memory.inside(where) & machine.active_mask()):
        place = tuple(int(i[t]) for i in where)
        old[t] = memory.array[place]
        memory.array[place] = step(old[t : t + 1], *(a[t : t + 1] for a in given))[0]
    return old


def _tile(memory: Memory, indices: list[Array], amount: Array, combine: Combine) -> None:
    lengths = (1,) * (memory.array.ndim - amount.ndim) + amount.shape
    box = [Span(int(i), n) for i, n in zip(indices, lengths, strict=True)]
    memory.write_box(box, combine(memory.read_box(box), amount.reshape(lengths)))


def atomic(name: str, doc: str, combine: Combine, build: Build) -> Builtin:
    """An atomic that replaces an element by a function of it and one operand."""
    return Builtin(
        name=name,
        group="tensor",
        signature=f"{name}(A: tensor, i[, j ...], v)",
        doc=doc,
        check=check,
        reference=update(combine),
        build=build,
        pure=False,
        writes=True,
    )
