"""Rows of `gpu.subgroup_mma_*`."""

from __future__ import annotations

from typing import cast

from xdsl.ir import Operation, SSAValue

from phobos_nb.cuda.emit import memory
from phobos_nb.cuda.emit.emitter import Emitter
from phobos_nb.cuda.emit.helpers_wmma import move, product
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.emit.wmma_registers import registers
from phobos_nb.cuda.reading import integer
from phobos_nb.ir.dialects.subgroup_mma import (
    MatrixType,
    SubgroupMmaComputeOp,
    SubgroupMmaConstantOp,
    SubgroupMmaLoadOp,
    SubgroupMmaStoreOp,
)


def _type(value: SSAValue) -> MatrixType:
    return cast(MatrixType, value.type)


@row("gpu.subgroup_mma_load_matrix")
def _load(e: Emitter, op: Operation) -> None:
    assert isinstance(op, SubgroupMmaLoadOp)
    key = move(_type(op.result), store=False, transpose=op.transpose is not None)
    place = memory.pointer(e, op.src, list(op.indices))
    template = f"<{e.ctype(op.result)}>"
    e.define(op.result, e.call(key, place, str(integer(op.lead)), template=template))


@row("gpu.subgroup_mma_store_matrix")
def _store(e: Emitter, op: Operation) -> None:
    assert isinstance(op, SubgroupMmaStoreOp)
    key = move(_type(op.src), store=True, transpose=op.transpose is not None)
    place = memory.pointer(e, op.dst, list(op.indices))
    e.line(f"{e.call(key, place, str(integer(op.lead)), e.text(op.src))};")


@row("gpu.subgroup_mma_constant_matrix")
def _constant(e: Emitter, op: Operation) -> None:
    assert isinstance(op, SubgroupMmaConstantOp)
    type_, value = _type(op.result), e.text(op.value)
    count = registers(type_)
    element = str(type_.element)
    words = {
        "f32": f"__float_as_uint({value})",
        "f16": f"({value}).bits * 0x10001u",
        "si8": f"(unsigned char)({value}) * 0x1010101u",
        "i32": f"(unsigned)({value})",
    }
    template = f"<{e.ctype(op.result)}, {count}>"
    e.define(op.result, e.call("wmma_fill", words[element], template=template))


@row("gpu.subgroup_mma_compute")
def _compute(e: Emitter, op: Operation) -> None:
    assert isinstance(op, SubgroupMmaComputeOp)
    transposed = (op.a_transpose is not None, op.b_transpose is not None)
    key = product(_type(op.a), _type(op.b), _type(op.c), transposed)
    e.define(op.result, e.call(key, e.text(op.a), e.text(op.b), e.text(op.c)))
