"""A builder that folds as it goes, so that IR stays small from the start.

Methods are named as the MLIR op they make. Operands are SSA values; constants are unique per kernel and
stand at the start of its entry block. Integer operations on constants, neutral elements and chains of
constant additions and multiplications disappear; float operations are folded only where the result is
the same for every input, signed zeros and NaN included.
"""

from __future__ import annotations

from typing import cast

from xdsl.dialects import arith as xdsl_arith
from xdsl.dialects import math as xdsl_math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import i1
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import IRDLOperation

from phobos_nb.ir import fold
from phobos_nb.ir.dialects import arith
from phobos_nb.ir.dialects.shapes import element_of, is_float, shape_of, with_element
from phobos_nb.ir.fold import Number, constant_value
from phobos_nb.ir.insertion import INDEX, Inserter, entry_block

__all__ = ["INDEX", "Builder", "entry_block"]


class Builder(Inserter):
    """Makes operations at an insertion point, each with the current `location`, see `Inserter`."""

    # Integers ------------------------------------------------------------------------------------

    def addi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A + b, wrapping."""
        return self._integer(xdsl_arith.AddiOp, a, b)

    def subi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A - b, wrapping."""
        known = constant_value(b)
        if known is not None and fold.width_of(b.type) > 1:
            return self.addi(a, self.constant(-known, b.type))
        return self._integer(xdsl_arith.SubiOp, a, b)

    def muli(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A * b, wrapping."""
        return self._integer(xdsl_arith.MuliOp, a, b)

    def divui(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Unsigned quotient."""
        return self._integer(xdsl_arith.DivUIOp, a, b)

    def divsi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Signed quotient, truncated."""
        return self._integer(xdsl_arith.DivSIOp, a, b)

    def ceildivui(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Unsigned quotient, rounded up."""
        return self._integer(xdsl_arith.CeilDivUIOp, a, b)

    def ceildivsi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Signed quotient, rounded up."""
        return self._integer(xdsl_arith.CeilDivSIOp, a, b)

    def floordivsi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Signed quotient, rounded down."""
        return self._integer(xdsl_arith.FloorDivSIOp, a, b)

    def remui(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Unsigned remainder."""
        return self._integer(xdsl_arith.RemUIOp, a, b)

    def remsi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Signed remainder with the dividend's sign."""
        return self._integer(xdsl_arith.RemSIOp, a, b)

    def minsi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Signed minimum."""
        return self._integer(xdsl_arith.MinSIOp, a, b)

    def maxsi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Signed maximum."""
        return self._integer(xdsl_arith.MaxSIOp, a, b)

    def minui(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Unsigned minimum."""
        return self._integer(xdsl_arith.MinUIOp, a, b)

    def maxui(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Unsigned maximum."""
        return self._integer(xdsl_arith.MaxUIOp, a, b)

    def andi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Bitwise and."""
        return self._integer(xdsl_arith.AndIOp, a, b)

    def ori(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Bitwise or."""
        return self._integer(xdsl_arith.OrIOp, a, b)

    def xori(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Bitwise exclusive or."""
        return self._integer(xdsl_arith.XOrIOp, a, b)

    def shli(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Shift left."""
        return self._integer(xdsl_arith.ShLIOp, a, b)

    def shrsi(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Shift right, copying the sign."""
        return self._integer(xdsl_arith.ShRSIOp, a, b)

    def shrui(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Shift right, filling with zeros."""
        return self._integer(xdsl_arith.ShRUIOp, a, b)

    def negate_i1(self, a: SSAValue) -> SSAValue:
        """Logical not of an i1 (scalar, vector or tensor)."""
        return self.xori(a, self.constant(True, a.type))

    def _integer(
        self, op: type[xdsl_arith.SignlessIntegerBinaryOperation], a: SSAValue, b: SSAValue
    ) -> SSAValue:
        width = fold.width_of(a.type)
        left, right = constant_value(a), constant_value(b)
        if left is not None and right is not None:
            known = fold.integer_binary(op.name, int(left), int(right), width)
            if known is not None:
                return self.constant(known, a.type)
        if left is not None and op.name in _COMMUTATIVE:
            a, b, right = b, a, left
        simple = self._simplify_integer(op.name, a, b, right)
        return self.value(op(a, b)) if simple is None else simple

    def _simplify_integer(
        self, name: str, a: SSAValue, b: SSAValue, right: Number | None
    ) -> SSAValue | None:
        """What `a op b` is without computing; `right` is the number b holds, if it is constant."""
        if a is b and name in _SAME_OPERAND:
            return self.constant(0, a.type) if _SAME_OPERAND[name] == 0 else a
        if right is None:
            return None
        if right == _NEUTRAL.get(name):
            return a
        if right == 0 and name in _ABSORBED_BY_ZERO:
            return b
        if name in ("arith.remui", "arith.remsi") and right == 1:
            return self.constant(0, a.type)
        if fold.width_of(a.type) == 1 and right and name in ("arith.andi", "arith.ori"):
            return a if name == "arith.andi" else b
        return self._chain(name, a, right)

    def _chain(self, name: str, a: SSAValue, right: Number) -> SSAValue | None:
        """(x op c) op d is x op (c op d) for wrapping additions, products and exclusive ors."""
        if name not in ("arith.addi", "arith.muli", "arith.xori") or not isinstance(a.owner, Operation):
            return None
        inner = a.owner
        if inner.name != name:
            return None
        middle = constant_value(inner.operands[1])
        if middle is None:
            return None
        both = fold.integer_binary(name, int(middle), int(right), fold.width_of(a.type))
        op = cast("type[xdsl_arith.SignlessIntegerBinaryOperation]", type(inner))
        return self._integer(op, inner.operands[0], self.constant(both or 0, a.type))

    # Comparison and choice -----------------------------------------------------------------------

    def cmpi(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """Compare integers: eq ne slt sle sgt sge ult ule ugt uge."""
        left, right = constant_value(a), constant_value(b)
        result = with_element(a.type, i1)
        if left is not None and right is not None:
            width = fold.width_of(a.type)
            return self.constant(fold.integer_compare(predicate, int(left), int(right), width), result)
        if a is b:
            return self.constant(predicate in ("eq", "sle", "sge", "ule", "uge"), result)
        return self.value(arith.CmpiOp(a, b, predicate))

    def cmpf(self, predicate: str, a: SSAValue, b: SSAValue) -> SSAValue:
        """Compare floats: oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno."""
        left, right = constant_value(a), constant_value(b)
        if left is not None and right is not None:
            known = fold.float_compare(predicate, float(left), float(right))
            return self.constant(known, with_element(a.type, i1))
        return self.value(arith.CmpfOp(a, b, predicate))

    def select(self, condition: SSAValue, a: SSAValue, b: SSAValue) -> SSAValue:
        """`condition ? a : b`."""
        known = constant_value(condition)
        if known is not None:
            return a if known else b
        if a is b:
            return a
        if a.type == condition.type:
            choice = constant_value(a), constant_value(b)
            if choice == (True, False):
                return condition
            if choice == (False, True):
                return self.negate_i1(condition)
        return self.value(arith.SelectOp(condition, a, b))

    # Floats --------------------------------------------------------------------------------------

    def addf(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A + b, rounded once."""
        return self._float(xdsl_arith.AddfOp, a, b)

    def subf(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A - b, rounded once."""
        return self._float(xdsl_arith.SubfOp, a, b)

    def mulf(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A * b, rounded once."""
        return self._float(xdsl_arith.MulfOp, a, b)

    def divf(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A / b, rounded once."""
        return self._float(xdsl_arith.DivfOp, a, b)

    def remf(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The exact remainder of the truncated quotient, with the dividend's sign (`fmod`)."""
        return self._float(arith.RemfOp, a, b)

    def maximumf(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The larger; NaN if either is."""
        return self._float(xdsl_arith.MaximumfOp, a, b)

    def minimumf(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """The smaller; NaN if either is."""
        return self._float(xdsl_arith.MinimumfOp, a, b)

    def negf(self, a: SSAValue) -> SSAValue:
        """-a."""
        known = constant_value(a)
        return self.value(xdsl_arith.NegfOp(a)) if known is None else self.constant(-known, a.type)

    def _float(
        self, op: type[xdsl_arith.FloatingPointLikeBinaryOperation], a: SSAValue, b: SSAValue
    ) -> SSAValue:
        left, right = constant_value(a), constant_value(b)
        if left is not None and right is not None:
            known = fold.float_binary(op.name, float(left), float(right), element_of(a.type))
            if known is not None:
                return self.constant(known, a.type)
        if left == 1 and op is xdsl_arith.MulfOp:
            return b
        if right == 1 and op in (xdsl_arith.MulfOp, xdsl_arith.DivfOp):
            return a
        return self.value(op(a, b))

    def fma(self, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
        """A * b + c, rounded once."""
        properties: dict[str, Attribute | None] = {"fastmath": FastMathFlagsAttr("none")}
        return self.value(
            xdsl_math.FmaOp.build(operands=[a, b, c], result_types=[a.type], properties=properties)
        )

    # Conversions ---------------------------------------------------------------------------------

    def index_cast(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Between index and integers, sign extending or keeping the low bits."""
        return self._convert(arith.IndexCastOp, a, type_, signed=True)

    def index_castui(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Between index and integers, zero extending or keeping the low bits."""
        return self._convert(arith.IndexCastUIOp, a, type_, signed=False)

    def extsi(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Widen a signed integer."""
        return self._convert(arith.ExtSIOp, a, type_, signed=True)

    def extui(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Widen an unsigned integer."""
        return self._convert(arith.ExtUIOp, a, type_, signed=False)

    def trunci(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Keep the low bits of an integer."""
        return self._convert(arith.TruncIOp, a, type_, signed=True)

    def sitofp(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Round a signed integer to a float."""
        return self._convert(arith.SIToFPOp, a, type_, signed=True)

    def uitofp(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Round an unsigned integer to a float."""
        return self._convert(arith.UIToFPOp, a, type_, signed=False)

    def extf(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Widen a float, exactly."""
        return self._convert(xdsl_arith.ExtFOp, a, type_)

    def truncf(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Round a float to a narrower one; of a value just widened from that type, itself."""
        target = _shaped_like(a, type_)
        if isinstance(a.owner, xdsl_arith.ExtFOp) and a.owner.input.type == target:
            return a.owner.input
        return self._convert(xdsl_arith.TruncFOp, a, type_)

    def fptosi(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Truncate a float already clamped to the range of a signed integer."""
        return self.value(arith.FPToSIOp(a, _shaped_like(a, type_)))

    def fptoui(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """Truncate a float already clamped to the range of an unsigned integer."""
        return self.value(arith.FPToUIOp(a, _shaped_like(a, type_)))

    def bitcast(self, a: SSAValue, type_: Attribute) -> SSAValue:
        """The same bits as another type of that width."""
        target = _shaped_like(a, type_)
        return a if a.type == target else self.value(xdsl_arith.BitcastOp(a, target))

    def _convert(
        self,
        op: type[IRDLOperation],
        a: SSAValue,
        type_: Attribute,
        *,
        signed: bool = True,
    ) -> SSAValue:
        target = _shaped_like(a, type_)
        if a.type == target:
            return a
        known = constant_value(a)
        number = None if known is None else _read(known, a.type, signed=signed)
        if number is not None and _rounds_once(number, target):
            return self.constant(number, target)
        return self.value(op.build(operands=[a], result_types=[target]))


_COMMUTATIVE = frozenset(
    f"arith.{name}"
    for name in ("addi", "muli", "andi", "ori", "xori", "minsi", "maxsi", "minui", "maxui")
)
_NEUTRAL = {
    "arith.addi": 0,
    "arith.subi": 0,
    "arith.ori": 0,
    "arith.xori": 0,
    "arith.shli": 0,
    "arith.shrsi": 0,
    "arith.shrui": 0,
    "arith.muli": 1,
    "arith.divui": 1,
    "arith.divsi": 1,
    "arith.ceildivui": 1,
    "arith.ceildivsi": 1,
    "arith.floordivsi": 1,
    "arith.andi": -1,
}
_ABSORBED_BY_ZERO = frozenset(("arith.muli", "arith.andi"))
_SAME_OPERAND = {
    "arith.subi": 0,
    "arith.xori": 0,
    "arith.andi": 1,
    "arith.ori": 1,
    "arith.minsi": 1,
    "arith.maxsi": 1,
    "arith.minui": 1,
    "arith.maxui": 1,
}


def _shaped_like(value: SSAValue, type_: Attribute) -> Attribute:
    return type_ if shape_of(type_) is not None else with_element(value.type, type_)


def _read(known: Number, type_: Attribute, *, signed: bool) -> Number:
    """The number that a constant's bits mean when an integer is read as signed or unsigned."""
    if is_float(element_of(type_)):
        return known
    width = fold.width_of(type_)
    return fold.wrap(int(known), width) if signed else fold.unsigned(int(known), width)


def _rounds_once(number: Number, target: Attribute) -> bool:
    """Whether going through f64 does not round an integer before it is rounded to the target."""
    return isinstance(number, float) or abs(number) <= 1 << 53 or not is_float(element_of(target))
