"""Ops of the dialect `tile` on values: making tiles, dot, reductions, shape changes, output.

Elementwise work is not here: it is `arith` and `math` on tensors of one shape.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
    i1,
    i32,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryWriteEffect, Pure

from phobos_nb.ir.dialects.shapes import (
    element_of,
    is_float,
    require,
    require_same_element,
    require_same_shape,
    shape_of,
    show,
    stretches_to,
)
from phobos_nb.ir.dialects.tile_memory import Axes, axes_attribute

Value = SSAValue | Operation


def _shape(value: SSAValue) -> tuple[int, ...]:
    return shape_of(value.type) or ()


def _axis(axis: IntegerAttr) -> int:
    return axis.value.data


def _verify_axis(axis: IntegerAttr, value: SSAValue) -> None:
    rank = len(_shape(value))
    require(0 <= _axis(axis) < rank, f"axis: wanted 0 to {rank - 1}, found {_axis(axis)}")


def _reduced(value: SSAValue, axis: int) -> tuple[int, ...]:
    shape = list(_shape(value))
    shape[axis] = 1
    return tuple(shape)


class _Unary(IRDLOperation):
    """One tile in, one tile out."""

    source = operand_def(TensorType)
    result = result_def(TensorType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"


@irdl_op_definition
class SplatOp(IRDLOperation):
    """A tile whose elements are all one scalar, which is the same in every thread."""

    name = "tile.splat"
    source = operand_def()
    result = result_def(TensorType)
    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: Value, shape: Sequence[int]) -> None:
        scalar = SSAValue.get(source)
        super().__init__(operands=[scalar], result_types=[TensorType(scalar.type, shape)])

    def verify_(self) -> None:
        """The tile holds elements of the scalar's type."""
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class BroadcastOp(_Unary):
    """Stretch axes of extent 1, and put new axes in front, as NumPy does."""

    name = "tile.broadcast"
    traits = traits_def(Pure())

    def __init__(self, source: Value, shape: Sequence[int]) -> None:
        element = element_of(SSAValue.get(source).type)
        super().__init__(operands=[source], result_types=[TensorType(element, shape)])

    def verify_(self) -> None:
        """The source's shape stretches to the result's."""
        require_same_element("result", self.source.type, self.result.type)
        source, target = _shape(self.source), _shape(self.result)
        require(stretches_to(source, target), f"shape {show(source)} does not stretch to {show(target)}")


@irdl_op_definition
class CoordinateOp(IRDLOperation):
    """The tile whose element is its own coordinate on `axis`, an index."""

    name = "tile.coordinate"
    axis = prop_def(IntegerAttr)
    result = result_def(TensorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, axis: int, shape: Sequence[int]) -> None:
        super().__init__(
            properties={"axis": IntegerAttr(axis, i64)}, result_types=[TensorType(IndexType(), shape)]
        )

    def verify_(self) -> None:
        """The axis exists and elements are indices."""
        _verify_axis(self.axis, self.result)
        require_same_element("result", IndexType(), self.result.type)


@irdl_op_definition
class DotOp(IRDLOperation):
    """`acc + a @ b`: [M,K] x [K,N]; with `transpose_a` a is [K,M], with `transpose_b` b is [N,K].

    With `negated` it is `acc - a @ b`, each product subtracted. With `groups` = G acc is a stack of G
    tiles, [G*M,N], and tile g gets the products of the g-th of G equal parts of K.
    Products are summed in f32 (f64 operands: f64; integers: i32) and rounded where the accumulator is
    narrower; an f16 accumulator may sum in f16 on tensor cores. `unsigned_a` and `unsigned_b` say that
    i8 operands hold u8.
    """

    name = "tile.dot"
    a = operand_def(TensorType)
    b = operand_def(TensorType)
    acc = operand_def(TensorType)
    transpose_a = opt_prop_def(UnitAttr)
    transpose_b = opt_prop_def(UnitAttr)
    negated = opt_prop_def(UnitAttr)
    groups = opt_prop_def(IntegerAttr)
    unsigned_a = opt_prop_def(UnitAttr)
    unsigned_b = opt_prop_def(UnitAttr)
    result = result_def(TensorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = (
        "$a `,` $b `,` $acc attr-dict `:` type($a) `,` type($b) `,` type($acc) `->` type($result)"
    )

    def __init__(
        self,
        a: Value,
        b: Value,
        acc: Value,
        *,
        transpose_b: bool = False,
        unsigned_a: bool = False,
        unsigned_b: bool = False,
    ) -> None:
        given = {"transpose_b": transpose_b, "unsigned_a": unsigned_a, "unsigned_b": unsigned_b}
        super().__init__(
            operands=[a, b, acc],
            result_types=[SSAValue.get(acc).type],
            properties={k: UnitAttr() for k, v in given.items() if v},
        )

    @property
    def deep(self) -> tuple[int, int]:
        """The axes of a and of b that lie along k."""
        return int(self.transpose_a is None), int(self.transpose_b is not None)

    @property
    def group_count(self) -> int:
        """How many parts of K have sums of their own."""
        return self.groups.value.data if self.groups is not None else 1

    @property
    def extents(self) -> tuple[int, int, int]:
        """M, N and K of the tiles."""
        (a, b), (deep_a, deep_b) = (_shape(self.a), _shape(self.b)), self.deep
        return a[1 - deep_a], b[1 - deep_b], a[deep_a]

    def verify_(self) -> None:
        """Shapes fit, a and b have one element type, the result has the accumulator's type."""
        shapes = _shape(self.a), _shape(self.b), _shape(self.acc)
        require(
            all(len(s) == 2 for s in shapes),
            f"wanted tiles of rank 2, found {', '.join(show(s) for s in shapes)}",
        )
        (_, b, acc), (m, n, k) = shapes, self.extents
        kb = b[self.deep[1]]
        require(k == kb, f"wanted one inner extent, found {k} and {kb}")
        wanted = self.group_count * m, n
        require(acc == wanted, f"accumulator: wanted shape {show(wanted)}, found {show(acc)}")
        require(k % self.group_count == 0, f"{k} k-steps: wanted {self.group_count} equal parts")
        require_same_element("b", self.a.type, self.b.type)
        require_same_element("result", self.acc.type, self.result.type)
        require_same_shape("result", self.acc.type, self.result.type)


@irdl_op_definition
class AddGroupsOp(_Unary):
    """The sum of the tiles of a stack, [G*M,N] to [M,N], from the first to the last."""

    name = "tile.add_groups"
    groups = prop_def(IntegerAttr)
    traits = traits_def(Pure())

    def __init__(self, source: Value, groups: int) -> None:
        value = SSAValue.get(source)
        rows, columns = _shape(value)
        super().__init__(
            operands=[value],
            result_types=[TensorType(element_of(value.type), [rows // groups, columns])],
            properties={"groups": IntegerAttr(groups, i64)},
        )

    def verify_(self) -> None:
        """The result is as high as each tile of the stack."""
        (rows, columns), groups = _shape(self.source), _axis(self.groups)
        require_same_element("result", self.source.type, self.result.type)
        require(
            rows % groups == 0 and _shape(self.result) == (rows // groups, columns),
            f"wanted {groups} tiles of {show(_shape(self.result))}, found {show((rows, columns))}",
        )


def _verify_kind(kind: CombiningKindFlag, element: Attribute) -> None:
    wanted = _KINDS[is_float(element)]
    require(
        kind is CombiningKindFlag.ADD or kind in wanted,
        f"kind {kind}: wanted add, {' or '.join(wanted)} for {element}",
    )


_KINDS = {
    True: (CombiningKindFlag.MAXIMUMF, CombiningKindFlag.MINIMUMF),
    False: (
        CombiningKindFlag.MAXSI,
        CombiningKindFlag.MINSI,
        CombiningKindFlag.MAXUI,
        CombiningKindFlag.MINUI,
    ),
}


@irdl_op_definition
class ReduceOp(_Unary):
    """Combine all elements along `axis`, which stays with extent 1.

    `kind`: add, or maximumf, minimumf, maxsi, minsi, maxui, minui by element type. Sums of f16 and
    bf16 are made in f32 by the builder's conversions around this op.
    """

    name = "tile.reduce"
    kind = prop_def(CombiningKindAttr)
    axis = prop_def(IntegerAttr)
    traits = traits_def(Pure())

    def __init__(self, kind: CombiningKindFlag, source: Value, axis: int) -> None:
        value = SSAValue.get(source)
        result = TensorType(element_of(value.type), _reduced(value, axis))
        super().__init__(
            operands=[value],
            result_types=[result],
            properties={"kind": CombiningKindAttr(kind), "axis": IntegerAttr(axis, i64)},
        )

    def verify_(self) -> None:
        """The axis exists, the kind suits the type, the result has extent 1 there."""
        _verify_axis(self.axis, self.source)
        _verify_kind(self.kind.data, element_of(self.source.type))
        wanted = _reduced(self.source, _axis(self.axis))
        require(
            _shape(self.result) == wanted,
            f"result: wanted shape {show(wanted)}, found {show(_shape(self.result))}",
        )
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class ArgmaxOp(_Unary):
    """The position along `axis` of the first NaN, else of the first of equal maxima, as i32.

    `is_unsigned`: the elements are u8.
    """

    name = "tile.argmax"
    axis = prop_def(IntegerAttr)
    is_unsigned = opt_prop_def(UnitAttr)
    traits = traits_def(Pure())

    def __init__(self, source: Value, axis: int, *, is_unsigned: bool = False) -> None:
        value = SSAValue.get(source)
        super().__init__(
            operands=[value],
            result_types=[TensorType(i32, _reduced(value, axis))],
            properties={
                "axis": IntegerAttr(axis, i64),
                "is_unsigned": UnitAttr() if is_unsigned else None,
            },
        )

    def verify_(self) -> None:
        """The axis exists; the result is i32 with extent 1 there."""
        _verify_axis(self.axis, self.source)
        wanted = TensorType(i32, _reduced(self.source, _axis(self.axis)))
        require_same_shape("result", wanted, self.result.type)
        require_same_element("result", wanted, self.result.type)


@irdl_op_definition
class ScanOp(_Unary):
    """Running combination along `axis`, inclusive (`cumsum` with `add`)."""

    name = "tile.scan"
    kind = prop_def(CombiningKindAttr)
    axis = prop_def(IntegerAttr)
    traits = traits_def(Pure())

    def __init__(self, kind: CombiningKindFlag, source: Value, axis: int) -> None:
        value = SSAValue.get(source)
        super().__init__(
            operands=[value],
            result_types=[value.type],
            properties={"kind": CombiningKindAttr(kind), "axis": IntegerAttr(axis, i64)},
        )

    def verify_(self) -> None:
        """The axis exists, the kind suits the type, the result has the source's type."""
        _verify_axis(self.axis, self.source)
        _verify_kind(self.kind.data, element_of(self.source.type))
        require_same_shape("result", self.source.type, self.result.type)
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class TransposeOp(_Unary):
    """Permute axes: axis d of the result is axis `permutation[d]` of the source."""

    name = "tile.transpose"
    permutation = prop_def(Axes)
    traits = traits_def(Pure())

    def __init__(self, source: Value, permutation: Sequence[int] = (1, 0)) -> None:
        value = SSAValue.get(source)
        shape = [_shape(value)[p] for p in permutation]
        super().__init__(
            operands=[value],
            result_types=[TensorType(element_of(value.type), shape)],
            properties={"permutation": axes_attribute(permutation)},
        )

    def verify_(self) -> None:
        """The permutation is one of the source's axes and the result has the permuted shape."""
        permutation, shape = list(self.permutation.get_values()), _shape(self.source)
        require(
            sorted(permutation) == list(range(len(shape))),
            f"permutation: wanted one of {len(shape)} axes, found {show(permutation)}",
        )
        wanted = tuple(shape[p] for p in permutation)
        found = _shape(self.result)
        require(found == wanted, f"result: wanted shape {show(wanted)}, found {show(found)}")
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class ReshapeOp(_Unary):
    """The same elements in row-major order under another shape."""

    name = "tile.reshape"
    traits = traits_def(Pure())

    def __init__(self, source: Value, shape: Sequence[int]) -> None:
        element = element_of(SSAValue.get(source).type)
        super().__init__(operands=[source], result_types=[TensorType(element, shape)])

    def verify_(self) -> None:
        """Source and result have equally many elements of one type."""
        wanted, found = (
            cast("TensorType[Attribute]", v.type).element_count() for v in (self.source, self.result)
        )
        require(wanted == found, f"result: wanted {wanted} elements, found {found}")
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class ConvertOp(_Unary):
    """The same tile under another layout (the encoding of its type)."""

    name = "tile.convert"
    traits = traits_def(Pure())

    def __init__(self, source: Value, result: TensorType[Attribute]) -> None:
        super().__init__(operands=[source], result_types=[result])

    def verify_(self) -> None:
        """Only the layout changes."""
        require_same_shape("result", self.source.type, self.result.type)
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class BlockReduceOp(IRDLOperation):
    """Combine one scalar per thread over the whole CTA; every thread gets the result."""

    name = "tile.block_reduce"
    kind = prop_def(CombiningKindAttr)
    source = operand_def()
    result = result_def()
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "$kind $source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, kind: CombiningKindFlag, source: Value) -> None:
        value = SSAValue.get(source)
        super().__init__(
            operands=[value], result_types=[value.type], properties={"kind": CombiningKindAttr(kind)}
        )

    def verify_(self) -> None:
        """A scalar goes in and comes out; the kind suits it."""
        require(shape_of(self.source.type) is None, f"wanted a scalar, found {self.source.type}")
        _verify_kind(self.kind.data, self.source.type)
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class PrintOp(IRDLOperation):
    """Formatted output from the device; `text` holds `{}` for each scalar argument.

    `once`: all arguments are the same in every thread, and the text is printed once per CTA.
    """

    name = "tile.print"
    text = prop_def(StringAttr)
    arguments = var_operand_def()
    once = opt_prop_def(UnitAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$text (`(` $arguments^ `:` type($arguments) `)`)? attr-dict"

    def __init__(self, text: str, arguments: Sequence[Value], *, once: bool = False) -> None:
        super().__init__(
            operands=[arguments],
            properties={"text": StringAttr(text), "once": UnitAttr() if once else None},
        )

    def verify_(self) -> None:
        """The text has one hole per argument."""
        holes = self.text.data.replace("{{", "").replace("}}", "").count("{}")
        found = len(self.arguments)
        require(holes == found, f"wanted {holes} arguments, one per {{}} of the text, found {found}")


@irdl_op_definition
class AssertOp(IRDLOperation):
    """Fail with `text` in every thread where the condition is false; `once`: checked by one thread."""

    name = "tile.assert"
    condition = operand_def(IntegerType(1))
    text = prop_def(StringAttr)
    arguments = var_operand_def()
    once = opt_prop_def(UnitAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$condition `,` $text (`(` $arguments^ `:` type($arguments) `)`)? attr-dict"

    def __init__(
        self, condition: Value, text: str, arguments: Sequence[Value] = (), *, once: bool = False
    ) -> None:
        super().__init__(
            operands=[condition, arguments],
            properties={"text": StringAttr(text), "once": UnitAttr() if once else None},
        )

    def verify_(self) -> None:
        """The condition is an i1."""
        require(self.condition.type == i1, f"condition: wanted i1, found {self.condition.type}")
