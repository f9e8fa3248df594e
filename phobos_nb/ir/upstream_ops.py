"""The operations of the dialect `phobos` as upstream's own, for its verifier and its way to PTX.

Accumulators become LLVM structs of registers, memrefs with indices become pointers. Upstream's product
takes its left operand from shared memory alone, so that one in registers becomes assembler, and whether
it adds the accumulator is fixed, so that a run-time choice becomes a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import cast

from xdsl.dialects import llvm
from xdsl.dialects.builtin import (
    DenseArrayBase,
    FixedBitwidthType,
    IntAttr,
    IntegerType,
    ModuleOp,
    VectorType,
    i32,
    i64,
)
from xdsl.dialects.vector import BitcastOp
from xdsl.ir import Attribute, Operation, SSAValue

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import vector
from phobos_nb.ir.dialects.bulk import PeerOp
from phobos_nb.ir.dialects.matrix_moves import MovMatrixOp, StMatrixOp
from phobos_nb.ir.dialects.nvvm_matrix import InlinePtxOp, StMatrixPointerOp
from phobos_nb.ir.dialects.nvvm_wgmma import (
    Layout,
    MmaAsyncOp,
    ScaleIn,
    ScaleOut,
    ShapeAttr,
    WgmmaFenceAlignedOp,
    WgmmaType,
    WgmmaWaitGroupOp,
)
from phobos_nb.ir.dialects.shapes import element_of, shape_of
from phobos_nb.ir.dialects.wgmma import WgmmaDescriptorOp, WgmmaFenceOp, WgmmaOp, WgmmaWaitOp
from phobos_nb.ir.upstream_addresses import byte_address
from phobos_nb.ir.upstream_bulk import BULK_REWRITES

SHARED_POINTER = llvm.LLVMPointerType(IntAttr(3))
SHARED_WINDOW = (1 << 18) - 1
"""The bits of a shared address that a matrix descriptor holds, in units of 16 bytes."""


def upstream_ops(module: ModuleOp) -> ModuleOp:
    """The module itself, or a copy without operations of our own where it has some.

    Raises NotImplementedError for an address in a memref whose strides are not static.
    """
    if not any(op.name.startswith("phobos.") for op in module.walk()):
        return module
    copy = module.clone()
    for op in list(copy.walk()):
        rewrite = REWRITES.get(op.name)
        results = None if rewrite is None else rewrite(Builder.before(op), op)
        if results is not None:
            _replace(op, results)
    for op in [op for op in copy.walk() if isinstance(op, PeerOp)]:
        if any(True for _ in op.result.uses):
            raise NotImplementedError("a use of a peer's shared memory other than single elements")
        _replace(op, [op.memref])
    return copy


def _replace(op: Operation, results: Sequence[SSAValue]) -> None:
    for old, new in zip(op.results, results, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


# Addresses ---------------------------------------------------------------------------------------


def _descriptor(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, WgmmaDescriptorOp)
    address = byte_address(b, op.src, op.indices)
    start = b.shrui(b.andi(address, b.constant(SHARED_WINDOW, i64)), b.constant(4, i64))
    fields = op.fields - (1 << 64 if op.fields >> 63 else 0)
    return [b.ori(start, b.constant(fields, i64))]


def _stmatrix(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, StMatrixOp)
    address = byte_address(b, op.dst, op.indices)
    pointer = b.value(llvm.IntToPtrOp.create(operands=[address], result_types=[SHARED_POINTER]))
    layout = Layout.COL if op.transpose.value.data else Layout.ROW
    b.insert(StMatrixPointerOp(pointer, _registers(b, op.value), layout))
    return []


def _movmatrix(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, MovMatrixOp)
    code = "movmatrix.sync.aligned.m8n8.trans.b16 {$0}, {$1};"
    moved = b.insert(InlinePtxOp(code, _registers(b, op.value), [i32])).written[0]
    return [_from_registers(b, [moved], op.result.type)]


# Registers ---------------------------------------------------------------------------------------


def _register_type(type_: Attribute) -> Attribute:
    """What a register holds: an element of 32 bits, or several narrower ones as an i32."""
    element = element_of(type_)
    return element if cast(FixedBitwidthType, element).bitwidth == 32 else i32


def _registers(b: Builder, value: SSAValue) -> list[SSAValue]:
    """A vector as its 32-bit registers."""
    register = _register_type(value.type)
    flat = b.value(vector.ShapeCastOp(value, [_count(value.type)]))
    if register != element_of(value.type):
        bits = cast(FixedBitwidthType, element_of(value.type)).bitwidth
        flat = b.value(BitcastOp(flat, VectorType(i32, [_count(value.type) * bits // 32])))
    return list(b.insert(vector.ToElementsOp(flat)).elements)


def _from_registers(b: Builder, registers: Sequence[SSAValue], type_: Attribute) -> SSAValue:
    """The inverse of `_registers`."""
    made = VectorType(registers[0].type, [len(registers)])
    flat = b.value(vector.FromElementsOp(registers, made))
    if registers[0].type != element_of(type_):
        flat = b.value(BitcastOp(flat, VectorType(element_of(type_), [_count(type_)])))
    return b.value(vector.ShapeCastOp(flat, shape_of(type_) or ()))


def _count(type_: Attribute) -> int:
    return cast("VectorType[Attribute]", type_).element_count()


# Products ----------------------------------------------------------------------------------------


def _product(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, WgmmaOp)
    registers = _registers(b, op.acc)
    struct = llvm.LLVMStructType.from_type_list([r.type for r in registers])
    if op.a_in_registers:
        return [_unpacked(b, op, _assembled(b, op, registers, struct), registers)]
    packed = b.value(llvm.UndefOp(struct))
    for k, register in enumerate(registers):
        packed = b.value(llvm.InsertValueOp(_position(k), packed, register))
    return [_unpacked(b, op, _chosen(b, op, packed), registers)]


def _unpacked(b: Builder, op: WgmmaOp, done: SSAValue, registers: Sequence[SSAValue]) -> SSAValue:
    """The accumulator of a struct of its registers."""
    parts = [b.value(llvm.ExtractValueOp(_position(k), done, r.type)) for k, r in enumerate(registers)]
    return _from_registers(b, parts, op.result.type)


def _assembled(
    b: Builder, op: WgmmaOp, registers: Sequence[SSAValue], struct: llvm.LLVMStructType
) -> SSAValue:
    """A product with its left operand in registers as assembler, as upstream writes the others."""
    count = len(registers)
    fragment = [_as_i32(b, r) for r in _registers(b, op.a)]
    scale = b.true() if op.scale_d is None else op.scale_d
    kind = "f" if str(registers[0].type) == "f32" else "r"
    constraints = [f"={kind}"] * count + [str(k) for k in range(count)] + ["r"] * 4 + ["l", "r"]
    start = 2 * count  # in the text the tied inputs count too
    slots = [f"${k}" for k in range(start + 6)]
    text = (
        f"{{\n.reg .pred p;\nsetp.ne.b32 p, {slots[start + 5]}, 0;\n{_instruction(op)} "
        f"{{{', '.join(slots[:count])}}}, {{{', '.join(slots[start : start + 4])}}}, "
        f"{slots[start + 4]}, p{_immediates(op)};\n}}\n"
    )
    operands = [*registers, *fragment, op.b, b.extui(scale, i32)]
    asm = llvm.InlineAsmOp(
        text, ",".join(constraints), operands, [struct], asm_dialect=0, has_side_effects=True
    )
    return b.value(asm)


def _as_i32(b: Builder, register: SSAValue) -> SSAValue:
    return register if register.type == i32 else b.bitcast(register, i32)


def _instruction(op: WgmmaOp) -> str:
    m, n, k = op.mnk
    operand = "tf32" if str(op.operand) == "f32" else TYPES[str(op.operand)].value
    sums = TYPES[str(element_of(op.acc.type))].value
    return f"wgmma.mma_async.sync.aligned.m{m}n{n}k{k}.{sums}.{operand}.{operand}"


def _immediates(op: WgmmaOp) -> str:
    """Signs for floats, the direction of b for operands of 16 bits."""
    _, mn_b, negate_a, negate_b = op.flags
    if str(op.operand) == "i8":
        return ""
    signs = f", {-1 if negate_a else 1}, {-1 if negate_b else 1}"
    return signs if str(op.operand) == "f32" else f"{signs}, {int(mn_b)}"


def _position(k: int) -> DenseArrayBase[IntegerType]:
    return DenseArrayBase.from_list(i64, [k])


def _chosen(b: Builder, op: WgmmaOp, packed: SSAValue) -> SSAValue:
    """The product with or without the accumulator, by a branch where that is known only at run time."""
    if op.scale_d is None:
        return b.value(_async(op, packed, ScaleOut.ONE))
    branch = b.if_(op.scale_d, [packed.type])
    for region, scale in zip(branch.regions, (ScaleOut.ONE, ScaleOut.ZERO), strict=True):
        with b.inside(region.block):
            b.yield_([b.value(_async(op, packed, scale))])
    return branch.results[0]


TYPES = {
    "f16": WgmmaType.F16,
    "bf16": WgmmaType.BF16,
    "i8": WgmmaType.S8,
    "f32": WgmmaType.F32,
    "i32": WgmmaType.S32,
}


def _async(op: WgmmaOp, packed: SSAValue, scale: ScaleOut) -> MmaAsyncOp:
    mn_a, mn_b, negate_a, negate_b = op.flags
    operand = WgmmaType.TF32 if str(op.operand) == "f32" else TYPES[str(op.operand)]
    m, n, k = op.mnk
    return MmaAsyncOp(
        packed,
        (op.a, op.b),
        ShapeAttr(m, n, k),
        (operand, TYPES[str(element_of(op.acc.type))]),
        scale_d=scale,
        scales=(_sign(negate_a), _sign(negate_b)),
        layouts=(Layout.COL if mn_a else Layout.ROW, Layout.ROW if mn_b else Layout.COL),
    )


def _sign(negate: bool, /) -> ScaleIn:
    return ScaleIn.NEG if negate else ScaleIn.ONE


def _fence(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, WgmmaFenceOp)
    b.insert(WgmmaFenceAlignedOp())
    return list(op.accumulators)


def _wait(b: Builder, op: Operation) -> list[SSAValue]:
    assert isinstance(op, WgmmaWaitOp)
    b.insert(WgmmaWaitGroupOp(op.groups.value.data))
    return list(op.accumulators)


REWRITES: Mapping[str, Callable[[Builder, Operation], list[SSAValue] | None]] = {
    "phobos.stmatrix": _stmatrix,
    "phobos.movmatrix": _movmatrix,
    "phobos.wgmma.descriptor": _descriptor,
    "phobos.wgmma": _product,
    "phobos.wgmma.fence": _fence,
    "phobos.wgmma.wait": _wait,
    **BULK_REWRITES,
}
