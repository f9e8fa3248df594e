"""Rows of the dialect `nvgpu`: asynchronous copies, matrix loads and tensor-core products."""

from __future__ import annotations

from xdsl.ir import Operation

from phobos_nb.cuda.emit import memory
from phobos_nb.cuda.emit.emitter import Emitter, Spelled
from phobos_nb.cuda.emit.spelling import SIZES
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.reading import integer, integers
from phobos_nb.ir.dialects.nvgpu import DeviceAsyncCopyOp, LdMatrixOp, MmaSyncOp

TOKEN = Spelled("", "void")
"""Tokens order operations in the IR; in CUDA the order of the statements does."""


@row("nvgpu.device_async_copy")
def _copy(e: Emitter, op: Operation) -> None:
    assert isinstance(op, DeviceAsyncCopyOp)
    size = SIZES[e.element_ctype(op.dst.type)]
    total = integer(op.dst_elements) * size
    arguments = [
        memory.pointer(e, op.dst, list(op.dst_indices)),
        memory.pointer(e, op.src, list(op.src_indices)),
    ]
    key = "copy_async_cg" if op.bypass_l1 is not None and total == 16 else "copy_async_ca"
    if op.src_elements is not None:
        key += "_part"
        arguments.append(f"(int)({e.text(op.src_elements)}) * {size}")
    if e.predicate:
        key += "_if"
        arguments.append(e.predicate)
    e.line(f"{e.call(key, *arguments, template=f'<{total}>')};")
    e.bind(op.token, TOKEN)


@row("nvgpu.device_async_create_group")
def _commit(e: Emitter, op: Operation) -> None:
    e.line(f"{e.call('copies_commit')};")
    e.bind(op.results[0], TOKEN)


@row("nvgpu.device_async_wait")
def _wait(e: Emitter, op: Operation) -> None:
    groups = integer(op.properties.get("numGroups"))
    e.line(f"{e.call('copies_wait', template=f'<{groups}>')};")


@row("nvgpu.ldmatrix")
def _ldmatrix(e: Emitter, op: Operation) -> None:
    assert isinstance(op, LdMatrixOp)
    transposed = "_trans" if op.transpose.value.data else ""
    key = f"ldmatrix_x{integer(op.tiles)}{transposed}"
    place = memory.pointer(e, op.src, list(op.indices))
    e.define(op.result, e.call(key, place, template=f"<{e.ctype(op.result)}>"))


@row("nvgpu.mma.sync")
def _mma(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MmaSyncOp)
    m, n, k = integers(op.shape)
    operands = "_".join(e.scalar_type(x).replace(" ", "_") for x in (op.a, op.c))
    key = f"mma_m{m}n{n}k{k}_{operands}"
    arguments = (e.named(x) for x in (op.a, op.b, op.c))
    e.define(op.result, e.call(key, *arguments, template=f"<{e.ctype(op.result)}>"))
