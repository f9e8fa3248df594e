"""Groups the tiles of a kernel into classes that must share a layout, and what ties classes together.

Elementwise ops, loop-carried values and the results of branches hold one layout; a dot's accumulator and
its result too. Reductions, broadcasts and transposes tie the layouts of two classes to each other.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation, SSAValue

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.lower.layout_types import is_tile, shape


@dataclass
class Classes:
    """Union-find over tiles."""

    parent: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def find(self, value: SSAValue) -> SSAValue:
        """The representative of a tile's class."""
        root = value
        while (above := self.parent.setdefault(root, root)) is not root:
            root = above
        while self.parent[value] is not root:
            self.parent[value], value = root, self.parent[value]
        return root

    def join(self, values: list[SSAValue]) -> None:
        """Put all tiles of one shape that are among the values into one class."""
        tiles = [v for v in values if is_tile(v)]
        for other in tiles[1:]:
            assert shape(other) == shape(tiles[0]), "one op mixes tile shapes"
            self.parent[self.find(other)] = self.find(tiles[0])

    def members(self) -> dict[SSAValue, list[SSAValue]]:
        """The tiles of each class by representative, in program order."""
        found: dict[SSAValue, list[SSAValue]] = {}
        for value in list(self.parent):
            found.setdefault(self.find(value), []).append(value)
        return found


def clone_free_values(kernel: KernelOp) -> None:
    """Give every use of a splat, coordinate or constant tile its own copy: they fit any layout."""
    for op in list(kernel.body.walk()):
        if not is_free(op):
            continue
        for use in list(op.results[0].uses)[1:]:
            copy = op.clone()
            assert op.parent is not None
            op.parent.insert_op_after(copy, op)
            use.operation.operands[use.index] = copy.results[0]


def is_free(op: Operation) -> bool:
    """Whether the op makes a tile that costs nothing in whatever layout."""
    if isinstance(op, arith.ConstantOp):
        return isinstance(op.value, DenseIntOrFPElementsAttr)
    return isinstance(op, tile.SplatOp | tile.CoordinateOp)


def collect(kernel: KernelOp) -> Classes:
    """The classes of a kernel's tiles."""
    classes = Classes()
    for op in kernel.body.walk():
        for value in (*op.results, *(a for r in op.regions for b in r.blocks for a in b.args)):
            if is_tile(value):
                classes.find(value)
        for group in tied(op):
            classes.join(group)
    return classes


def tied(op: Operation) -> Iterator[list[SSAValue]]:
    """The values that one op ties to the same layout."""
    if isinstance(op, scf.ForOp):
        yield from _columns(
            op.iter_args, op.body.block.args[1:], list(_last(op.body.block).operands), op.results
        )
    elif isinstance(op, scf.IfOp):
        if op.results:
            yields = [list(_last(r.block).operands) for r in op.regions]
            yield from _columns(*yields, op.results)
    elif isinstance(op, scf.WhileOp):
        before, after = op.before_region.block, op.after_region.block
        yield from _columns(op.arguments, before.args, list(_last(after).operands))
        yield from _columns(list(_last(before).operands)[1:], after.args, op.results)
    elif isinstance(op, tile.DotOp):
        yield [op.acc, op.result]
    elif isinstance(op, tile.GatherOp):
        yield [op.positions, op.result]
    elif is_elementwise(op):
        yield [*op.operands, *op.results]


def _columns(*rows: Sequence[SSAValue]) -> Iterator[list[SSAValue]]:

    for column in zip(*rows, strict=True):
        yield list(column)


def _last(block: Block) -> Operation:
    assert block.last_op is not None
    return block.last_op


def is_elementwise(op: Operation) -> bool:
    """Whether an op of `arith` or `math` works on whole tiles, element by element."""
    return op.dialect_name() in ("arith", "math") and any(is_tile(r) for r in op.results)
