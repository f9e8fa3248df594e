"""Typed kernel to tile MLIR: SSA form, structured control flow, one op per tile operation.

`statements` walks the body and `expressions` what is computed; `branches` and `loops` turn mutable
variables into results; `control` reads off the tree what is set and how blocks are left.
"""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp

from phobos_nb.dtypes import ALL
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects.tile import AllocSharedOp, KernelOp, shared_type
from phobos_nb.ir.locations import location
from phobos_nb.ir.scalars import mlir_type
from phobos_nb.language.registry import Builtins
from phobos_nb.language.typed import TypedKernel
from phobos_nb.lower.build_tile_ir.state import Flag, Scope, State
from phobos_nb.lower.build_tile_ir.statements import Statements

__all__ = ["build"]


def build(kernel: TypedKernel, builtins: Builtins, index_bits: int) -> ModuleOp:
    """The tile MLIR of a typed kernel: a module with one `tile.kernel`.

    builtins: the table whose `build` functions make the calls. index_bits: width of `index`, 32 or 64.
    The module has been verified: what does not fit together never reaches the lowering.
    """
    op = _kernel_op(kernel, index_bits)
    builder = Builder(op.body.block)
    root = Scope(Flag("live"))
    state = State(kernel, builtins, op, builder, {}, [root])
    for array in kernel.shared:
        with state.at(array.span):
            type_ = shared_type(mlir_type(array.type.dtype), array.type.shape)
            state.shared[array] = builder.named(
                builder.value(AllocSharedOp(array.name, type_)), array.name
            )
    state.values[root.live] = builder.true()
    Statements(state).block(kernel.body)
    builder.drop_unused_constants()
    module = ModuleOp([op])
    module.verify()
    return module


def _kernel_op(kernel: TypedKernel, index_bits: int) -> KernelOp:
    op = KernelOp(
        kernel.name,
        [(t, mlir_type(ALL[t.dtype])) for t in kernel.tensor_parameters],
        [(s.name, mlir_type(ALL[s.dtype])) for s in kernel.scalars],
        threads=kernel.threads,
        min_blocks=kernel.min_blocks,
        max_registers=kernel.max_registers,
        index_bits=index_bits,
        constants=kernel.constants,
        promises=kernel.promises,
    )
    op.location = location(kernel.source, kernel.span)
    return op
