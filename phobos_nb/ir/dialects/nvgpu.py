"""The dialect `nvgpu`: asynchronous copies, matrix loads, tensor-core products and memory barriers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    FixedBitwidthType,
    IndexType,
    IntAttr,
    IntegerAttr,
    MemRefType,
    StringAttr,
    UnitAttr,
    VectorType,
    i1,
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
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.shapes import element_of, require, require_same_element, shape_of, show

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

    def __init__(self, a: Value, b: Value, c: Value, shape: tuple[int, int, int]) -> None:
        super().__init__(
            operands=[a, b, c],
            result_types=[SSAValue.get(c).type],
            properties={"mmaShape": ArrayAttr([IntegerAttr(n, i64) for n in shape])},
        )

    @property
    def mnk(self) -> tuple[int, int, int]:
        """The warp's shape: rows, columns, depth."""
        m, n, k = (a.value.data for a in self.shape)
        return m, n, k

    def verify_(self) -> None:
        """Each fragment holds a 32nd of its matrix."""
        m, n, k = self.mnk
        for what, value, wanted in (("a", self.a, m * k), ("b", self.b, k * n), ("c", self.c, m * n)):
            found = 32 * cast("VectorType[Attribute]", value.type).element_count()
            require(found == wanted, f"{what}: wanted {wanted} elements over the warp, found {found}")
        require(
            self.result.type == self.c.type, f"result: wanted {self.c.type}, found {self.result.type}"
        )


@irdl_attr_definition
class MBarrierGroupType(ParametrizedAttribute, TypeAttribute):
    """`!nvgpu.mbarrier.group<...>`: one or several memory barriers in shared memory."""

    name = "nvgpu.mbarrier.group"
    memory_space: Attribute
    barriers: IntAttr

    def __init__(self, barriers: int = 1) -> None:
        super().__init__(WORKGROUP, IntAttr(barriers))

    def print_parameters(self, printer: Printer) -> None:
        """Print `<memorySpace = .., num_barriers = ..>`; upstream leaves the number one out."""
        with printer.in_angle_brackets():
            printer.print_string("memorySpace = ")
            printer.print_attribute(self.memory_space)
            if self.barriers.data != 1:
                printer.print_string(f", num_barriers = {self.barriers.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse `<memorySpace = .., num_barriers = ..>`."""
        with parser.in_angle_brackets():
            parser.parse_keyword("memorySpace")
            parser.parse_punctuation("=")
            space = parser.parse_attribute()
            count = 1
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("num_barriers")
                parser.parse_punctuation("=")
                count = parser.parse_integer()
        return [space, IntAttr(count)]


@irdl_attr_definition
class MBarrierTokenType(ParametrizedAttribute, TypeAttribute):
    """`!nvgpu.mbarrier.token`, the phase that an arrival took part in."""

    name = "nvgpu.mbarrier.token"


@irdl_op_definition
class MBarrierCreateOp(IRDLOperation):
    """Reserve memory barriers in shared memory."""

    name = "nvgpu.mbarrier.create"
    barriers = result_def(MBarrierGroupType)

    def __init__(self, count: int = 1) -> None:
        super().__init__(result_types=[MBarrierGroupType(count)])


@irdl_op_definition
class MBarrierInitOp(IRDLOperation):
    """Set the number of arrivals that complete a phase of barrier `index`."""

    name = "nvgpu.mbarrier.init"
    barriers = operand_def(MBarrierGroupType)
    count = operand_def(IndexType())
    index = operand_def(IndexType())
    predicate = opt_operand_def(i1)
    traits = traits_def(MemoryWriteEffect())

    def __init__(
        self, barriers: Value, index: Value, count: Value, predicate: Value | None = None
    ) -> None:
        super().__init__(operands=[barriers, count, index, predicate])


@irdl_op_definition
class MBarrierArriveOp(IRDLOperation):
    """Arrive at barrier `index`."""

    name = "nvgpu.mbarrier.arrive"
    barriers = operand_def(MBarrierGroupType)
    index = operand_def(IndexType())
    token = result_def(MBarrierTokenType())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, barriers: Value, index: Value) -> None:
        super().__init__(operands=[barriers, index], result_types=[MBarrierTokenType()])


@irdl_op_definition
class MBarrierArriveExpectTxOp(IRDLOperation):
    """Arrive at barrier `index` and add `bytes` to what its phase waits for."""

    name = "nvgpu.mbarrier.arrive.expect_tx"
    barriers = operand_def(MBarrierGroupType)
    bytes = operand_def(IndexType())
    index = operand_def(IndexType())
    predicate = opt_operand_def(i1)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, barriers: Value, index: Value, bytes_: Value, predicate: Value | None = None
    ) -> None:
        super().__init__(operands=[barriers, bytes_, index, predicate])


@irdl_op_definition
class MBarrierTryWaitParityOp(IRDLOperation):
    """Wait until the phase of that parity of barrier `index` is complete, asking every `ticks`."""

    name = "nvgpu.mbarrier.try_wait.parity"
    barriers = operand_def(MBarrierGroupType)
    parity = operand_def(i1)
    ticks = operand_def(IndexType())
    index = operand_def(IndexType())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, barriers: Value, index: Value, parity: Value, ticks: Value) -> None:
        super().__init__(operands=[barriers, parity, ticks, index])


@irdl_attr_definition
class TensorMapType(ParametrizedAttribute, TypeAttribute):
    """`!nvgpu.tensormap.descriptor<...>`: how bulk copies address a tensor and write its boxes."""

    name = "nvgpu.tensormap.descriptor"
    tensor: Attribute
    swizzle: StringAttr
    l2promo: StringAttr
    oob: StringAttr
    interleave: StringAttr

    def __init__(
        self, tensor: Attribute, swizzle: str = "swizzle_128b", l2promo: str = "l2promo_128b"
    ) -> None:
        super().__init__(tensor, *(StringAttr(s) for s in (swizzle, l2promo, "zero", "none")))

    def print_parameters(self, printer: Printer) -> None:
        """Print the fields as upstream names them."""
        with printer.in_angle_brackets():
            printer.print_string("tensor = ")
            printer.print_attribute(self.tensor)
            for name in ("swizzle", "l2promo", "oob", "interleave"):
                printer.print_string(f", {name} = {cast(StringAttr, getattr(self, name)).data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse the fields in upstream's order."""
        with parser.in_angle_brackets():
            parser.parse_keyword("tensor")
            parser.parse_punctuation("=")
            values: list[Attribute] = [parser.parse_type()]
            for name in ("swizzle", "l2promo", "oob", "interleave"):
                parser.parse_punctuation(",")
                parser.parse_keyword(name)
                parser.parse_punctuation("=")
                values.append(StringAttr(parser.parse_identifier()))
        return values


@irdl_op_definition
class TmaAsyncLoadOp(IRDLOperation):
    """Start a bulk copy of a box of a tensor to shared memory; barrier `index` counts its bytes."""

    name = "nvgpu.tma.async.load"
    dst = operand_def(MemRefType)
    barriers = operand_def(MBarrierGroupType)
    descriptor = operand_def(TensorMapType)
    coordinates = var_operand_def(IndexType())
    index = operand_def(IndexType())
    multicast_mask = opt_operand_def()
    predicate = opt_operand_def(i1)
    irdl_options = (AttrSizedOperandSegments(as_property=True), ParsePropInAttrDict())
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        dst: Value,
        barriers: Value,
        descriptor: Value,
        coordinates: Sequence[Value],
        index: Value,
        predicate: Value | None = None,
    ) -> None:
        super().__init__(operands=[dst, barriers, descriptor, coordinates, index, None, predicate])


Nvgpu = Dialect(
    "nvgpu",
    [
        DeviceAsyncCopyOp,
        DeviceAsyncCreateGroupOp,
        DeviceAsyncWaitOp,
        LdMatrixOp,
        MmaSyncOp,
        MBarrierCreateOp,
        MBarrierInitOp,
        MBarrierArriveOp,
        MBarrierArriveExpectTxOp,
        MBarrierTryWaitParityOp,
        TmaAsyncLoadOp,
    ],
    [AsyncTokenType, MBarrierGroupType, MBarrierTokenType, TensorMapType],
)
