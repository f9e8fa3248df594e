"""The one array of shared bytes of a kernel, static up to 48 KB and dynamic above."""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import IntegerAttr, MemRefType, StringAttr, UnitAttr, i8, i64
from xdsl.ir import Operation

from phobos_nb.ir.dialects import gpu
from phobos_nb.ir.dialects.address_space import WORKGROUP

STATIC_LIMIT = 48 * 1024
"""Bytes that a CTA may have without opting in (CUDA C++ Programming Guide, "Compute Capabilities")."""

SYMBOL = "smem"


def is_dynamic(total: int) -> bool:
    """Whether the bytes are passed at launch."""
    return total > STATIC_LIMIT


def shared_memory(total: int) -> Operation:
    """The op whose result is the shared array of `total` bytes."""
    if is_dynamic(total):
        return gpu.DynamicSharedMemoryOp()
    return memref.GetGlobalOp(SYMBOL, bytes_type(total))


def bytes_type(total: int) -> MemRefType:
    """The type of `total` shared bytes."""
    return MemRefType(i8, [total], memory_space=WORKGROUP)


def declaration(total: int) -> memref.GlobalOp:
    """The declaration of the static array in the `gpu.module`."""
    return memref.GlobalOp.get(
        StringAttr(SYMBOL),
        bytes_type(total),
        UnitAttr(),
        sym_visibility=StringAttr("private"),
        alignment=IntegerAttr(128, i64),
    )
