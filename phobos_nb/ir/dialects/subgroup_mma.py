"""WMMA: upstream's `gpu.subgroup_mma_*`, products of matrices that a warp holds.

Which lane holds which element is not told (PTX ISA, "Matrix Fragments for WMMA": it depends on the
target), so the types are opaque: a matrix, and whether it is the left (AOp) or right (BOp) operand or
the accumulator (COp).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    FixedBitwidthType,
    IndexType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    Signedness,
    StringAttr,
    UnitAttr,
    f16,
    f32,
    f64,
    i32,
)
from xdsl.ir import Attribute, Operation, ParametrizedAttribute, SSAValue, TypeAttribute
from xdsl.irdl import (
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect, Pure

from phobos_nb.ir.dialects.shapes import element_of, require, show

Value = SSAValue | Operation
SI8 = IntegerType(8, Signedness.SIGNED)
SHAPES = {
    "f16": ((16, 16, 16), (32, 8, 16), (8, 32, 16)),
    "si8": ((16, 16, 16), (32, 8, 16), (8, 32, 16)),
    "f32": ((16, 16, 8),),
    "f64": ((8, 8, 4),),
}
"""Extents m, n, k by operand type; f32 is read as tf32. PTX ISA, `wmma.mma`."""
SUMS: dict[str, tuple[Attribute, ...]] = {
    "f16": (f16, f32),
    "si8": (i32,),
    "f32": (f32,),
    "f64": (f64,),
}


@irdl_attr_definition
class MatrixType(ParametrizedAttribute, TypeAttribute):
    """`!gpu.mma_matrix<16x16xf16, "AOp">`: a matrix that the lanes of a warp hold together."""

    name = "gpu.mma_matrix"
    shape: ArrayAttr[IntAttr]
    element: Attribute
    role: StringAttr

    def __init__(self, rows: int, columns: int, element: Attribute, role: str) -> None:
        super().__init__(ArrayAttr([IntAttr(rows), IntAttr(columns)]), element, StringAttr(role))

    @property
    def extents(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = (n.data for n in self.shape)
        return rows, columns

    def print_parameters(self, printer: Printer) -> None:
        """Print `<16x16xf16, "AOp">`."""
        with printer.in_angle_brackets():
            printer.print_string("x".join(str(n) for n in self.extents) + "x")
            printer.print_attribute(self.element)
            printer.print_string(f', "{self.role.data}"')

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        """Parse `<16x16xf16, "AOp">`."""
        with parser.in_angle_brackets():
            rows = parser.parse_shape_dimension()
            parser.parse_shape_delimiter()
            columns = parser.parse_shape_dimension()
            parser.parse_shape_delimiter()
            element = parser.parse_type()
            parser.parse_punctuation(",")
            role = parser.parse_str_literal()
        return [ArrayAttr([IntAttr(rows), IntAttr(columns)]), element, StringAttr(role)]


def _matrix(value: SSAValue) -> MatrixType:
    require(isinstance(value.type, MatrixType), f"wanted a matrix of a warp, found {value.type}")
    return cast(MatrixType, value.type)


def stored_element(type_: MatrixType) -> Attribute:
    """The type of the matrix's elements in memory, where integers have no sign."""
    return IntegerType(8) if type_.element == SI8 else type_.element


def _require_memory(
    memref: SSAValue, indices: Sequence[SSAValue], matrix: MatrixType, lead: int
) -> None:
    type_ = cast("MemRefType[Attribute]", memref.type)
    rank = type_.get_num_dims()
    require(len(indices) == rank, f"memory: wanted {rank} indices, found {len(indices)}")
    wanted, found = stored_element(matrix), element_of(type_)
    require(wanted == found, f"memory: wanted elements of {wanted}, found {found}")
    bytes_ = lead * bits_of(matrix) // 8
    require(bytes_ % 16 == 0, f"leadDimension: wanted a multiple of 16 bytes, found {bytes_}")


@irdl_op_definition
class SubgroupMmaLoadOp(IRDLOperation):
    """`wmma.load`: rows `leadDimension` elements apart, or with `transpose` columns."""

    name = "gpu.subgroup_mma_load_matrix"
    src = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    lead = prop_def(IntegerAttr, prop_name="leadDimension")
    transpose = opt_prop_def(UnitAttr)
    result = result_def(MatrixType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect())
    assembly_format = "$src `[` $indices `]` attr-dict `:` type($src) `->` type($result)"

    def __init__(
        self,
        src: Value,
        indices: Sequence[Value],
        result: MatrixType,
        lead: int,
        *,
        transpose: bool = False,
    ) -> None:
        super().__init__(
            operands=[src, indices],
            result_types=[result],
            properties={
                "leadDimension": IntegerAttr(lead, IndexType()),
                "transpose": UnitAttr() if transpose else None,
            },
        )

    def verify_(self) -> None:
        """The memory holds elements of the matrix, its rows as far apart as the hardware wants."""
        _require_memory(self.src, self.indices, _matrix(self.result), self.lead.value.data)


@irdl_op_definition
class SubgroupMmaStoreOp(IRDLOperation):
    """`wmma.store` of an accumulator: rows `leadDimension` elements apart, or columns."""

    name = "gpu.subgroup_mma_store_matrix"
    src = operand_def(MatrixType)
    dst = operand_def(MemRefType)
    indices = var_operand_def(IndexType())
    lead = prop_def(IntegerAttr, prop_name="leadDimension")
    transpose = opt_prop_def(UnitAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryWriteEffect())
    assembly_format = "$src `,` $dst `[` $indices `]` attr-dict `:` type($src) `,` type($dst)"

    def __init__(
        self, src: Value, dst: Value, indices: Sequence[Value], lead: int, *, transpose: bool = False
    ) -> None:
        super().__init__(
            operands=[src, dst, indices],
            properties={
                "leadDimension": IntegerAttr(lead, IndexType()),
                "transpose": UnitAttr() if transpose else None,
            },
        )

    def verify_(self) -> None:
        """Only accumulators can be stored, to memory of their elements."""
        matrix = _matrix(self.src)
        require(matrix.role.data == "COp", f'wanted an accumulator ("COp"), found {matrix}')
        _require_memory(self.dst, self.indices, matrix, self.lead.value.data)


@irdl_op_definition
class SubgroupMmaConstantOp(IRDLOperation):
    """A matrix whose elements are all one value."""

    name = "gpu.subgroup_mma_constant_matrix"
    value = operand_def()
    result = result_def(MatrixType)
    traits = traits_def(Pure())

    def __init__(self, value: Value, result: MatrixType) -> None:
        super().__init__(operands=[value], result_types=[result])

    def verify_(self) -> None:
        """The value is an element; upstream has no constants of f64."""
        wanted = _matrix(self.result).element
        require(wanted != f64, "no constant matrix of f64")
        require(self.value.type == wanted, f"value: wanted {wanted}, found {self.value.type}")


@irdl_op_definition
class SubgroupMmaComputeOp(IRDLOperation):
    """`wmma.mma`: `c + a @ b`; `*_transpose` say of an operand that it was loaded by columns."""

    name = "gpu.subgroup_mma_compute"
    a = operand_def(MatrixType)
    b = operand_def(MatrixType)
    c = operand_def(MatrixType)
    a_transpose = opt_prop_def(UnitAttr)
    b_transpose = opt_prop_def(UnitAttr)
    result = result_def(MatrixType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())

    def __init__(
        self, a: Value, b: Value, c: Value, *, transposed: tuple[bool, bool] = (False, False)
    ) -> None:
        super().__init__(
            operands=[a, b, c],
            result_types=[SSAValue.get(c).type],
            properties={
                "a_transpose": UnitAttr() if transposed[0] else None,
                "b_transpose": UnitAttr() if transposed[1] else None,
            },
        )

    @property
    def mnk(self) -> tuple[int, int, int]:
        """Rows, columns, depth."""
        m, n = _matrix(self.c).extents
        return m, n, _matrix(self.a).extents[1]

    def verify_(self) -> None:
        """Roles, types and extents are those of an instruction."""
        a, b, c = (_matrix(v) for v in (self.a, self.b, self.c))
        roles = tuple(x.role.data for x in (a, b, c))
        require(roles == ("AOp", "BOp", "COp"), f"wanted AOp, BOp and COp, found {', '.join(roles)}")
        m, n, k = self.mnk
        operand = str(a.element)
        require(a.element == b.element, f"b: wanted elements of {a.element}, found {b.element}")
        require(operand in SHAPES, f"no product of elements of {operand}")
        require(c.element in SUMS[operand], f"c: no sums of {c.element} for operands of {operand}")
        found = (a.extents, b.extents)
        good = (m, n, k) in SHAPES[operand] and found == ((m, k), (k, n))
        require(good, f"no product of {show(found[0])} by {show(found[1])} for elements of {operand}")
        require(self.result.type == self.c.type, "result: wanted the accumulator's type")


def bits_of(type_: MatrixType) -> int:
    """Bits of an element."""
    return cast(FixedBitwidthType, type_.element).bitwidth


SUBGROUP_MMA_OPS: list[type[Operation]] = [
    SubgroupMmaLoadOp,
    SubgroupMmaStoreOp,
    SubgroupMmaConstantOp,
    SubgroupMmaComputeOp,
]
