"""One xDSL context with every dialect that tile and thread MLIR use."""

from __future__ import annotations

from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.dialects.func import Func
from xdsl.dialects.math import Math
from xdsl.dialects.scf import Scf
from xdsl.ir import Dialect

from phobos_nb.ir.dialects.arith import Arith
from phobos_nb.ir.dialects.gpu import Gpu
from phobos_nb.ir.dialects.llvm import Llvm
from phobos_nb.ir.dialects.memref import MemRef
from phobos_nb.ir.dialects.nvgpu import Nvgpu
from phobos_nb.ir.dialects.nvvm import Nvvm
from phobos_nb.ir.dialects.phobos import Phobos
from phobos_nb.ir.dialects.tile import Tile
from phobos_nb.ir.dialects.vector import Vector

DIALECTS: tuple[Dialect, ...] = (
    Builtin,
    Func,
    Scf,
    Arith,
    Math,
    MemRef,
    Vector,
    Gpu,
    Nvgpu,
    Nvvm,
    Phobos,
    Llvm,
    Tile,
)


def context() -> Context:
    """A fresh context with every dialect of `DIALECTS` loaded."""
    made = Context()
    for dialect in DIALECTS:
        made.load_dialect(dialect)
    return made
