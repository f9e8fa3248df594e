"""The builder of thread-level IR: `ir.builder.Builder` with the vector, memref and gpu ops it needs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import cast

from xdsl.dialects import memref, scf
from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
    VectorType,
    i1,
    i32,
    i64,
)
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, SSAValue

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import gpu, nvgpu, vector
from phobos_nb.ir.dialects.memref import ARRAY_OFFSET
from phobos_nb.ir.dialects.shapes import element_of, shape_of
from phobos_nb.ir.fold import constant_value
from phobos_nb.lower.layout_types import byte_width

Vector = VectorType[Attribute]
Values = Sequence[SSAValue]

_DIMENSIONS = {
    "x": gpu.DimensionEnum.X,
    "y": gpu.DimensionEnum.Y,
    "z": gpu.DimensionEnum.Z,
}


class ThreadBuilder(Builder):
    """Methods are named as the op they make, with the dialect in front where two share a name."""

    def thread_id(self, axis: str) -> SSAValue:
        """The thread's position in its CTA."""
        return self.value(gpu.ThreadIdOp(gpu.DimensionAttr(_DIMENSIONS[axis])))

    def block_id(self, axis: str) -> SSAValue:
        """The CTA's position in the grid."""
        return self.value(gpu.BlockIdOp(gpu.DimensionAttr(_DIMENSIONS[axis])))

    def grid_dim(self, axis: str) -> SSAValue:
        """How many CTAs the grid has along an axis."""
        return self.value(gpu.GridDimOp(gpu.DimensionAttr(_DIMENSIONS[axis])))

    def zero(self, type_: Attribute) -> SSAValue:
        """Zero of a scalar or vector type."""
        return self.constant(0, type_)

    # Memory --------------------------------------------------------------------------------------

    def view(
        self, base: SSAValue, shift: SSAValue, type_: MemRefType[Attribute], offset: int
    ) -> SSAValue:
        """The bytes of `base` from `shift` on as a memref of a static shape.

        offset: the byte at which the buffer begins of which this is a view, at `shift` or before.
        """
        op = memref.ViewOp(base, shift, [], type_)
        op.attributes[ARRAY_OFFSET] = IntegerAttr(offset, i64)
        return self.value(op)

    def load(self, base: SSAValue, indices: Values) -> SSAValue:
        """One element."""
        return self.value(memref.LoadOp.get(base, indices))

    def store(self, value: SSAValue, base: SSAValue, indices: Values) -> None:
        """One element."""
        self.insert(memref.StoreOp.get(value, base, indices))

    def vector_load(self, base: SSAValue, indices: Values, type_: Vector, alignment: int) -> SSAValue:
        """A run along the last axis; `alignment` is in bytes."""
        return self.value(vector.LoadOp(base, indices, type_, alignment))

    def vector_store(self, value: SSAValue, base: SSAValue, indices: Values, alignment: int) -> None:
        """A run along the last axis; `alignment` is in bytes."""
        self.insert(vector.StoreOp(value, base, indices, alignment))

    def maskedload(
        self, base: SSAValue, indices: Values, mask: SSAValue, passthrough: SSAValue, alignment: int
    ) -> SSAValue:
        """A run of which only the masked elements are read."""
        return self.value(vector.MaskedLoadOp(base, indices, mask, passthrough, alignment))

    def maskedstore(
        self, value: SSAValue, base: SSAValue, indices: Values, mask: SSAValue, alignment: int
    ) -> None:
        """A run of which only the masked elements are written."""
        self.insert(vector.MaskedStoreOp(base, indices, mask, value, alignment))

    def create_mask(self, count: SSAValue, length: int) -> SSAValue:
        """The mask of the first `count` of `length` elements; clamped at both ends."""
        op = xdsl_vector.CreateMaskOp.build(operands=[[count]], result_types=[VectorType(i1, [length])])
        return self.value(op)

    def pointer(self, base: SSAValue, offset: SSAValue) -> SSAValue:
        """The elements of a tensor argument from an offset on, of a nominal extent."""
        element = element_of(base.type)
        op = memref.ReinterpretCastOp.from_dynamic(
            base, [offset], [self.index(NOMINAL)], [1], running_memref(element)
        )
        return self.value(op)

    def moved(self, pointer: SSAValue, step: SSAValue) -> SSAValue:
        """A pointer moved by elements."""
        size = self.index(NOMINAL)
        return self.value(memref.SubviewOp.get(pointer, [step], [size], [1], pointer.type))

    def copy_async(
        self,
        target: SSAValue,
        places: Values,
        source: SSAValue,
        offset: SSAValue,
        width: int,
        count: SSAValue | None,
    ) -> SSAValue:
        """Start a copy of `width` elements to shared memory; past the first `count` they are zero."""
        bypass = width * byte_width(element_of(source.type)) == 16
        return self.value(
            nvgpu.DeviceAsyncCopyOp(
                target, places, source, [offset], width, src_elements=count, bypass_l1=bypass
            )
        )

    def commit_copies(self) -> SSAValue:
        """Make the copies started so far a group."""
        return self.value(nvgpu.DeviceAsyncCreateGroupOp())

    def wait_copies(self, token: SSAValue, groups: int) -> None:
        """Wait until at most `groups` of the youngest groups are in flight."""
        self.insert(nvgpu.DeviceAsyncWaitOp(token, groups))

    # Vectors -------------------------------------------------------------------------------------

    def splat(self, scalar: SSAValue, type_: Vector) -> SSAValue:
        """A vector of one scalar.

        Infinities and NaN stay scalar constants: xDSL cannot read them back in a dense one.
        """
        known = constant_value(scalar)
        if known is not None and math.isfinite(known):
            return self.constant(known, type_)
        return self.value(xdsl_vector.BroadcastOp(scalar, type_))

    def filled(self, number: float, type_: Vector) -> SSAValue:
        """A vector of one number."""
        return self.splat(self.constant(number, type_.element_type), type_)

    def broadcast(self, source: SSAValue, type_: Vector) -> SSAValue:
        """Stretch axes of extent 1 and add leading ones."""
        if source.type == type_:
            return source
        known = constant_value(source)
        if known is not None:
            return self.filled(known, type_)
        return self.value(xdsl_vector.BroadcastOp(source, type_))

    def from_elements(self, scalars: Values, type_: Vector) -> SSAValue:
        """A vector of the scalars in row-major order."""
        known = {constant_value(s) for s in scalars}
        if len(set(scalars)) == 1 and None not in known:
            return self.splat(scalars[0], type_)
        return self.value(vector.FromElementsOp(scalars, type_))

    def to_elements(self, value: SSAValue) -> list[SSAValue]:
        """The scalars of a vector in row-major order."""
        known = constant_value(value)
        if known is not None:
            count = cast(Vector, value.type).element_count()
            return [self.constant(known, element_of(value.type))] * count
        if isinstance(value.owner, vector.FromElementsOp):
            return list(value.owner.elements)
        return list(self.insert(vector.ToElementsOp(value)).results)

    def insert_strided_slice(self, part: SSAValue, whole: SSAValue, offsets: Sequence[int]) -> SSAValue:
        """`whole` with `part` at `offsets`; all of it where the types are equal."""
        if part.type == whole.type:
            return part
        return self.value(vector.InsertStridedSliceOp(part, whole, offsets))

    def extract_run(self, value: SSAValue, slot: Sequence[int], width: int) -> SSAValue:
        """The `width` elements along the last axis from a slot on, as a vector of rank 1."""
        shape = shape_of(value.type) or ()
        if shape == (width,):
            return value
        sizes = [*([1] * (len(shape) - 1)), width]
        piece = value
        if list(shape) != sizes:
            piece = self.value(vector.ExtractStridedSliceOp(value, slot, sizes))
        return self.shape_cast(piece, [width])

    def extract_rows(self, value: SSAValue, start: int, stop: int) -> SSAValue:
        """Positions `start` to `stop` of the first axis."""
        known = constant_value(value)
        if known is not None:
            rest = (shape_of(value.type) or ())[1:]
            return self.filled(known, VectorType(element_of(value.type), [stop - start, *rest]))
        return self.value(vector.ExtractStridedSliceOp(value, [start], [stop - start]))

    def shape_cast(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """The same elements in row-major order under another shape."""
        if shape_of(value.type) == tuple(shape):
            return value
        return self.value(vector.ShapeCastOp(value, shape))

    def transpose(self, value: SSAValue, order: Sequence[int]) -> SSAValue:
        """Axis i of the result is axis `order[i]` of the vector."""
        return self.value(vector.TransposeOp(value, order))

    def multi_reduction(
        self, kind: CombiningKindFlag, source: SSAValue, start: SSAValue, axis: int
    ) -> SSAValue:
        """Combine along an axis, which vanishes."""
        return self.value(vector.MultiReductionOp(kind, source, start, [axis]))

    def outerproduct(self, lhs: SSAValue, rhs: SSAValue, acc: SSAValue) -> vector.OuterProductOp:
        """`acc + lhs * rhs`, one multiply-add per element."""
        return self.insert(vector.OuterProductOp(lhs, rhs, acc))

    # Threads -------------------------------------------------------------------------------------

    def shuffle_xor(self, value: SSAValue, mask: int) -> SSAValue:
        """The value of lane ^ mask."""
        offset, width = self.constant(mask, i32), self.constant(32, i32)
        op = gpu.ShuffleOp(value, offset, width, gpu.ShuffleMode.XOR)
        return self.insert(op).result

    def choose(
        self,
        condition: SSAValue | None,
        then: Callable[[], SSAValue],
        otherwise: Callable[[], SSAValue],
    ) -> SSAValue:
        """The value of a branch; only `then` is built where the condition is None or always true."""
        if condition is None or constant_value(condition):
            return then()
        if constant_value(condition) is not None:
            return otherwise()
        fallback = otherwise()
        branch = self.if_(condition, [fallback.type])
        with self.inside(branch.true_region.block):
            self.yield_([then()])
        with self.inside(branch.false_region.block):
            self.yield_([fallback])
        return branch.results[0]

    def when(self, condition: SSAValue | None, then: Callable[[], None]) -> scf.IfOp | None:
        """Build an effect under a condition; None always holds. The branch, where one is needed."""
        known = None if condition is None else constant_value(condition)
        if condition is None or known:
            then()
            return None
        if known is not None:
            return None
        branch = self.if_(condition)
        with self.inside(branch.true_region.block):
            then()
            self.yield_()
        return branch


def integer(value: int) -> IntegerAttr:
    """An i64 attribute."""
    return IntegerAttr(value, i64)


NOMINAL = 1 << 30
"""The extent that running pointers are given; only elements of the tensor are touched."""


def running_memref(element: Attribute) -> MemRefType[Attribute]:
    """The type of a pointer into a tensor."""
    layout = StridedLayoutAttr([1], None)
    return MemRefType(element, [DYNAMIC_INDEX], layout)


def flat_memref(element: Attribute) -> MemRefType[Attribute]:
    """The type of a tensor argument: elements from a base address on, of unknown extent."""
    return MemRefType(element, [DYNAMIC_INDEX])
