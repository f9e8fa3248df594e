"""Cuts tiles to the rows and columns that a call can have: what is always outside is not computed.

Note [Thin extents]
A tile is as wide as the author's constants say, a call may need one row of it. MOST_X = n and MOST_Y = n
promise that the extents which the grid steps along on that axis are at most n; a call or a launch that
breaks the promise is refused. A row that lies past n is then never stored, and neither are the values
that only it depends on. So every axis of a tile that reaches a store, and nothing else that looks at all
of it, shrinks to what is stored.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import Rewriter

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.fold import constant_attribute, constant_value
from phobos_nb.lower.edge_rules import Edge
from phobos_nb.lower.index_facts import IndexFacts, block_times
from phobos_nb.lower.layout_classes import clone_free_values, is_elementwise, is_free, tied
from phobos_nb.lower.layout_types import element, is_tile, shape

Axis = tuple[SSAValue, int]


Reach = Callable[[tile.StoreOp, int], tuple[str, int] | None]
"""The symbol that bounds a store on a tensor axis, and how many positions of its box can be inside."""


def crop_tiles(kernel: KernelOp, most: Mapping[str, int]) -> dict[str, tuple[int, int]]:
    """Shrink tiles in place; symbol -> extents of its axis before and after, of those that shrank."""
    facts = IndexFacts(kernel)

    def reach(op: tile.StoreOp, axis: int) -> tuple[str, int] | None:
        symbol = _symbol(kernel, op, axis)
        inside = symbol in most and facts.not_negative(op.indices[axis])
        return (symbol, most[symbol]) if inside else None

    return _crop(kernel, kernel.body.block, reach) if most else {}


def crop_edge(kernel: KernelOp, edge: Edge, body: Block) -> None:
    """Shrink the tiles of one body of a kernel, see Note [Thin edges] of edges.py."""

    def reach(op: tile.StoreOp, axis: int) -> tuple[str, int] | None:
        symbol = _symbol(kernel, op, axis)
        starts = block_times(op.indices[axis]) == (edge.axis, edge.step)
        return (symbol, edge.most) if symbol == edge.symbol and starts else None

    _crop(kernel, body, reach)


def _symbol(kernel: KernelOp, op: tile.StoreOp, axis: int) -> str:
    number = list[SSAValue](kernel.tensor_arguments).index(op.destination)
    return str(kernel.dims(number)[axis])


def _crop(kernel: KernelOp, body: Block, reach: Reach) -> dict[str, tuple[int, int]]:
    clone_free_values(kernel)
    axes, found = _Axes(), dict[str, tuple[int, int]]()
    ops = [inner for op in body.ops for inner in op.walk()]
    for op in ops:
        _tie(op, axes)
        if isinstance(op, tile.StoreOp):
            _stored(op, reach, axes)
    made = dict.fromkeys(v for op in ops for v in (*_made(op), *op.operands) if is_tile(v))
    for value in made:
        wanted = [axes.wanted((value, axis), n) for axis, n in enumerate(shape(value))]
        if tuple(wanted) != shape(value):
            _shrink(value, wanted)
    for symbol, axis, before in axes.stored:
        after = axes.wanted(axis, before)
        if after < before:
            found[symbol] = before, after
    return found


@dataclass
class _Axes:
    """Union-find over axes of tiles that have one extent.

    whole: classes of which every position counts. needed: how far stores reach into a class.
    """

    parent: dict[Axis, Axis] = field(default_factory=dict[Axis, Axis])
    whole: set[Axis] = field(default_factory=set[Axis])
    needed: dict[Axis, int] = field(default_factory=dict[Axis, int])
    stored: list[tuple[str, Axis, int]] = field(default_factory=list[tuple[str, Axis, int]])

    def find(self, axis: Axis) -> Axis:
        """The representative."""
        while (above := self.parent.setdefault(axis, axis)) != axis:
            axis = above
        return axis

    def join(self, one: Axis, other: Axis) -> None:
        """Both shrink together."""
        a, b = self.find(one), self.find(other)
        if a == b:
            return
        self.parent[b] = a
        if b in self.whole:
            self.whole.add(a)
        self.need(a, self.needed.get(b, 0))

    def need(self, axis: Axis, extent: int) -> None:
        """Positions up to `extent` count."""
        root = self.find(axis)
        self.needed[root] = max(extent, self.needed.get(root, 0))

    def keep(self, value: SSAValue) -> None:
        """No axis of the tile shrinks."""
        self.whole.update(self.find((value, axis)) for axis in range(len(shape(value))))

    def wanted(self, axis: Axis, extent: int) -> int:
        """The extent that an axis shrinks to."""
        root = self.find(axis)
        needed = self.needed.get(root, 0)
        return extent if root in self.whole or not needed else min(needed, extent)


def _made(op: Operation) -> Iterator[SSAValue]:
    yield from op.results
    for region in op.regions:
        for block in region.blocks:
            yield from block.args


def _tie(op: Operation, axes: _Axes) -> None:
    """Which axes of an op's tiles shrink together, and which do not shrink."""
    for group in tied(op):
        tiles = [v for v in group if is_tile(v)]
        for other in tiles[1:]:
            for axis in range(len(shape(other))):
                axes.join((tiles[0], axis), (other, axis))
    if isinstance(op, tile.DotOp):
        for which, (value, deep) in enumerate(zip((op.a, op.b), op.deep, strict=True)):
            axes.join((op.acc, which), (value, 1 - deep))
            axes.whole.add(axes.find((value, deep)))
    elif isinstance(op, tile.BroadcastOp):
        _tie_broadcast(op, axes)
    elif isinstance(op, tile.TransposeOp):
        for axis, source in enumerate(op.permutation.get_values()):
            axes.join((op.result, axis), (op.source, source))
    elif isinstance(op, tile.ReduceOp):
        own = op.axis.value.data
        for axis in range(len(shape(op.source))):
            if axis == own:
                axes.whole.add(axes.find((op.source, axis)))
            else:
                axes.join((op.result, axis), (op.source, axis))
    elif not _passes(op):
        for value in (*op.operands, *op.results):
            if is_tile(value):
                axes.keep(value)


def _passes(op: Operation) -> bool:
    """Whether an op does not stand in the way of shrinking, or `tied` has said all about it."""
    known = isinstance(op, tile.LoadOp | tile.StoreOp) or op.name.startswith("scf.")
    return known or is_free(op) or is_elementwise(op)


def _tie_broadcast(op: tile.BroadcastOp, axes: _Axes) -> None:
    """Axes that are not stretched."""
    source, result = shape(op.source), shape(op.result)
    skip = len(result) - len(source)
    for axis, extent in enumerate(source):
        if extent == result[skip + axis]:
            axes.join((op.result, skip + axis), (op.source, axis))


def _stored(op: tile.StoreOp, reach: Reach, axes: _Axes) -> None:
    """How far a store looks at each axis of its tile."""
    for own, axis in enumerate(op.sliced):
        extent, bound = shape(op.value)[own], reach(op, axis) if op.masked[axis] else None
        axes.need((op.value, own), min(extent, bound[1]) if bound else extent)
        if bound:
            axes.stored.append((bound[0], (op.value, own), extent))


def _shrink(value: SSAValue, extents: list[int]) -> None:
    type_ = TensorType(element(value), extents)
    op = value.owner
    if isinstance(op, arith.ConstantOp) and isinstance(op.value, DenseIntOrFPElementsAttr):
        number = constant_value(value)
        assert number is not None, "tile constants are splats"
        Rewriter.replace_op(op, constant_attribute(number, type_))
    else:
        Rewriter.replace_value_with_new_type(value, type_)
