"""The one op of the dialect `llvm` that thread MLIR uses and xDSL lacks."""

from __future__ import annotations

from xdsl.dialects import llvm as xdsl_llvm
from xdsl.ir import Dialect
from xdsl.irdl import IRDLOperation, irdl_op_definition, traits_def
from xdsl.traits import MemoryWriteEffect

ASSERTED = "phobos.assert"
"""An attribute of the trap behind an assert: its text."""


@irdl_op_definition
class TrapOp(IRDLOperation):
    """End the kernel with an error."""

    name = "llvm.intr.trap"
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        super().__init__()


Llvm = Dialect("llvm", [*xdsl_llvm.LLVM.operations, TrapOp], [*xdsl_llvm.LLVM.attributes])
