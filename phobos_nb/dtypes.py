"""The scalar types of the language: names, sizes, kinds. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Kind(Enum):
    """What a scalar type holds."""

    FLOAT = "float"
    SIGNED = "signed"
    UNSIGNED = "unsigned"
    BOOL = "bool"
    INDEX = "index"


@dataclass(frozen=True)
class DType:
    """A scalar type. `bits` of `index` is chosen per kernel, so its own `bits` is the wider 64.

    `numpy` is the name that `numpy.dtype` (with ml_dtypes imported for bfloat16) accepts, `mlir`
    the signless MLIR type that carries it.
    """

    name: str
    kind: Kind
    bits: int
    numpy: str
    mlir: str

    @property
    def itemsize(self) -> int:
        """Bytes of one element in memory; a bool takes one."""
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        """Whether this is f16, bf16, f32 or f64."""
        return self.kind is Kind.FLOAT

    @property
    def is_integer(self) -> bool:
        """Whether this is an integer or index, not bool."""
        return self.kind in (Kind.SIGNED, Kind.UNSIGNED, Kind.INDEX)

    def __str__(self) -> str:
        return self.name


F16 = DType("f16", Kind.FLOAT, 16, "float16", "f16")
BF16 = DType("bf16", Kind.FLOAT, 16, "bfloat16", "bf16")
F32 = DType("f32", Kind.FLOAT, 32, "float32", "f32")
F64 = DType("f64", Kind.FLOAT, 64, "float64", "f64")
I8 = DType("i8", Kind.SIGNED, 8, "int8", "i8")
U8 = DType("u8", Kind.UNSIGNED, 8, "uint8", "i8")
I32 = DType("i32", Kind.SIGNED, 32, "int32", "i32")
I64 = DType("i64", Kind.SIGNED, 64, "int64", "i64")
BOOL = DType("bool", Kind.BOOL, 1, "bool", "i1")
INDEX = DType("index", Kind.INDEX, 64, "int64", "index")

SCALARS = {d.name: d for d in (F16, BF16, F32, F64, I8, U8, I32, I64, BOOL)}
ALL = {**SCALARS, "index": INDEX}
