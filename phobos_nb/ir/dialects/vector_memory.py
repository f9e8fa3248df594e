"""Memory ops of the dialect `vector`: contiguous elements, whole or masked, with known alignment."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import IndexType, IntegerAttr, MemRefType, VectorType, i1, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from phobos_nb.ir.dialects.shapes import element_of, require, require_same_element, shape_of, show

Value = SSAValue | Operation


def _alignment(bytes_: int | None) -> IntegerAttr | None:
    return None if bytes_ is None else IntegerAttr(bytes_, i64)


def _verify_access(
    base: SSAValue, indices: Sequence[SSAValue], vector: Attribute, alignment: IntegerAttr | None
) -> None:
    rank = cast("MemRefType[Attribute]", base.type).get_num_dims()
    require(
        len(indices) == rank, f"wanted {rank} indices, one per axis of the memref, found {len(indices)}"
    )
    require_same_element("vector", base.type, vector)
    if alignment is not None:
        bytes_ = alignment.value.data
        require(
            bytes_ > 0 and bytes_ & (bytes_ - 1) == 0,
            f"alignment: wanted a power of two, found {bytes_}",
        )


def _verify_mask(mask: Attribute, vector: Attribute) -> None:
    require(element_of(mask) == i1, f"mask: wanted i1 elements, found {mask}")
    require(
        shape_of(mask) == shape_of(vector),
        f"mask: wanted shape {show(shape_of(vector))}, found {show(shape_of(mask))}",
    )


@irdl_op_definition
class LoadOp(IRDLOperation):
    """Read contiguous elements; `alignment` in bytes promises that of the address."""

    name = "vector.load"
    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    result = result_def(VectorType)
    nontemporal = opt_prop_def(IntegerAttr)
    alignment = opt_prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect())
    assembly_format = "$base `[` $indices `]` attr-dict `:` type($base) `,` type($result)"

    def __init__(
        self,
        base: Value,
        indices: Sequence[Value],
        result: VectorType[Attribute],
        alignment: int | None = None,
    ) -> None:
        super().__init__(
            operands=[base, indices],
            result_types=[result],
            properties={"alignment": _alignment(alignment)},
        )

    def verify_(self) -> None:
        """One index per axis; elements agree; the alignment is a power of two."""
        _verify_access(self.base, self.indices, self.result.type, self.alignment)


@irdl_op_definition
class StoreOp(IRDLOperation):
    """Write contiguous elements; `alignment` in bytes promises that of the address."""

    name = "vector.store"
    vector = operand_def(VectorType)
    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    nontemporal = opt_prop_def(IntegerAttr)
    alignment = opt_prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$vector `,` $base `[` $indices `]` attr-dict `:` type($base) `,` type($vector)"

    def __init__(
        self, vector: Value, base: Value, indices: Sequence[Value], alignment: int | None = None
    ) -> None:
        super().__init__(
            operands=[vector, base, indices], properties={"alignment": _alignment(alignment)}
        )

    def verify_(self) -> None:
        """One index per axis; elements agree; the alignment is a power of two."""
        _verify_access(self.base, self.indices, self.vector.type, self.alignment)


@irdl_op_definition
class MaskedLoadOp(IRDLOperation):
    """Read contiguous elements where the mask is set; the others come from `pass_thru`."""

    name = "vector.maskedload"
    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    mask = operand_def(VectorType)
    pass_thru = operand_def(VectorType)
    result = result_def(VectorType)
    alignment = opt_prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect())
    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $pass_thru attr-dict "
        "`:` type($base) `,` type($mask) `,` type($pass_thru) `into` type($result)"
    )

    def __init__(
        self,
        base: Value,
        indices: Sequence[Value],
        mask: Value,
        pass_thru: Value,
        alignment: int | None = None,
    ) -> None:
        super().__init__(
            operands=[base, indices, mask, pass_thru],
            result_types=[SSAValue.get(pass_thru).type],
            properties={"alignment": _alignment(alignment)},
        )

    def verify_(self) -> None:
        """One index per axis; elements and shapes agree."""
        _verify_access(self.base, self.indices, self.result.type, self.alignment)
        _verify_mask(self.mask.type, self.result.type)
        require(
            self.pass_thru.type == self.result.type,
            f"pass_thru: wanted {self.result.type}, found {self.pass_thru.type}",
        )


@irdl_op_definition
class MaskedStoreOp(IRDLOperation):
    """Write contiguous elements where the mask is set."""

    name = "vector.maskedstore"
    base = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    mask = operand_def(VectorType)
    value = operand_def(VectorType)
    alignment = opt_prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = (
        "$base `[` $indices `]` `,` $mask `,` $value attr-dict "
        "`:` type($base) `,` type($mask) `,` type($value)"
    )

    def __init__(
        self,
        base: Value,
        indices: Sequence[Value],
        mask: Value,
        value: Value,
        alignment: int | None = None,
    ) -> None:
        super().__init__(
            operands=[base, indices, mask, value], properties={"alignment": _alignment(alignment)}
        )

    def verify_(self) -> None:
        """One index per axis; elements and shapes agree."""
        _verify_access(self.base, self.indices, self.value.type, self.alignment)
        _verify_mask(self.mask.type, self.value.type)
