"""How many CTAs a call starts, and the hardware's limits on it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

from phobos_nb.arguments.findings import Findings
from phobos_nb.contract import GridRule, LaunchContract
from phobos_nb.target import get

GRID_LIMITS = (2**31 - 1, 65535, 65535)
"""Largest grid per axis on compute capability 3.0 and newer (CUDA C++ Programming Guide, Table 21)."""

Grid = tuple[int, int, int]


def choose_grid(rule: GridRule, extents: Mapping[str, int], grid: Any, found: Findings) -> Grid:
    """The grid of a call: the caller's, or the inferred one. (0, 0, 0) after an error."""
    if grid is None and rule.problem:
        found.value_error("PH708", rule.problem, "give the call grid=(x, y, z)")
        return 0, 0, 0
    shape = rule.shape(extents) if grid is None else explicit_grid(grid, found)
    for axis, (size, limit) in enumerate(zip(shape, GRID_LIMITS, strict=True)):
        if size > limit:
            message = f"grid {shape} has {size} blocks along axis {'xyz'[axis]}, the limit is {limit}"
            found.value_error("PH710", message, "use larger tiles, or swap the axes of ctx.block")
    return shape


def explicit_grid(grid: Any, found: Findings) -> Grid:
    """A caller's grid, an int or up to three ints, as three; records what it cannot be."""
    sizes: tuple[Any, ...] = tuple(cast(Any, grid)) if isinstance(grid, tuple | list) else (grid,)
    good = all(isinstance(s, int) and not isinstance(s, bool) and s >= 0 for s in sizes)
    if not good or not 1 <= len(sizes) <= 3:
        found.type_error("PH708", f"grid: wanted one to three sizes of at least 0, got {grid!r}")
        return 0, 0, 0
    padded = (*sizes, 1, 1)[:3]
    return padded[0], padded[1], padded[2]


def check_covering(
    rule: GridRule, promises: Mapping[str, int], extents: Mapping[str, int], grid: Grid, found: Findings
) -> None:
    """Record a grid larger than a promised extent needs: masks were dropped in the trust of it."""
    if rule.problem:
        return
    for axis, (terms, size) in enumerate(zip(rule.axes, grid, strict=True)):
        needed = rule.shape(extents)[axis]
        if size > needed and len(terms) == 1 and terms[0].extent in promises:
            message = (
                f"grid {grid} has {size} blocks along axis {'xyz'[axis]}, but {terms[0].extent} = "
                f"{extents[str(terms[0].extent)]} has {needed} steps of {terms[0].step}"
            )
            help = f"leave grid= out, or the promise on {terms[0].extent} in @aligned"
            found.value_error("PH708", message, help)


def check_limits(contract: LaunchContract, registers: int, found: Findings) -> None:
    """Record threads, shared memory or registers above what one CTA of the target can have.

    `registers` per thread, 0 when not known.
    """
    target, threads = get(contract.target), contract.threads
    if threads > target.threads_per_cta:
        found.value_error("PH710", f"{threads} threads per CTA, the limit is {target.threads_per_cta}")
    if contract.shared_bytes > target.shared_per_cta_optin:
        needed = f"{contract.shared_bytes} bytes of shared memory per CTA"
        message = f"{needed}, {target.name} allows {target.shared_per_cta_optin}"
        found.value_error("PH710", message, "use smaller tiles or fewer stages")
    if threads * registers > target.registers_per_cta:
        product = f"{threads} threads x {registers} registers = {threads * registers}"
        found.value_error("PH710", f"{product}, the limit is {target.registers_per_cta} per CTA")
