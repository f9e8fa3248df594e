"""The hardware's limits, looked at before a configuration is lowered or handed to NVRTC."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

from phobos_nb.contract import LaunchContract
from phobos_nb.language.dots import dots
from phobos_nb.language.typed import Assign, Call, Expr, TileRead, TypedKernel, VariableRead
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import statements
from phobos_nb.target import Target


def refusal(typed: TypedKernel, target: Target) -> str:
    """Why no code for this configuration can run on the target, with numbers; empty if it may.

    Only what every lowering needs counts: the threads, the sums of each `dot` in registers, and the
    operands that a `dot` reads from global memory, once each, in shared memory.
    """
    return next(_refusals(typed, target), "")


def _refusals(typed: TypedKernel, target: Target) -> Iterator[str]:
    if typed.threads > target.threads_per_cta:
        yield f"{typed.threads} threads per CTA, {target.name} allows {target.threads_per_cta}"
    rounded = any(use.name == "tensorcore" for use in typed.attributes)
    sources = _sources(typed)
    for dot in dots(typed):
        sums = _tile(dot)
        registers = math.prod(sums.shape) * sums.dtype.itemsize / 4 / typed.threads
        if registers > target.registers_per_thread:
            yield (
                f"the sums of dot, {' x '.join(map(str, sums.shape))} {sums.dtype.name}, take "
                f"{registers:.0f} registers of each of {typed.threads} threads, "
                f"{target.name} allows {target.registers_per_thread}"
            )
        needed = sum(_bytes(t, rounded) for t in _copied(dot, sources))
        if needed > target.shared_per_cta_optin:
            yield (
                f"the operands of dot take {needed} bytes of shared memory, "
                f"{target.name} allows {target.shared_per_cta_optin} per CTA"
            )


def broken_promise(typed: TypedKernel, extents: Mapping[str, int]) -> str:
    """Which extent of a call is no multiple of what `@aligned` promises; empty if all are."""
    for symbol, multiple in typed.promises.items():
        if extents.get(symbol, 0) % multiple:
            return (
                f"{symbol} = {extents[symbol]} is not a multiple of {multiple}, which @aligned promises"
            )
    return ""


def refusal_of_code(contract: LaunchContract, target: Target) -> str:
    """Why lowered code cannot start on the target, with numbers; empty if it can."""
    if contract.threads > target.threads_per_cta:
        return f"{contract.threads} threads per CTA, {target.name} allows {target.threads_per_cta}"
    if contract.shared_bytes > target.shared_per_cta_optin:
        return (
            f"{contract.shared_bytes} bytes of shared memory per CTA, "
            f"{target.name} allows {target.shared_per_cta_optin}"
        )
    return ""


def _sources(typed: TypedKernel) -> dict[int, list[Expr]]:
    """What each variable is set to, by the variable's identity."""
    found: dict[int, list[Expr]] = {}
    for statement in statements(typed.body):
        if isinstance(statement, Assign):
            found.setdefault(id(statement.variable), []).append(statement.value)
    return found


def _copied(dot: Call, sources: dict[int, list[Expr]]) -> Iterator[TileType]:
    """The types of operands that are boxes of global tensors as they are."""
    for operand in dot.arguments:
        if not isinstance(operand, Expr):
            continue
        values = [operand]
        if isinstance(operand, VariableRead):
            values = sources.get(id(operand.variable), [])
        if len(values) == 1 and isinstance(values[0], TileRead):
            yield _tile(operand)


def _tile(expr: Expr) -> TileType:
    if not isinstance(expr.type, TileType):
        raise TypeError(f"a dot of {expr.type}")
    return expr.type


def _bytes(tile: TileType, rounded: bool) -> int:
    """As tensor-core operands, f32 elements are rounded to two bytes before they are stored."""
    return math.prod(tile.shape) * (min(tile.dtype.itemsize, 2) if rounded else tile.dtype.itemsize)
