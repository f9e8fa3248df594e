"""The order in which a grid's CTAs take their tiles: in groups, so that neighbours share operands.

`ctx.block` stays the logical grid; the block that the hardware numbers x + y * grid.x takes the tile of
that number in an order that walks down `group` tiles of axis x, then on along y.
"""

from __future__ import annotations

from xdsl.ir import SSAValue

from phobos_nb.lower.thread_builder import ThreadBuilder


def block_ids(b: ThreadBuilder, group: int) -> tuple[SSAValue, SSAValue]:
    """The logical block on the axes x and y; the hardware's own for a group of 0.

    The clamps change nothing, they let the ranges of the results be proven.
    """
    x, y = b.named(b.block_id("x"), "block_x"), b.named(b.block_id("y"), "block_y")
    if not group:
        return x, y
    rows, columns = b.grid_dim("x"), b.grid_dim("y")
    number = b.addi(b.muli(y, rows), x)
    in_group = b.muli(columns, b.index(group))
    first = b.muli(b.divui(number, in_group), b.index(group))
    one = b.index(1)
    height = b.maxsi(b.minsi(b.subi(rows, first), b.index(group)), one)
    inside = b.remui(number, in_group)
    row = b.addi(first, b.remui(inside, height))
    column = b.divui(inside, height)
    return (
        b.named(b.minsi(row, b.subi(rows, one)), "tile_x"),
        b.named(b.minsi(column, b.subi(columns, one)), "tile_y"),
    )
