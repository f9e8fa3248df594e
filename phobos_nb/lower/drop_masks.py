"""Clears the mask flags that promises and constants prove unnecessary.

What a proof assumes of the launch comes back as `EntryCheck`s: the thread-level kernel traps at entry
where one does not hold, so that a raw launch never touches memory outside a tensor.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from phobos_nb.contract import GridRule, GridTerm
from phobos_nb.ir.dialects.shapes import shape_of
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.dialects.tile_memory import (
    AtomicCasOp,
    AtomicOp,
    LoadElementOp,
    LoadOp,
    StoreElementOp,
    StoreOp,
    flags,
)
from phobos_nb.lower.index_facts import BlockBound, IndexFacts

Box = LoadOp | StoreOp
Element = LoadElementOp | StoreElementOp | AtomicCasOp


@dataclass(frozen=True)
class EntryChecks:
    """What code relies on: extents that are multiples or at most so large, blocks that lie inside."""

    multiples: tuple[tuple[str, int], ...] = ()
    blocks: tuple[BlockBound, ...] = ()
    most: tuple[tuple[str, int], ...] = ()


def drop_masks(kernel: KernelOp, grid: GridRule | None = None) -> EntryChecks:
    """Clear provable mask flags in place; returns the assumptions that must hold at entry.

    grid: how many CTAs are started. Where it does not say that every block lies inside, or a caller
    chooses the grid, no mask that depends on the block is dropped. None: blocks are taken to fit.
    """
    facts = IndexFacts(kernel)
    symbols: dict[str, None] = {}
    blocks: dict[BlockBound, None] = {}
    tensors = {t: i for i, t in enumerate(kernel.tensor_arguments)}
    for op in kernel.body.walk():
        if not isinstance(
            op, LoadOp | StoreOp | LoadElementOp | StoreElementOp | AtomicOp | AtomicCasOp
        ):
            continue
        tensor = op.source if isinstance(op, LoadOp | LoadElementOp) else op.destination
        dims = kernel.dims(tensors[tensor])  # pyright: ignore[reportArgumentType] an entry argument
        mask = list(op.masked)
        for axis, (index, length) in enumerate(zip(op.indices, _lengths(op), strict=True)):
            assumed = facts.inside(index, length, dims[axis]) if mask[axis] else None
            if assumed is not None and all(_covers(grid, bound) for bound in assumed):
                mask[axis] = False
                blocks.update(dict.fromkeys(assumed))
                symbols.update({d: None for d in dims[axis : axis + 1] if isinstance(d, str)})
        op.mask = flags(mask)
    return EntryChecks(tuple((s, facts.promises[s]) for s in symbols), tuple(blocks))


def _covers(grid: GridRule | None, bound: BlockBound) -> bool:
    """Whether the grid has no block that starts past the extent."""
    if grid is None:
        return True
    return not grid.problem and grid.axes[bound.axis] == (GridTerm(bound.extent, bound.step),)


def _lengths(op: Box | Element | AtomicOp) -> Sequence[int]:
    """How many positions from its index the op touches on each axis of the tensor."""
    rank = len(op.indices)
    if isinstance(op, LoadOp | StoreOp):
        tile = op.result if isinstance(op, LoadOp) else op.value
        lengths = dict(zip(op.sliced, shape_of(tile.type) or (), strict=True))
        return [lengths.get(a, 1) for a in range(rank)]
    if isinstance(op, AtomicOp):
        shape = shape_of(op.value.type) or ()
        return [1] * (rank - len(shape)) + list(shape)
    return [1] * rank
