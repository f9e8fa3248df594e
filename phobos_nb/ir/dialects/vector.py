"""The dialect `vector`: what xDSL has, with aligned loads and stores and the ops it lacks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, cast

from xdsl.dialects import vector as xdsl_vector
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    IntegerAttr,
    VectorType,
    i64,
)
from xdsl.dialects.vector import CombiningKindAttr, CombiningKindFlag
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    VarConstraint,
    base,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from phobos_nb.ir.dialects.shapes import element_of, require, require_same_element, shape_of, show
from phobos_nb.ir.dialects.vector_memory import LoadOp, MaskedLoadOp, MaskedStoreOp, StoreOp

Value = SSAValue | Operation


@irdl_op_definition
class OuterProductOp(IRDLOperation):
    """`acc[i, j] = fma(lhs[i], rhs[j], acc[i, j])`, one fma per element; without acc the bare product.

    The discardable attribute `phobos.order` gives the order of the fmas in emitted code.
    """

    T: ClassVar = VarConstraint("T", base(VectorType))

    name = "vector.outerproduct"
    lhs = operand_def(VectorType)
    rhs = operand_def()
    acc = opt_operand_def(T)
    kind = prop_def(CombiningKindAttr)
    result = result_def(T)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = (
        "$lhs `,` $rhs (`,` $acc^)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"
    )

    def __init__(
        self,
        lhs: Value,
        rhs: Value,
        acc: Value | None = None,
        kind: CombiningKindFlag = CombiningKindFlag.ADD,
    ) -> None:
        left, right = SSAValue.get(lhs).type, SSAValue.get(rhs).type
        shape = (*(shape_of(left) or ()), *(shape_of(right) or ()))
        super().__init__(
            operands=[lhs, rhs, acc],
            result_types=[VectorType(element_of(left), shape)],
            properties={"kind": CombiningKindAttr(kind)},
        )

    def verify_(self) -> None:
        """The result is lhs by rhs."""
        wanted = (*(shape_of(self.lhs.type) or ()), *(shape_of(self.rhs.type) or ()))
        found = shape_of(self.result.type)
        require(found == wanted, f"result: wanted shape {show(wanted)}, found {show(found)}")
        for what, value in (("rhs", self.rhs), ("result", self.result)):
            require_same_element(what, self.lhs.type, value.type)


def _i64_array(values: Sequence[int]) -> ArrayAttr[IntegerAttr]:
    return ArrayAttr([IntegerAttr(v, i64) for v in values])


def _integers(attribute: ArrayAttr[IntegerAttr]) -> list[int]:
    return [a.value.data for a in attribute]


def _verify_slice(whole: SSAValue, part: SSAValue, offsets: list[int], strides: list[int]) -> None:
    outer, inner = shape_of(whole.type) or (), shape_of(part.type) or ()
    require(all(s == 1 for s in strides), f"strides: wanted ones, found {show(strides)}")
    tail = outer[len(outer) - len(inner) :]
    starts = offsets[len(offsets) - len(inner) :]
    fits = all(o >= 0 and o + n <= limit for o, n, limit in zip(starts, inner, tail, strict=False))
    require(
        fits,
        f"a slice of shape {show(inner)} at {show(offsets)} does not lie inside shape {show(outer)}",
    )


@irdl_op_definition
class ExtractStridedSliceOp(IRDLOperation):
    """The elements `offsets` to `offsets + sizes` of the leading axes of a vector."""

    name = "vector.extract_strided_slice"
    source = operand_def(VectorType)
    offsets = prop_def(ArrayAttr[IntegerAttr])
    sizes = prop_def(ArrayAttr[IntegerAttr])
    strides = prop_def(ArrayAttr[IntegerAttr])
    result = result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: Value, offsets: Sequence[int], sizes: Sequence[int]) -> None:
        type_ = SSAValue.get(source).type
        rest = (shape_of(type_) or ())[len(sizes) :]
        super().__init__(
            operands=[source],
            result_types=[VectorType(element_of(type_), [*sizes, *rest])],
            properties={
                "offsets": _i64_array(offsets),
                "sizes": _i64_array(sizes),
                "strides": _i64_array([1] * len(offsets)),
            },
        )

    @property
    def positions(self) -> tuple[int, ...]:
        """The offsets as numbers."""
        return tuple(_integers(self.offsets))

    def verify_(self) -> None:
        """The slice lies inside the source and the result has its shape."""
        sizes = _integers(self.sizes)
        outer = shape_of(self.source.type) or ()
        require(
            len(sizes) == len(self.offsets) <= len(outer),
            "wanted one size per offset, no more than axes",
        )
        wanted = (*sizes, *outer[len(sizes) :])
        found = shape_of(self.result.type)
        require(found == wanted, f"result: wanted shape {show(wanted)}, found {show(found)}")
        offsets = [*_integers(self.offsets), *[0] * (len(outer) - len(sizes))]
        _verify_slice(self.source, self.result, offsets, _integers(self.strides))
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class InsertStridedSliceOp(IRDLOperation):
    """A copy of `dest` with `source` put at `offsets`; a source of lower rank fills the last axes."""

    T: ClassVar = VarConstraint("T", base(VectorType))

    name = "vector.insert_strided_slice"
    source = operand_def(VectorType)
    dest = operand_def(T)
    offsets = prop_def(ArrayAttr[IntegerAttr])
    strides = prop_def(ArrayAttr[IntegerAttr])
    result = result_def(T)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$source `,` $dest attr-dict `:` type($source) `into` type($dest)"

    def __init__(self, source: Value, dest: Value, offsets: Sequence[int]) -> None:
        rank = len(shape_of(SSAValue.get(source).type) or ())
        type_ = SSAValue.get(dest).type
        super().__init__(
            operands=[source, dest],
            result_types=[type_],
            properties={"offsets": _i64_array(offsets), "strides": _i64_array([1] * rank)},
        )

    @property
    def positions(self) -> tuple[int, ...]:
        """The offsets as numbers."""
        return tuple(_integers(self.offsets))

    def verify_(self) -> None:
        """The slice lies inside the destination, whose type the result has."""
        require(
            self.result.type == self.dest.type,
            f"result: wanted {self.dest.type}, found {self.result.type}",
        )
        _verify_slice(self.dest, self.source, _integers(self.offsets), _integers(self.strides))
        require_same_element("source", self.dest.type, self.source.type)


@irdl_op_definition
class ShapeCastOp(IRDLOperation):
    """The same elements in row-major order under another shape."""

    name = "vector.shape_cast"
    source = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `to` type($result)"

    def __init__(self, source: Value, shape: Sequence[int]) -> None:
        element = element_of(SSAValue.get(source).type)
        super().__init__(operands=[source], result_types=[VectorType(element, shape)])

    def verify_(self) -> None:
        """Source and result have equally many elements of one type."""
        wanted, found = (
            cast("VectorType[Attribute]", v.type).element_count() for v in (self.source, self.result)
        )
        require(wanted == found, f"result: wanted {wanted} elements, found {found}")
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class MultiReductionOp(IRDLOperation):
    """Combine a vector along `axes` into `acc`; the axes vanish from the result."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    name = "vector.multi_reduction"
    source = operand_def(VectorType)
    acc = operand_def(T)
    kind = prop_def(CombiningKindAttr)
    axes = prop_def(DenseArrayBase.constr(i64), prop_name="reduction_dims")
    result = result_def(T)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$kind `,` $source `,` $acc attr-dict `:` type($source) `to` type($result)"

    def __init__(self, kind: CombiningKindFlag, source: Value, acc: Value, axes: Sequence[int]) -> None:
        super().__init__(
            operands=[source, acc],
            result_types=[SSAValue.get(acc).type],
            properties={
                "kind": CombiningKindAttr(kind),
                "reduction_dims": DenseArrayBase.from_list(i64, axes),
            },
        )

    def verify_(self) -> None:
        """The result is the source without the axes."""
        axes: tuple[int, ...] = tuple(self.axes.get_values())
        shape = shape_of(self.source.type) or ()
        wanted = tuple(n for i, n in enumerate(shape) if i not in axes)
        found = shape_of(self.result.type) or ()
        require(found == wanted, f"result: wanted shape {show(wanted)}, found {show(found)}")
        require(
            self.acc.type == self.result.type, f"acc: wanted {self.result.type}, found {self.acc.type}"
        )
        require_same_element("result", self.source.type, self.result.type)


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """Permute axes: axis d of the result is axis `permutation[d]` of the vector."""

    name = "vector.transpose"
    vector = operand_def(VectorType)
    permutation = prop_def(DenseArrayBase.constr(i64))
    result = result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$vector attr-dict `:` type($vector) `to` type($result)"

    def __init__(self, vector: Value, permutation: Sequence[int]) -> None:
        type_ = SSAValue.get(vector).type
        shape = shape_of(type_) or ()
        super().__init__(
            operands=[vector],
            result_types=[VectorType(element_of(type_), [shape[p] for p in permutation])],
            properties={"permutation": DenseArrayBase.from_list(i64, permutation)},
        )

    def verify_(self) -> None:
        """The permutation is one of the axes and the result has the permuted shape."""
        order: tuple[int, ...] = tuple(self.permutation.get_values())
        shape = shape_of(self.vector.type) or ()
        require(
            sorted(order) == list(range(len(shape))),
            f"permutation: wanted one of {len(shape)} axes, found {show(order)}",
        )
        wanted = tuple(shape[p] for p in order)
        found = shape_of(self.result.type)
        require(found == wanted, f"result: wanted shape {show(wanted)}, found {show(found)}")


@irdl_op_definition
class FromElementsOp(IRDLOperation):
    """A vector of given scalars in row-major order."""

    name = "vector.from_elements"
    elements = var_operand_def()
    result = result_def(VectorType)
    traits = traits_def(Pure())
    assembly_format = "$elements attr-dict `:` type($elements) `->` type($result)"

    def __init__(self, elements: Sequence[Value], result: VectorType[Attribute]) -> None:
        super().__init__(operands=[elements], result_types=[result])

    def verify_(self) -> None:
        """One scalar per element, of its type."""
        type_ = self.result.type
        wanted, found = type_.element_count(), len(self.elements)
        require(wanted == found, f"wanted {wanted} elements, found {found}")
        for value in self.elements:
            require_same_element("element", type_, value.type)


@irdl_op_definition
class ToElementsOp(IRDLOperation):
    """The scalars of a vector in row-major order."""

    name = "vector.to_elements"
    source = operand_def(VectorType)
    elements = var_result_def()
    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($elements)"

    def __init__(self, source: Value) -> None:
        type_ = cast("VectorType[Attribute]", SSAValue.get(source).type)
        super().__init__(operands=[source], result_types=[[type_.element_type] * type_.element_count()])

    def verify_(self) -> None:
        """One result per element, of its type."""
        type_ = cast("VectorType[Attribute]", self.source.type)
        wanted, found = type_.element_count(), len(self.elements)
        require(wanted == found, f"wanted {wanted} results, found {found}")


_OWN: list[type[Operation]] = [
    LoadOp,
    StoreOp,
    MaskedLoadOp,
    MaskedStoreOp,
    OuterProductOp,
    ExtractStridedSliceOp,
    InsertStridedSliceOp,
    ShapeCastOp,
    MultiReductionOp,
    TransposeOp,
    FromElementsOp,
    ToElementsOp,
]

Vector = Dialect(
    "vector",
    [*(op for op in xdsl_vector.Vector.operations if op.name not in {own.name for own in _OWN}), *_OWN],
    list(xdsl_vector.Vector.attributes),
)
