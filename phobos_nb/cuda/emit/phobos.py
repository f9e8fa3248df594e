"""Rows of the dialect `phobos`: moves of tiles, and the asynchronous products of a warpgroup."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from phobos_nb.cuda.emit import memory
from phobos_nb.cuda.emit.emitter import Emitter
from phobos_nb.cuda.emit.helpers_wgmma import Wgmma, wgmma
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.reading import element_type, integer, shape
from phobos_nb.ir.dialects.matrix_moves import MovMatrixOp, StMatrixOp
from phobos_nb.ir.dialects.nvvm_wgmma import WgmmaFenceAlignedOp, WgmmaWaitGroupOp
from phobos_nb.ir.dialects.wgmma import WgmmaDescriptorOp, WgmmaFenceOp, WgmmaOp, WgmmaWaitOp


@row("phobos.stmatrix")
def _stmatrix(e: Emitter, op: Operation) -> None:
    assert isinstance(op, StMatrixOp)
    transposed = "_trans" if op.transpose.value.data else ""
    key = f"stmatrix_x{shape(op.value.type)[0]}{transposed}"
    place = memory.pointer(e, op.dst, list(op.indices))
    e.line(f"{e.call(key, place, e.named(op.value))};")


@row("phobos.movmatrix")
def _movmatrix(e: Emitter, op: Operation) -> None:
    assert isinstance(op, MovMatrixOp)
    e.define(op.result, e.call("movmatrix", e.named(op.value)))


@row("phobos.wgmma.descriptor")
def _descriptor(e: Emitter, op: Operation) -> None:
    assert isinstance(op, WgmmaDescriptorOp)
    place = memory.pointer(e, op.src, list(op.indices))
    e.shared_alignment = 1024
    e.define(op.result, e.call("wgmma_descriptor", place, f"0x{op.fields:x}ULL"))


@row("phobos.wgmma")
def _product(e: Emitter, op: Operation) -> None:
    assert isinstance(op, WgmmaOp)
    _, columns, depth = op.mnk
    types = str(op.operand), str(element_type(op.acc.type))
    mn_a, mn_b, negate_a, negate_b = op.flags
    a = e.named(op.a) if op.a_in_registers else e.text(op.a)
    b = e.text(op.b)
    scale = "1" if op.scale_d is None else e.text(op.scale_d)
    key = wgmma(Wgmma(columns, depth, *types, op.a_in_registers))
    signs = (-1 if negate_a else 1, -1 if negate_b else 1)
    immediates = ", ".join(str(int(x)) for x in (*signs, mn_a, mn_b))
    e.line(f"{e.call(key, e.take(op.result, op.acc), a, b, scale, template=f'<{immediates}>')};")


def _hold(e: Emitter, results: Sequence[SSAValue], operands: Sequence[SSAValue]) -> None:
    for result, operand in zip(results, operands, strict=True):
        e.line(f"{e.call('hold', e.take(result, operand))};")


@row("phobos.wgmma.fence")
def _fence(e: Emitter, op: Operation) -> None:
    assert isinstance(op, WgmmaFenceOp)
    _hold(e, op.passed, op.accumulators)
    e.line(f"{e.call('wgmma_fence')};")


@row("phobos.wgmma.wait")
def _wait(e: Emitter, op: Operation) -> None:
    assert isinstance(op, WgmmaWaitOp)
    e.line(f"{e.call('wgmma_wait', template=f'<{integer(op.groups)}>')};")
    _hold(e, op.passed, op.accumulators)


@row("nvvm.wgmma.fence.aligned", "nvvm.wgmma.commit.group.sync.aligned")
def _without_operands(e: Emitter, op: Operation) -> None:
    e.line(f"{e.call('wgmma_fence' if isinstance(op, WgmmaFenceAlignedOp) else 'wgmma_commit')};")


@row("nvvm.wgmma.wait.group.sync.aligned")
def _bare_wait(e: Emitter, op: Operation) -> None:
    assert isinstance(op, WgmmaWaitGroupOp)
    e.line(f"{e.call('wgmma_wait', template=f'<{integer(op.group)}>')};")
