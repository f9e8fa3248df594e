"""`wgmma` of Hopper with accumulators that are plain vectors, which upstream has not.

Upstream's `nvgpu.warpgroup.mma` hides the accumulator, so that no epilogue can be written on it. Here
it is the thread's own vector in register order (PTX ISA, "Register Fragments for wgmma"): in steps of 8
columns, two row halves (rows 8 apart), two neighbouring columns.

Note [In flight]
The accumulator that `phobos.wgmma` returns is in flight: nothing but another `phobos.wgmma`, a
`phobos.wgmma.fence` and a `phobos.wgmma.wait` may take it until a wait has covered its group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    FixedBitwidthType,
    Float16Type,
    Float32Type,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    i1,
    i64,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.shapes import element_of, require

Value = SSAValue | Operation
WARPGROUP = 128
"""Threads that execute a wgmma together."""
ROWS = 64
"""Rows of every wgmma."""
SWIZZLES = (0, 32, 64, 128)
"""Bytes of the rows over which 16-byte pieces are exchanged; 0 is no swizzle."""


@irdl_op_definition
class WgmmaDescriptorOp(IRDLOperation):
    """The 64-bit matrix descriptor of an operand in shared memory that begins at an element.

    `leading` and `stride` are byte offsets, multiples of 16 below 2**18, see `docs/simulator.md`.
    Descriptors are plain integers: the start is advanced by adding bytes / 16.
    """

    name = "phobos.wgmma.descriptor"
    src = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    leading = prop_def(IntegerAttr)
    stride = prop_def(IntegerAttr)
    swizzle = prop_def(IntegerAttr)
    result = result_def(i64)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$src `[` $indices `]` attr-dict `:` type($src)"

    def __init__(
        self, src: Value, indices: Sequence[Value], *, leading: int, stride: int, swizzle: int
    ) -> None:
        super().__init__(
            operands=[src, indices],
            result_types=[i64],
            properties={
                "leading": IntegerAttr(leading, i64),
                "stride": IntegerAttr(stride, i64),
                "swizzle": IntegerAttr(swizzle, i64),
            },
        )

    @property
    def fields(self) -> int:
        """The bits of the descriptor but for the start address."""
        leading, stride = self.leading.value.data, self.stride.value.data
        mode = MODES[self.swizzle.value.data]
        return (leading >> 4) << 16 | (stride >> 4) << 32 | mode << 62

    def verify_(self) -> None:
        """Shared memory, offsets that fit their 14 bits, a swizzle that exists."""
        memref = cast("MemRefType[Attribute]", self.src.type)
        require(
            memref.memory_space == WORKGROUP,
            f"source: wanted memory space {WORKGROUP}, found {memref.memory_space}",
        )
        rank = memref.get_num_dims()
        require(len(self.indices) == rank, f"source: wanted {rank} indices, found {len(self.indices)}")
        for what in ("leading", "stride"):
            value = cast(IntegerAttr, self.properties[what]).value.data
            good = value % 16 == 0 and 0 <= value < 1 << 18
            require(good, f"{what}: wanted a multiple of 16 below 262144, found {value}")
        swizzle = self.swizzle.value.data
        require(swizzle in SWIZZLES, f"swizzle: wanted 0, 32, 64 or 128 bytes, found {swizzle}")


MODES = {0: 0, 128: 1, 64: 2, 32: 3}
"""Bits 62 and 63 of a descriptor by the swizzle's bytes (PTX ISA, "Matrix Descriptor Format")."""


@irdl_op_definition
class WgmmaOp(IRDLOperation):
    """`wgmma.mma_async`: `acc + a @ b` of a warpgroup, started; see Note [In flight].

    `a` is a descriptor (i64) or the thread's fragment, `b` a descriptor. `operand` is the element type,
    f32 standing for tf32. Without `scale_d` true the accumulator counts as zero. `negate_*` negate an
    operand. `mn_major_*`: in shared memory the operand runs along m or n, not along k.
    """

    name = "phobos.wgmma"
    acc = operand_def(VectorType)
    a = operand_def()
    b = operand_def(i64)
    scale_d = opt_operand_def(i1)
    shape = prop_def(ArrayAttr[IntegerAttr])
    operand = prop_def(TypeAttribute)
    mn_major_a = prop_def(BoolAttr)
    mn_major_b = prop_def(BoolAttr)
    negate_a = prop_def(BoolAttr)
    negate_b = prop_def(BoolAttr)
    result = result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self,
        acc: Value,
        a: Value,
        b: Value,
        shape: tuple[int, int, int],
        operand: TypeAttribute,
        *,
        scale_d: Value | None = None,
        mn_major: tuple[bool, bool] = (False, False),
        negate: tuple[bool, bool] = (False, False),
    ) -> None:
        flags = dict(zip(FLAGS, (*mn_major, *negate), strict=True))
        super().__init__(
            operands=[acc, a, b, scale_d],
            result_types=[SSAValue.get(acc).type],
            properties={
                "shape": ArrayAttr([IntegerAttr(n, i64) for n in shape]),
                "operand": operand,
                **{name: BoolAttr.from_bool(flag) for name, flag in flags.items()},
            },
        )

    @property
    def mnk(self) -> tuple[int, int, int]:
        """The warpgroup's shape: rows, columns, depth."""
        m, n, k = (a.value.data for a in self.shape)
        return m, n, k

    @property
    def flags(self) -> tuple[bool, bool, bool, bool]:
        """mn_major_a, mn_major_b, negate_a, negate_b."""
        a, b, c, d = (bool(cast(BoolAttr, self.properties[name]).value.data) for name in FLAGS)
        return a, b, c, d

    @property
    def a_in_registers(self) -> bool:
        """Whether the left operand is a fragment, not a descriptor."""
        return isinstance(self.a.type, VectorType)

    def verify_(self) -> None:
        """The shape exists for the types, the accumulator and a fragment have its sizes."""
        m, n, k = self.mnk
        element = element_of(self.acc.type)
        depth, sums = DEPTHS.get(str(self.operand), (0, ()))
        require(depth > 0, f"operand: wanted f16, bf16, f32 (tf32) or i8, found {self.operand}")
        require(str(element) in sums, f"acc: wanted elements {' or '.join(sums)}, found {element}")
        require(k == depth and m == ROWS, f"shape: wanted 64 rows and depth {depth}, found {m} and {k}")
        integer = isinstance(self.operand, IntegerType)
        require(n in columns_allowed(integer), f"shape: no wgmma has {n} columns")
        count = cast("VectorType[Attribute]", self.acc.type).element_count()
        require(count == n // 2, f"acc: wanted {n // 2} elements per thread, found {count}")
        require(self.result.type == self.acc.type, "result: wanted the accumulator's type")
        self._verify_operands()

    def _verify_operands(self) -> None:
        mn_a, mn_b, negate_a, negate_b = self.flags
        sixteen = isinstance(self.operand, Float16Type | BFloat16Type)
        require(sixteen or not (mn_a or mn_b), "only 16-bit operands can run along m or n")
        integer = isinstance(self.operand, IntegerType)
        require(not (integer and (negate_a or negate_b)), "integer operands cannot be negated")
        if not self.a_in_registers:
            require(self.a.type == i64, f"a: wanted a descriptor or a fragment, found {self.a.type}")
            return
        require(not mn_a, "an operand in registers has no direction in memory")
        bits = cast(FixedBitwidthType, element_of(self.a.type)).bitwidth
        found = cast("VectorType[Attribute]", self.a.type).element_count() * bits
        require(found == 128, f"a: wanted a fragment of 128 bits per thread, found {found}")
        require(element_of(self.a.type) == self.operand, f"a: wanted elements of {self.operand}")


FLAGS = ("mn_major_a", "mn_major_b", "negate_a", "negate_b")
DEPTHS: dict[str, tuple[int, tuple[str, ...]]] = {
    str(Float16Type()): (16, ("f16", "f32")),
    str(BFloat16Type()): (16, ("f32",)),
    str(Float32Type()): (8, ("f32",)),
    str(IntegerType(8)): (32, ("i32",)),
}
"""Depth and accumulator types by operand type; PTX ISA, "wgmma.mma_async"."""


def columns_allowed(integer: bool, /) -> tuple[int, ...]:
    """The numbers of columns: multiples of 8 to 256; for integers 8, 24 and multiples of 16."""
    return (8, 16, 24, *range(32, 257, 16)) if integer else tuple(range(8, 257, 8))


@irdl_op_definition
class WgmmaFenceOp(IRDLOperation):
    """`wgmma.fence`: what ordinary operations wrote to registers may be read by the next wgmma.

    The accumulators pass through it, so that their producers stay before it in any compiler.
    """

    name = "phobos.wgmma.fence"
    accumulators = var_operand_def(VectorType)
    passed = var_result_def(VectorType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, accumulators: Sequence[Value] = ()) -> None:
        types = [SSAValue.get(a).type for a in accumulators]
        super().__init__(operands=[accumulators], result_types=[types])

    def verify_(self) -> None:
        """Each result has the type of its operand."""
        _require_passed(self.accumulators, self.passed)


@irdl_op_definition
class WgmmaWaitOp(IRDLOperation):
    """`wgmma.wait_group`: wait until at most `groups` of the latest groups are in flight.

    The accumulators pass through it: readers take what it returns, so that they stay behind it.
    """

    name = "phobos.wgmma.wait"
    accumulators = var_operand_def(VectorType)
    groups = prop_def(IntegerAttr)
    passed = var_result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(self, accumulators: Sequence[Value] = (), groups: int = 0) -> None:
        types = [SSAValue.get(a).type for a in accumulators]
        super().__init__(
            operands=[accumulators],
            result_types=[types],
            properties={"groups": IntegerAttr(groups, i64)},
        )

    def verify_(self) -> None:
        """A number of groups that the instruction has; each result has the type of its operand."""
        groups = self.groups.value.data
        require(0 <= groups <= 7, f"groups: wanted 0 to 7, found {groups}")
        _require_passed(self.accumulators, self.passed)


def _require_passed(given: Sequence[SSAValue], passed: Sequence[SSAValue]) -> None:
    require(
        [v.type for v in given] == [v.type for v in passed],
        "results: wanted one of each accumulator's type",
    )


WGMMA_OPS: list[type[Operation]] = [WgmmaDescriptorOp, WgmmaOp, WgmmaFenceOp, WgmmaWaitOp]
