"""From a module to a program: find the kernel, decode its body."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from phobos_nb.ir.dialects.gpu import FuncOp
from phobos_nb.ir.dialects.wgmma import WgmmaOp
from phobos_nb.simulate.in_flight import RegisterWatch
from phobos_nb.simulate.machine import Machine
from phobos_nb.simulate.ops import ROWS
from phobos_nb.simulate.program import Decoder, Program
from phobos_nb.simulate.program_points import END
from phobos_nb.simulate.strand import Strand


def find_kernel(module: ModuleOp, name: str | None = None) -> FuncOp:
    """The kernel of a thread module, by name when it has several."""
    found = [op for op in module.walk() if isinstance(op, FuncOp) and op.is_kernel]
    for kernel in found:
        if name is None or kernel.sym_name.data == name:
            return kernel
    raise LookupError(f"the module has no kernel {name or ''}".rstrip())


def decode(kernel: FuncOp) -> Program:
    """The flat program of a kernel."""
    decoder = Decoder(ROWS)
    program = decoder.program
    if any(isinstance(op, WgmmaOp) for op in kernel.walk()):
        decoder.registers = RegisterWatch(kernel, program)
    entry = kernel.body.block
    program.arguments = decoder.slots(entry.args)
    last: Operation | None = decoder.block(entry)
    if last is not None:
        decoder.enter(last)
    decoder.emit(_end)
    return program


def _end(m: Machine, s: Strand) -> int:
    del m, s
    return END
