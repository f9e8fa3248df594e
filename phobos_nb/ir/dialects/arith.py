"""The dialect `arith` with elementwise forms.

xDSL defines comparisons, select and most conversions for scalars only; upstream has them on vectors and
tensors too. The ops here replace xDSL's; the rest of the dialect is xDSL's own.
"""

from __future__ import annotations

from typing import ClassVar, cast

from xdsl.dialects import arith as xdsl_arith
from xdsl.dialects.arith import FastMathFlagsAttr, IntegerOverflowAttr
from xdsl.dialects.builtin import FixedBitwidthType, IndexType, IntegerAttr, IntegerType, i1, i64
from xdsl.ir import Attribute, Dialect, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    VarConstraint,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from phobos_nb.ir.dialects.shapes import (
    element_of,
    is_float,
    require,
    require_same_shape,
    shape_of,
    with_element,
)

Value = SSAValue | Operation

CMPI_PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
CMPF_PREDICATES = (
    *("false", "oeq", "ogt", "oge", "olt", "ole", "one", "ord"),
    *("ueq", "ugt", "uge", "ult", "ule", "une", "uno", "true"),
)


class _Compare(IRDLOperation):
    """A comparison: two operands of one type, i1 elements in their shape out."""

    PREDICATES: ClassVar[tuple[str, ...]] = ()

    predicate = prop_def(IntegerAttr)
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, lhs: Value, rhs: Value, predicate: int | str) -> None:
        number = predicate if isinstance(predicate, int) else self.PREDICATES.index(predicate)
        super().__init__(
            operands=[lhs, rhs],
            result_types=[with_element(SSAValue.get(lhs).type, i1)],
            properties={"predicate": IntegerAttr(number, i64)},
        )

    @property
    def predicate_name(self) -> str:
        """The mnemonic, such as `slt`."""
        return self.PREDICATES[self.predicate.value.data]

    @classmethod
    def parse(cls, parser: Parser) -> _Compare:
        """Parse `slt, %a, %b : type`."""
        name = parser.parse_identifier()
        if name not in cls.PREDICATES:
            parser.raise_error(f"{name} is not one of {', '.join(cls.PREDICATES)}")
        parser.parse_punctuation(",")
        lhs = parser.parse_unresolved_operand()
        parser.parse_punctuation(",")
        rhs = parser.parse_unresolved_operand()
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        values = parser.resolve_operands([lhs, rhs], [type_, type_], parser.pos)
        op = cls(values[0], values[1], name)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print `slt, %a, %b : type`."""
        printer.print_string(f" {self.predicate_name}, ")
        printer.print_list((self.lhs, self.rhs), printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.lhs.type)

    def verify_(self) -> None:
        """Operands have one type; the result is i1 in their shape."""
        number = self.predicate.value.data
        require(0 <= number < len(self.PREDICATES), f"predicate: {number} names no comparison")
        require(
            self.lhs.type == self.rhs.type,
            f"wanted operands of one type, found {self.lhs.type} and {self.rhs.type}",
        )
        wanted = with_element(self.lhs.type, i1)
        require(self.result.type == wanted, f"result: wanted {wanted}, found {self.result.type}")


@irdl_op_definition
class CmpiOp(_Compare):
    """Compare integers or indices, elementwise."""

    name = "arith.cmpi"
    PREDICATES: ClassVar[tuple[str, ...]] = CMPI_PREDICATES


@irdl_op_definition
class CmpfOp(_Compare):
    """Compare floats, elementwise; `o` predicates are false and `u` ones true on NaN."""

    name = "arith.cmpf"
    PREDICATES: ClassVar[tuple[str, ...]] = CMPF_PREDICATES
    fastmath = prop_def(FastMathFlagsAttr, default_value=FastMathFlagsAttr("none"))


@irdl_op_definition
class SelectOp(IRDLOperation):
    """`cond ? lhs : rhs`; the condition is one i1, or i1 elements in the shape of the operands."""

    T: ClassVar = VarConstraint("T", AnyAttr())

    name = "arith.select"
    cond = operand_def()
    lhs = operand_def(T)
    rhs = operand_def(T)
    result = result_def(T)
    traits = traits_def(Pure())

    def __init__(self, cond: Value, lhs: Value, rhs: Value) -> None:
        super().__init__(operands=[cond, lhs, rhs], result_types=[SSAValue.get(lhs).type])

    @classmethod
    def parse(cls, parser: Parser) -> SelectOp:
        """Parse `%c, %a, %b : type`, with the condition's type in front unless it is i1."""
        operands = [parser.parse_unresolved_operand()]
        for _ in range(2):
            parser.parse_punctuation(",")
            operands.append(parser.parse_unresolved_operand())
        attributes = parser.parse_optional_attr_dict()
        parser.parse_punctuation(":")
        types = [parser.parse_type()]
        if parser.parse_optional_punctuation(","):
            types.append(parser.parse_type())
        condition: Attribute = types[0] if len(types) == 2 else i1
        values = parser.resolve_operands(operands, [condition, types[-1], types[-1]], parser.pos)
        op = cls(*values)
        op.attributes |= attributes
        return op

    def print(self, printer: Printer) -> None:
        """Print `%c, %a, %b : type`, with the condition's type in front unless it is i1."""
        printer.print_string(" ")
        printer.print_list(self.operands, printer.print_ssa_value)
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        types = [self.lhs.type] if self.cond.type == i1 else [self.cond.type, self.lhs.type]
        printer.print_list(types, printer.print_attribute)

    def verify_(self) -> None:
        """The condition is i1, alone or in the shape of the operands."""
        require(element_of(self.cond.type) == i1, f"condition: wanted i1, found {self.cond.type}")
        if shape_of(self.cond.type) is not None:
            require_same_shape("condition", self.lhs.type, self.cond.type)


class _Convert(IRDLOperation):
    """A conversion of elements that keeps the shape."""

    CONVERTS: ClassVar[str] = ""

    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `to` type($result)"

    def __init__(self, value: Value, target: Attribute) -> None:
        """Convert to type `target`: a scalar, or for a vector or tensor its type or element type."""
        input_ = SSAValue.get(value)
        result = target if shape_of(target) is not None else with_element(input_.type, target)
        super().__init__(operands=[input_], result_types=[result])

    def verify_(self) -> None:
        """The shape is kept and the element types are legal."""
        require_same_shape("result", self.input.type, self.result.type)
        source, target = element_of(self.input.type), element_of(self.result.type)
        if not self.converts(source, target):
            raise VerifyException(f"wanted {self.CONVERTS}, found {source} to {target}")

    def converts(self, source: Attribute, target: Attribute) -> bool:
        """Whether the op converts elements of type `source` to `target`."""
        raise NotImplementedError


class _IndexCast(_Convert):
    CONVERTS: ClassVar[str] = "integer to index or index to integer"

    def converts(self, source: Attribute, target: Attribute) -> bool:
        """Exactly one side is index."""
        return {type(source), type(target)} == {IndexType, IntegerType}


@irdl_op_definition
class IndexCastOp(_IndexCast):
    """Between index and integers, sign extending."""

    name = "arith.index_cast"


@irdl_op_definition
class IndexCastUIOp(_IndexCast):
    """Between index and integers, zero extending."""

    name = "arith.index_castui"


class _FloatToInteger(_Convert):
    CONVERTS: ClassVar[str] = "float to integer"

    def converts(self, source: Attribute, target: Attribute) -> bool:
        """From a float to an integer."""
        return is_float(source) and isinstance(target, IntegerType)


@irdl_op_definition
class FPToSIOp(_FloatToInteger):
    """Truncate to a signed integer; undefined outside its range, so values are clamped before."""

    name = "arith.fptosi"


@irdl_op_definition
class FPToUIOp(_FloatToInteger):
    """Truncate to an unsigned integer; undefined outside its range, so values are clamped before."""

    name = "arith.fptoui"


class _IntegerToFloat(_Convert):
    CONVERTS: ClassVar[str] = "integer to float"

    def converts(self, source: Attribute, target: Attribute) -> bool:
        """From an integer to a float."""
        return isinstance(source, IntegerType) and is_float(target)


@irdl_op_definition
class SIToFPOp(_IntegerToFloat):
    """Round a signed integer to the nearest float, ties to even."""

    name = "arith.sitofp"


@irdl_op_definition
class UIToFPOp(_IntegerToFloat):
    """Round an unsigned integer to the nearest float, ties to even."""

    name = "arith.uitofp"


@irdl_op_definition
class RemfOp(xdsl_arith.FloatingPointLikeBinaryOperation):
    """The exact remainder of the truncated quotient, with the dividend's sign (`fmod`)."""

    name = "arith.remf"
    traits = traits_def(Pure())


def _widths(*types: Attribute) -> tuple[int, ...] | None:
    """The widths of integers; None when one is no integer."""
    integers = all(isinstance(t, IntegerType) for t in types)
    return tuple(cast(FixedBitwidthType, t).bitwidth for t in types) if integers else None


@irdl_op_definition
class TruncIOp(_Convert):
    """Keep the low bits of an integer."""

    CONVERTS: ClassVar[str] = "integer to narrower integer"

    name = "arith.trunci"
    overflow_flags = prop_def(
        IntegerOverflowAttr, default_value=IntegerOverflowAttr("none"), prop_name="overflowFlags"
    )

    assembly_format = (
        "$input (`overflow` `` $overflowFlags^)? attr-dict `:` type($input) `to` type($result)"
    )

    def converts(self, source: Attribute, target: Attribute) -> bool:
        """To a narrower integer."""
        widths = _widths(source, target)
        return widths is not None and widths[0] > widths[1]


class _Extend(_Convert):
    CONVERTS: ClassVar[str] = "integer to wider integer"

    def converts(self, source: Attribute, target: Attribute) -> bool:
        """To a wider integer."""
        widths = _widths(source, target)
        return widths is not None and widths[0] < widths[1]


@irdl_op_definition
class ExtSIOp(_Extend):
    """Widen a signed integer."""

    name = "arith.extsi"


@irdl_op_definition
class ExtUIOp(_Extend):
    """Widen an unsigned integer."""

    name = "arith.extui"


_OWN: list[type[Operation]] = [
    CmpiOp,
    CmpfOp,
    SelectOp,
    IndexCastOp,
    IndexCastUIOp,
    FPToSIOp,
    FPToUIOp,
    SIToFPOp,
    UIToFPOp,
    RemfOp,
    TruncIOp,
    ExtSIOp,
    ExtUIOp,
]

Arith = Dialect(
    "arith",
    [*(op for op in xdsl_arith.Arith.operations if op.name not in {own.name for own in _OWN}), *_OWN],
    list(xdsl_arith.Arith.attributes),
    [xdsl_arith.ArithConstantMaterializationInterface()],
)
