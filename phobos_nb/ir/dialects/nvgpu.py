"""The dialect `nvgpu`: asynchronous copies, matrix loads, tensor-core products and memory barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    MemRefType,
    UnitAttr,
    VectorType,
    f32,
    i32,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.nvgpu_mbarrier import (
    MBARRIER_OPS,
    MBarrierArriveExpectTxOp,
    MBarrierArriveNoCompleteOp,
    MBarrierArriveOp,
    MBarrierCreateOp,
    MBarrierGetOp,
    MBarrierGroupType,
    MBarrierInitOp,
    MBarrierTestWaitOp,
    MBarrierTokenType,
    MBarrierTryWaitParityOp,
)
from phobos_nb.ir.dialects.nvgpu_tma import (
    TMA_OPS,
    TensorMapType,
    TmaAsyncLoadOp,
    TmaAsyncStoreOp,
    TmaCreateDescriptorOp,
    TmaPrefetchOp,
)
from phobos_nb.ir.dialects.nvgpu_warpgroup import WARPGROUP_OPS, WARPGROUP_TYPES
from phobos_nb.ir.dialects.shapes import element_of, require, require_same_element, shape_of, show

__all__ = [
    "AsyncTokenType",
    "DeviceAsyncCopyOp",
    "DeviceAsyncCreateGroupOp",
    "DeviceAsyncWaitOp",
    "LdMatrixOp",
    "MBarrierArriveExpectTxOp",
    "MBarrierArriveNoCompleteOp",
    "MBarrierArriveOp",
    "MBarrierCreateOp",
    "MBarrierGetOp",
    "MBarrierGroupType",
    "MBarrierInitOp",
    "MBarrierTestWaitOp",
    "MBarrierTokenType",
    "MBarrierTryWaitParityOp",
    "MmaSyncOp",
    "Nvgpu",
    "TensorMapType",
    "TmaAsyncLoadOp",
    "TmaAsyncStoreOp",
    "TmaCreateDescriptorOp",
    "TmaPrefetchOp",
]

Value = SSAValue | Operation


@irdl_attr_definition
class AsyncTokenType(ParametrizedAttribute, TypeAttribute):
    """`!nvgpu.device.async.token`, orders asynchronous copies."""

    name = "nvgpu.device.async.token"


def _require_rank(what: str, memref: SSAValue, indices: Sequence[SSAValue]) -> None:
    rank = cast("MemRefType[Attribute]", memref.type).get_num_dims()
    require(len(indices) == rank, f"{what}: wanted {rank} indices, found {len(indices)}")


def _require_shared(what: str, memref: SSAValue) -> None:
    space = cast("MemRefType[Attribute]", memref.type).memory_space
    require(space == WORKGROUP, f"{what}: wanted memory space {WORKGROUP}, found {space}")


@irdl_op_definition
class DeviceAsyncCopyOp(IRDLOperation):
    """`cp.async` of `dstElements` elements (4, 8 or 16 bytes) from global to shared memory.

    `src_elements`, when given, is how many of them are read; the rest is filled with zeros.
    `bypassL1` asks for `.cg`, which moves 16 bytes.
    """

    name = "nvgpu.device_async_copy"
    dst = operand_def(MemRefType)
    dst_indices = var_operand_def(IndexType())
    src = operand_def(MemRefType)
    src_indices = var_operand_def(IndexType())
    src_elements = opt_operand_def(IndexType())
    dst_elements = prop_def(IntegerAttr, prop_name="dstElements")
    bypass_l1 = opt_prop_def(UnitAttr, prop_name="bypassL1")
    token = result_def(AsyncTokenType())
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$src `[` $src_indices `]` `,` $dst `[` $dst_indices `]` `,` $dstElements "
        "(`,` $src_elements^)? attr-dict `:` type($src) `to` type($dst)"
    )

    def __init__(
        self,
        dst: Value,
        dst_indices: Sequence[Value],
        src: Value,
        src_indices: Sequence[Value],
        elements: int,
        *,
        src_elements: Value | None = None,
        bypass_l1: bool = False,
    ) -> None:
        super().__init__(
            operands=[dst, dst_indices, src, src_indices, src_elements],
            result_types=[AsyncTokenType()],
            properties={
                "dstElements": IntegerAttr(elements, IndexType()),
                "bypassL1": UnitAttr() if bypass_l1 else None,
            },
        )

    def verify_(self) -> None:
        """Indices fit, the target is shared memory, and the size is one that the hardware copies."""
        _require_rank("destination", self.dst, self.dst_indices)
        _require_rank("source", self.src, self.src_indices)
        _require_shared("destination", self.dst)
        require_same_element("source", self.dst.type, self.src.type)
        element = cast(FixedBitwidthType, element_of(self.dst.type))
        bytes_ = self.dst_elements.value.data * element.bitwidth // 8
        wanted = (16,) if self.bypass_l1 is not None else (4, 8, 16)
        require(
            bytes_ in wanted, f"wanted a copy of {' or '.join(map(str, wanted))} bytes, found {bytes_}"
        )


@irdl_op_definition
class DeviceAsyncCreateGroupOp(IRDLOperation):
    """Close the group of the copies issued so far (`cp.async.commit_group`)."""

    name = "nvgpu.device_async_create_group"
    tokens = var_operand_def(AsyncTokenType())
    token = result_def(AsyncTokenType())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "(`(` $tokens^ `)`)? attr-dict"

    def __init__(self, tokens: Sequence[Value] = ()) -> None:
        super().__init__(operands=[tokens], result_types=[AsyncTokenType()])


@irdl_op_definition
class DeviceAsyncWaitOp(IRDLOperation):
    """Wait until at most `numGroups` of the latest groups are pending (`cp.async.wait_group`)."""

    name = "nvgpu.device_async_wait"
    token = operand_def(AsyncTokenType())
    groups = opt_prop_def(IntegerAttr, prop_name="numGroups")
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$token attr-dict"

    def __init__(self, token: Value, groups: int) -> None:
        super().__init__(operands=[token], properties={"numGroups": IntegerAttr(groups, i32)})


@irdl_op_definition
class LdMatrixOp(IRDLOperation):
    """`ldmatrix`: load 1, 2 or 4 8x8 tiles of 16-bit elements; lane l gives the row address of row l.

    The result is one row of `vector<numTiles x 2>` per tile: the lane's fragment.
    """

    name = "nvgpu.ldmatrix"
    src = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    transpose = prop_def(BoolAttr)
    tiles = prop_def(IntegerAttr, prop_name="numTiles")
    result = result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect())
    assembly_format = "$src `[` $indices `]` attr-dict `:` type($src) `->` type($result)"

    def __init__(
        self,
        src: Value,
        indices: Sequence[Value],
        tiles: int,
        *,
        transpose: bool = False,
    ) -> None:
        element = element_of(SSAValue.get(src).type)
        per_tile = 32 // cast(FixedBitwidthType, element).bitwidth
        super().__init__(
            operands=[src, indices],
            result_types=[VectorType(element, [tiles, per_tile])],
            properties={
                "transpose": BoolAttr.from_bool(transpose),
                "numTiles": IntegerAttr(tiles, i32),
            },
        )

    def verify_(self) -> None:
        """Shared source, 1, 2 or 4 tiles, 32 bits per tile in each lane."""
        _require_rank("source", self.src, self.indices)
        _require_shared("source", self.src)
        tiles = self.tiles.value.data
        require(tiles in (1, 2, 4), f"numTiles: wanted 1, 2 or 4, found {tiles}")
        width = cast(FixedBitwidthType, element_of(self.result.type)).bitwidth
        require(width == 16 or not self.transpose.value.data, "only 16-bit elements can be transposed")
        wanted, found = (tiles, 32 // width), shape_of(self.result.type)
        require(found == wanted, f"result: wanted shape {show(wanted)}, found {show(found)}")


@irdl_op_definition
class MmaSyncOp(IRDLOperation):
    """`mma.sync`: one m x n x k product of a warp on the fragments of its lanes, `c + a @ b`."""

    name = "nvgpu.mma.sync"
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = operand_def(VectorType)
    shape = prop_def(ArrayAttr[IntegerAttr], prop_name="mmaShape")
    tf32_enabled = opt_prop_def(UnitAttr, prop_name="tf32Enabled")
    result = result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = (
        "`(` $a `,` $b `,` $c `)` attr-dict "
        "`:` `(` type($a) `,` type($b) `,` type($c) `)` `->` type($result)"
    )

    def __init__(
        self, a: Value, b: Value, c: Value, shape: tuple[int, int, int], *, tf32: bool = False
    ) -> None:
        super().__init__(
            operands=[a, b, c],
            result_types=[SSAValue.get(c).type],
            properties={
                "mmaShape": ArrayAttr([IntegerAttr(n, i64) for n in shape]),
                "tf32Enabled": UnitAttr() if tf32 else None,
            },
        )

    @property
    def mnk(self) -> tuple[int, int, int]:
        """The warp's shape: rows, columns, depth."""
        m, n, k = (a.value.data for a in self.shape)
        return m, n, k

    def verify_(self) -> None:
        """Each fragment holds a 32nd of its matrix; f32 operands are said to be read as tf32."""
        m, n, k = self.mnk
        for what, value, wanted in (("a", self.a, m * k), ("b", self.b, k * n), ("c", self.c, m * n)):
            found = 32 * cast("VectorType[Attribute]", value.type).element_count()
            require(found == wanted, f"{what}: wanted {wanted} elements over the warp, found {found}")
        tf32 = element_of(self.a.type) == f32
        require(tf32 == (self.tf32_enabled is not None), "tf32Enabled belongs to operands of f32")
        require(
            self.result.type == self.c.type, f"result: wanted {self.c.type}, found {self.result.type}"
        )


Nvgpu = Dialect(
    "nvgpu",
    [
        DeviceAsyncCopyOp,
        DeviceAsyncCreateGroupOp,
        DeviceAsyncWaitOp,
        LdMatrixOp,
        MmaSyncOp,
        *MBARRIER_OPS,
        *TMA_OPS,
        *WARPGROUP_OPS,
    ],
    [AsyncTokenType, MBarrierGroupType, MBarrierTokenType, TensorMapType, *WARPGROUP_TYPES],
)
