"""The dialect `tile`: what tile MLIR needs and upstream has not.

A tile is a value of builtin type `tensor<RxCxT>` with static shape and rank >= 1; a layout, once
assigned, is its encoding. Scalars are per-thread values of type index, i1, i8, i32, i64, f16, bf16, f32
or f64. The ops are in `tile_kernel`, `tile_memory` and `tile_compute`, and are all named here.
"""

from __future__ import annotations

from xdsl.ir import Dialect

from phobos_nb.ir.dialects.tile_compute import (
    AddGroupsOp,
    ArgmaxOp,
    AssertOp,
    BlockReduceOp,
    BroadcastOp,
    ConvertOp,
    CoordinateOp,
    DotOp,
    PrintOp,
    ReduceOp,
    ReshapeOp,
    ScanOp,
    SplatOp,
    TransposeOp,
)
from phobos_nb.ir.dialects.tile_kernel import KernelOp
from phobos_nb.ir.dialects.tile_memory import (
    AllocSharedOp,
    AtomicCasOp,
    AtomicOp,
    GatherOp,
    LoadElementOp,
    LoadOp,
    LoadSharedOp,
    StoreElementOp,
    StoreOp,
    StoreSharedOp,
)
from phobos_nb.ir.dialects.tile_types import AxisLayout, Digit, GlobalType, LayoutAttr, shared_type

__all__ = [
    "AddGroupsOp",
    "AllocSharedOp",
    "ArgmaxOp",
    "AssertOp",
    "AtomicCasOp",
    "AtomicOp",
    "AxisLayout",
    "BlockReduceOp",
    "BroadcastOp",
    "ConvertOp",
    "CoordinateOp",
    "Digit",
    "DotOp",
    "GatherOp",
    "GlobalType",
    "KernelOp",
    "LayoutAttr",
    "LoadElementOp",
    "LoadOp",
    "LoadSharedOp",
    "PrintOp",
    "ReduceOp",
    "ReshapeOp",
    "ScanOp",
    "SplatOp",
    "StoreElementOp",
    "StoreOp",
    "StoreSharedOp",
    "Tile",
    "TransposeOp",
    "shared_type",
]

Tile = Dialect(
    "tile",
    [
        KernelOp,
        LoadOp,
        StoreOp,
        LoadElementOp,
        StoreElementOp,
        AllocSharedOp,
        LoadSharedOp,
        StoreSharedOp,
        GatherOp,
        AtomicOp,
        AtomicCasOp,
        SplatOp,
        BroadcastOp,
        CoordinateOp,
        DotOp,
        ReduceOp,
        ArgmaxOp,
        ScanOp,
        TransposeOp,
        ReshapeOp,
        ConvertOp,
        BlockReduceOp,
        PrintOp,
        AssertOp,
    ],
    [GlobalType, LayoutAttr],
)
