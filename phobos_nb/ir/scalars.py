"""The language's scalar types in MLIR: signless integers, so signedness lies in the choice of ops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType, TensorType, bf16, f16, f32, f64, i1, i8, i32, i64
from xdsl.ir import Attribute

from phobos_nb.dtypes import BF16, BOOL, F16, F32, F64, I8, I32, I64, INDEX, U8, DType

_TYPES: dict[DType, Attribute] = {
    F16: f16,
    BF16: bf16,
    F32: f32,
    F64: f64,
    I8: i8,
    U8: i8,
    I32: i32,
    I64: i64,
    BOOL: i1,
    INDEX: IndexType(),
}


def mlir_type(dtype: DType) -> Attribute:
    """The MLIR type of a scalar: u8 and i8 are both i8, bool is i1."""
    return _TYPES[dtype]


def tile_type(dtype: DType, shape: Sequence[int]) -> TensorType[Attribute]:
    """The MLIR type of a tile."""
    return TensorType(_TYPES[dtype], shape)


def value_type(dtype: DType, shape: Sequence[int] = ()) -> Attribute:
    """The MLIR type of a scalar, for an empty shape, or of a tile."""
    return tile_type(dtype, shape) if shape else _TYPES[dtype]
