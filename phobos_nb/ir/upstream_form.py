"""Thread MLIR as upstream's NVVM pipeline can lower it: what it would leave behind is put differently.

Upstream 22 lowers `math.fma` to a library call, `math.*` and `vector.to_elements` only on vectors of
rank 1, and `vector.multi_reduction` only in `func.func`. The rewritten module computes the same values
in the same order; it is made for `to_ptx` and is not the contract that CUDA and the simulator read.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects.builtin import ModuleOp, VectorType
from xdsl.dialects.llvm import FMAOp
from xdsl.dialects.math import FmaOp
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue

from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import vector
from phobos_nb.ir.dialects.shapes import element_of, is_float, shape_of

Combine = Callable[[Builder, SSAValue, SSAValue], SSAValue]

FLOAT_COMBINE: Mapping[CombiningKindFlag, Combine] = {
    CombiningKindFlag.ADD: Builder.addf,
    CombiningKindFlag.MUL: Builder.mulf,
    CombiningKindFlag.MAXIMUMF: Builder.maximumf,
    CombiningKindFlag.MINIMUMF: Builder.minimumf,
}

INTEGER_COMBINE: Mapping[CombiningKindFlag, Combine] = {
    CombiningKindFlag.ADD: Builder.addi,
    CombiningKindFlag.MUL: Builder.muli,
    CombiningKindFlag.MAXSI: Builder.maxsi,
    CombiningKindFlag.MINSI: Builder.minsi,
    CombiningKindFlag.MAXUI: Builder.maxui,
    CombiningKindFlag.MINUI: Builder.minui,
    CombiningKindFlag.AND: Builder.andi,
    CombiningKindFlag.OR: Builder.ori,
    CombiningKindFlag.XOR: Builder.xori,
}


def upstream_form(module: ModuleOp) -> ModuleOp:
    """A copy of a thread-level module that upstream's pipeline lowers completely."""
    copy = module.clone()
    for op in list(copy.walk()):
        rewrite = _REWRITES.get(op.name)
        if rewrite is None and op.name.startswith("math."):
            rewrite = _flatten_elementwise
        if rewrite is not None:
            rewrite(op)
    return copy


def _replace(op: Operation, values: list[SSAValue]) -> None:
    for old, new in zip(op.results, values, strict=True):
        old.replace_all_uses_with(new)
    op.detach()
    op.erase()


def _flat(builder: Builder, value: SSAValue) -> SSAValue:
    """A vector of any rank as one of rank 1."""
    shape = shape_of(value.type)
    if shape is None or len(shape) == 1:
        return value
    return builder.value(vector.ShapeCastOp(value, [_count(value.type)]))


def _count(type_: Attribute) -> int:
    return cast("VectorType[Attribute]", type_).element_count()


def _shaped(builder: Builder, value: SSAValue, type_: Attribute) -> SSAValue:
    """A value of rank 1, or a scalar, as the type it stands for."""
    return (
        value if value.type == type_ else builder.value(vector.ShapeCastOp(value, shape_of(type_) or ()))
    )


def _flatten_elementwise(op: Operation) -> None:
    """A function of vectors of higher rank on rank 1."""
    type_ = op.results[0].type
    if len(shape_of(type_) or ()) < 2:
        return
    builder = Builder.before(op)
    operands = [_flat(builder, v) for v in op.operands]
    made = type(op).create(
        operands=operands, result_types=[operands[0].type], properties=dict(op.properties)
    )
    _replace(op, [_shaped(builder, builder.value(made), type_)])


def _fuse(op: Operation) -> None:
    assert isinstance(op, FmaOp)
    builder = Builder.before(op)
    a, b, c = (_flat(builder, v) for v in op.operands)
    made = builder.value(FMAOp(a, b, c))
    _replace(op, [_shaped(builder, made, op.result.type)])


def _to_elements(op: Operation) -> None:
    assert isinstance(op, vector.ToElementsOp)
    if len(shape_of(op.source.type) or ()) == 1:
        return
    builder = Builder.before(op)
    _replace(op, list(builder.insert(vector.ToElementsOp(_flat(builder, op.source))).elements))


def _from_elements(op: Operation) -> None:
    assert isinstance(op, vector.FromElementsOp)
    type_ = op.result.type
    if len(shape_of(type_) or ()) == 1:
        return
    builder = Builder.before(op)
    flat = VectorType(element_of(type_), [_count(type_)])
    made = builder.value(vector.FromElementsOp(op.elements, flat))
    _replace(op, [_shaped(builder, made, type_)])


def _reduce(op: Operation) -> None:
    """A reduction element by element, in row-major order, each result starting from its accumulator."""
    assert isinstance(op, vector.MultiReductionOp)
    builder = Builder.before(op)
    shape = shape_of(op.source.type) or ()
    kept = [axis for axis in range(len(shape)) if axis not in op.axes.get_values()]
    elements = builder.insert(vector.ToElementsOp(_flat(builder, op.source))).elements
    scalar = shape_of(op.acc.type) is None
    totals = [op.acc] if scalar else list(_elements(builder, op.acc))
    combine = (FLOAT_COMBINE if is_float(element_of(op.source.type)) else INTEGER_COMBINE)[op.kind.data]
    extents = [shape[axis] for axis in kept]
    for place, element in zip(itertools.product(*map(range, shape)), elements, strict=True):
        position = _row_major([place[axis] for axis in kept], extents)
        totals[position] = combine(builder, totals[position], element)
    if scalar:
        _replace(op, totals)
        return
    flat = VectorType(element_of(op.acc.type), [len(totals)])
    made = builder.value(vector.FromElementsOp(totals, flat))
    _replace(op, [_shaped(builder, made, op.result.type)])


def _elements(builder: Builder, value: SSAValue) -> list[SSAValue]:
    return list(builder.insert(vector.ToElementsOp(_flat(builder, value))).elements)


def _row_major(place: list[int], extents: list[int]) -> int:
    position = 0
    for index, extent in zip(place, extents, strict=True):
        position = position * extent + index
    return position


_REWRITES: Mapping[str, Callable[[Operation], None]] = {
    "math.fma": _fuse,
    "vector.to_elements": _to_elements,
    "vector.from_elements": _from_elements,
    "vector.multi_reduction": _reduce,
}
