"""Thread-level modules around a few operations, for the tests of the dialects."""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    VectorType,
    f16,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Block, Region, SSAValue

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import gpu
from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.nvgpu import TensorMapType

Values = dict[str, SSAValue]

ARGUMENTS = {
    "i": IndexType(),
    "p": i1,
    "n": i32,
    "w": i64,
    "b": i8,
    "x": f32,
    "h": f16,
    "A": MemRefType(f32, [DYNAMIC_INDEX]),
    "H": MemRefType(f16, [DYNAMIC_INDEX]),
    "s": MemRefType(f16, [64, 64], memory_space=WORKGROUP),
    "v4": VectorType(f32, [4]),
    "v8": VectorType(f32, [8]),
    "h8": VectorType(f16, [8]),
    "m4": VectorType(i1, [4]),
    "n4": VectorType(i32, [4]),
    "v4x8": VectorType(f32, [4, 8]),
    "a42": VectorType(f16, [4, 2]),
    "b22": VectorType(f16, [2, 2]),
    "c22": VectorType(f32, [2, 2]),
    "map": TensorMapType(MemRefType(f16, [64, 64], memory_space=WORKGROUP)),
}
"""The arguments that every test function takes, by the name that its builder finds them under."""


def module_with(build: Callable[[Builder, Values], object]) -> ModuleOp:
    """A module with one kernel whose body `build` fills."""
    function = gpu.FuncOp("f", list(ARGUMENTS.values()))
    block = function.body.blocks[0]
    values = dict(zip(ARGUMENTS, block.args, strict=True))
    builder = Builder(block)
    build(builder, values)
    builder.insert(gpu.ReturnOp())
    inner = gpu.ModuleOp(StringAttr("k"), Region(Block([function])))
    return ModuleOp([inner], attributes={"gpu.container_module": UnitAttr()})
