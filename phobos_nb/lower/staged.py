"""The dialect `staged`: tile MLIR in which every use of shared memory is explicit.

Made by stage_operands.py, consumed by distribute.py; never leaves the lowering. A buffer is a memref in
the workgroup space whose type has the physical, padded shape.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr, TensorType, UnitAttr, i64
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
)

from phobos_nb.ir.dialects.memref import ARRAY_OFFSET
from phobos_nb.ir.dialects.tile_memory import Axes, axes_attribute
from phobos_nb.ir.dialects.tile_types import shared_type
from phobos_nb.lower.gemm_plan import GemmPlan

Value = SSAValue | Operation
MemRef = MemRefType[Attribute]

OFFSET = ARRAY_OFFSET
"""Where the plan placed an author-managed array, in bytes; an attribute of `tile.alloc_shared`."""


@irdl_op_definition
class BufferOp(IRDLOperation):
    """Shared memory for one tile; physical axis i holds tile axis `order[i]`.

    With several `stages` the type has one more axis in front, one copy of the tile for each.

    `purpose` is the words in which barriers and views speak of it; `offset` is the byte at which
    the plan places it, -1 before planning.
    """

    name = "staged.buffer"
    purpose = prop_def(StringAttr)
    order = prop_def(Axes)
    offset = prop_def(IntegerAttr)
    result = result_def(MemRefType)

    def __init__(
        self,
        purpose: str,
        element: Attribute,
        physical: Sequence[int],
        order: Sequence[int],
        stages: int = 1,
    ) -> None:
        super().__init__(
            result_types=[shared_type(element, [stages, *physical] if stages > 1 else physical)],
            properties={
                "purpose": StringAttr(purpose),
                "order": axes_attribute(order),
                "offset": IntegerAttr(-1, i64),
            },
        )

    @property
    def axis_order(self) -> tuple[int, ...]:
        """The tile axis of each physical axis."""
        return tuple(self.order.get_values())

    @property
    def type_(self) -> MemRef:
        """The physical type."""
        return self.result.type

    @property
    def physical(self) -> tuple[int, ...]:
        """The physical extents of the tile, padding included, without the axis of the stages."""
        return tuple(self.type_.get_shape())[-len(self.axis_order) :]

    @property
    def stages(self) -> int:
        """How many copies of the tile there are."""
        shape = tuple(self.type_.get_shape())
        return shape[0] if len(shape) > len(self.axis_order) else 1

    @property
    def byte_offset(self) -> int:
        """Where the plan placed the buffer."""
        return self.offset.value.data


@irdl_op_definition
class WriteOp(IRDLOperation):
    """Write a tile to a buffer, each thread its own slots, the first of its replicas only."""

    name = "staged.write"
    value = operand_def(TensorType)
    buffer = operand_def(MemRefType)

    def __init__(self, value: Value, buffer: Value) -> None:
        super().__init__(operands=[value, buffer])


@irdl_op_definition
class ReadOp(IRDLOperation):
    """Read a tile from a buffer, each thread its own slots.

    A result of another shape than was written is read in row-major order (the buffer is dense then).
    """

    name = "staged.read"
    buffer = operand_def(MemRefType)
    result = result_def(TensorType)

    def __init__(self, buffer: Value, result: TensorType[Attribute]) -> None:
        super().__init__(operands=[buffer], result_types=[result])


@irdl_op_definition
class DotOp(IRDLOperation):
    """`acc + a @ b` on operands in k-major buffers, by multiply-adds on per-thread tiles.

    With `negated`, `acc - a @ b`. depth: the k-steps of one of the `groups` of threads that share them.
    """

    name = "staged.dot"
    a = operand_def(MemRefType)
    b = operand_def(MemRefType)
    acc = operand_def(TensorType)
    depth = prop_def(IntegerAttr)
    unroll_k = prop_def(IntegerAttr)
    product_order = prop_def(StringAttr)
    unsigned_a = opt_prop_def(UnitAttr)
    unsigned_b = opt_prop_def(UnitAttr)
    negated = opt_prop_def(UnitAttr)
    groups = prop_def(IntegerAttr)
    result = result_def(TensorType)

    def __init__(
        self,
        a: Value,
        b: Value,
        acc: Value,
        depth: int,
        plan: GemmPlan,
        unsigned: tuple[UnitAttr | None, UnitAttr | None],
        *,
        negated: UnitAttr | None = None,
        groups: int = 1,
    ) -> None:
        super().__init__(
            operands=[a, b, acc],
            result_types=[SSAValue.get(acc).type],
            properties={
                "depth": IntegerAttr(depth, i64),
                "unroll_k": IntegerAttr(plan.unroll_k, i64),
                "product_order": StringAttr(plan.order),
                "unsigned_a": unsigned[0],
                "unsigned_b": unsigned[1],
                "negated": negated,
                "groups": IntegerAttr(groups, i64),
            },
        )


@irdl_op_definition
class GatherThreadsOp(IRDLOperation):
    """The tile of one element per thread that the threads' scalars are."""

    name = "staged.gather_threads"
    source = operand_def()
    result = result_def(TensorType)

    def __init__(self, source: Value, result: TensorType[Attribute]) -> None:
        super().__init__(operands=[source], result_types=[result])


@irdl_op_definition
class ScalarOp(IRDLOperation):
    """The scalar that a tile of one element is."""

    name = "staged.scalar"
    source = operand_def(TensorType)
    result = result_def()

    def __init__(self, source: Value, result: Attribute) -> None:
        super().__init__(operands=[source], result_types=[result])


@irdl_op_definition
class CombineOp(IRDLOperation):
    """Combine a tile along an axis as far as slots and lanes go; the parts that are left stay.

    The result's extent on the axis is the number of warps that still hold a part (1: done).
    """

    name = "staged.combine"
    source = operand_def(TensorType)
    kind = prop_def(CombiningKindAttr)
    axis = prop_def(IntegerAttr)
    result = result_def(TensorType)

    def __init__(
        self, kind: CombiningKindFlag, source: Value, axis: int, result: TensorType[Attribute]
    ) -> None:
        super().__init__(
            operands=[source],
            result_types=[result],
            properties={"kind": CombiningKindAttr(kind), "axis": IntegerAttr(axis, i64)},
        )


@irdl_op_definition
class AddGroupsOp(IRDLOperation):
    """The sums of all groups, held as `layouts.held_in_stack` says, added in the order of the groups."""

    name = "staged.add_groups"
    source = operand_def(TensorType)
    groups = prop_def(IntegerAttr)
    result = result_def(TensorType)

    def __init__(self, source: Value, groups: int, result: TensorType[Attribute]) -> None:
        super().__init__(
            operands=[source], result_types=[result], properties={"groups": IntegerAttr(groups, i64)}
        )


@irdl_op_definition
class LeavePartOp(IRDLOperation):
    """Leave a CTA's sums in the scratch of a split kernel, from element `offset` of its part on."""

    name = "staged.leave_part"
    value = operand_def(TensorType)
    offset = prop_def(IntegerAttr)

    def __init__(self, value: Value, offset: int) -> None:
        super().__init__(operands=[value], properties={"offset": IntegerAttr(offset, i64)})


@irdl_op_definition
class AddPartsOp(IRDLOperation):
    """`start` plus the sums that the CTAs of all parts left, in the order of the parts."""

    name = "staged.add_parts"
    start = operand_def(TensorType)
    offset = prop_def(IntegerAttr)
    parts = prop_def(IntegerAttr)
    result = result_def(TensorType)

    def __init__(self, start: Value, offset: int, parts: int) -> None:
        super().__init__(
            operands=[start],
            result_types=[SSAValue.get(start).type],
            properties={"offset": IntegerAttr(offset, i64), "parts": IntegerAttr(parts, i64)},
        )
