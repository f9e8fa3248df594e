"""Matrix products on tiles: operand dtypes, and the accumulator that a sum brings along."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from phobos_nb.dtypes import I32, DType, Kind
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.convert import convert
from phobos_nb.ir.dialects.shapes import shape_of
from phobos_nb.ir.dialects.tile import DotOp
from phobos_nb.ir.scalars import mlir_type


def product(
    builder: Builder,
    a: SSAValue,
    b: SSAValue,
    dtypes: tuple[DType, DType],
    result: DType,
    *,
    transposed: bool = False,
    acc: SSAValue | None = None,
) -> SSAValue:
    """`acc + a @ b` (b transposed where `transposed`); without acc onto zeros of dtype `result`.

    8-bit integers stay as they are; others that differ or are wider become i32.
    """
    if not dtypes[0].is_float and not all(d.bits == 8 for d in dtypes):
        a, b = (convert(builder, v, d, I32) for v, d in zip((a, b), dtypes, strict=True))
    if acc is None:
        acc = builder.constant(0, TensorType(mlir_type(result), _shape(a, b, transposed)))
    unsigned = [d.bits == 8 and d.kind is Kind.UNSIGNED for d in dtypes]
    return builder.value(
        DotOp(a, b, acc, transpose_b=transposed, unsigned_a=unsigned[0], unsigned_b=unsigned[1])
    )


def _shape(a: SSAValue, b: SSAValue, transposed: bool) -> tuple[int, int]:
    left, right = shape_of(a.type), shape_of(b.type)
    assert left is not None
    assert right is not None
    return left[0], right[0 if transposed else 1]
