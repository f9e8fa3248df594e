"""The order in which a grid's CTAs take their tiles: in groups, so that neighbours share operands.

`ctx.block` stays the logical grid; the block that the hardware numbers x + y * grid.x takes the tile of
that number in an order that walks down `group` tiles of axis x, then on along y. CTAs at the end of an
axis that have code of their own (Note [Thin edges] of edges.py) come last: they take less time than the
others, and so fill the SMs that those leave idle. In between they would make others start late.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from phobos_nb.lower.thread_builder import ThreadBuilder

Block = tuple[SSAValue, SSAValue]


def block_ids(b: ThreadBuilder, group: int, edges: tuple[bool, bool] = (False, False)) -> Block:
    """The logical block on the axes x and y; the hardware's own for a group of 0.

    edges: the axes whose last blocks come last. The clamps change nothing, they let the ranges of the
    results be proven.
    """
    x, y = b.named(b.block_id("x"), "block_x"), b.named(b.block_id("y"), "block_y")
    if not group:
        return x, y
    rows, columns = b.grid_dim("x"), b.grid_dim("y")
    number = b.addi(b.muli(y, rows), x)
    if any(edges):
        row, column = _edges_last(b, number, (rows, columns), group, edges)
    else:
        row, column = _grouped(b, number, rows, columns, group)
    return (
        b.named(_clamped(b, row, rows), "tile_x"),
        b.named(_clamped(b, column, columns), "tile_y"),
    )


def _clamped(b: ThreadBuilder, place: SSAValue, extent: SSAValue) -> SSAValue:
    return b.minsi(place, b.subi(extent, b.index(1)))


def _grouped(b: ThreadBuilder, number: SSAValue, rows: SSAValue, columns: SSAValue, group: int) -> Block:
    """The tile of a number in a grid of so many rows and columns, group after group of rows."""
    one = b.index(1)
    in_group = b.muli(columns, b.index(group))
    first = b.muli(b.divui(number, in_group), b.index(group))
    height = b.maxsi(b.minsi(b.subi(rows, first), b.index(group)), one)
    inside = b.remui(number, in_group)
    return b.addi(first, b.remui(inside, height)), b.divui(inside, height)


def _edges_last(
    b: ThreadBuilder, number: SSAValue, grid: Block, group: int, edges: tuple[bool, bool]
) -> Block:
    """The same for the grid without its edges; then the last column, then the last row."""
    rows, columns = (
        b.subi(extent, b.index(1)) if edge else extent for extent, edge in zip(grid, edges, strict=True)
    )
    whole = b.muli(rows, columns)
    one = b.index(1)
    row, column = _grouped(b, number, b.maxsi(rows, one), b.maxsi(columns, one), group)
    over = b.maxsi(b.subi(number, whole), b.index(0))
    down, along = (over, columns), (rows, over)
    if all(edges):
        in_column = b.cmpi("slt", over, rows)
        along = rows, b.maxsi(b.subi(over, rows), b.index(0))
        last = tuple(b.select(in_column, p, q) for p, q in zip(down, along, strict=True))
    else:
        last = down if edges[1] else along
    inside = b.cmpi("slt", number, whole)
    return b.select(inside, row, last[0]), b.select(inside, column, last[1])
