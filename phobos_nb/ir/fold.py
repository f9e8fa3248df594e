"""What is known of values while IR is being built: constants, and what operations on them give.

Arithmetic follows the dialect `arith`: integers wrap at their width (index at 64 bits), floats round
once to their type. A division by zero is not folded.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping
from typing import cast

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    TensorType,
    VectorType,
)
from xdsl.ir import Attribute, SSAValue

from phobos_nb.ir.dialects.shapes import element_of, is_float, shape_of

Number = int | float | bool


def constant_value(value: SSAValue) -> Number | None:
    """The number a scalar constant holds, or that every element of a constant splat holds."""
    if not isinstance(value.owner, arith.ConstantOp):
        return None
    attribute = value.owner.value
    if isinstance(attribute, DenseIntOrFPElementsAttr):
        return _number(attribute.get_values()[0], value.type) if attribute.is_splat() else None
    if isinstance(attribute, IntegerAttr | FloatAttr):
        return _number(cast(Number, attribute.value.data), value.type)
    return None


def constant_integer(value: SSAValue) -> int | None:
    """The number that a constant of integers or of index holds."""
    known = constant_value(value)
    return known if isinstance(known, int) else None


def _number(raw: object, type_: Attribute) -> Number:
    number = cast(Number, raw)
    return bool(number) if width_of(type_) == 1 else number


def constant_attribute(value: Number, type_: Attribute) -> arith.ConstantOp:
    """A constant of a scalar, vector or tensor type, every element being `value`."""
    element = element_of(type_)
    number = normalised(value, element)
    if shape_of(type_) is not None:
        shaped = cast("TensorType[IntegerType] | VectorType[IntegerType]", type_)
        dense = DenseIntOrFPElementsAttr.from_list(shaped, [cast(int, number)])
        return arith.ConstantOp(dense, type_)
    if is_float(element):
        return arith.ConstantOp(FloatAttr(float(number), cast(Float64Type, element)))
    return arith.ConstantOp(IntegerAttr(int(number), cast(IntegerType, element)))


def normalised(value: Number, element: Attribute) -> Number:
    """The value as the type holds it: rounded, or wrapped to a signed number of its width."""
    if is_float(element):
        return rounded(float(value), element)
    width = width_of(element)
    if width == 1:
        return bool(int(value) & 1)
    return wrap(int(value), width)


def rounded(value: float, element: Attribute) -> float:
    """The nearest float of the type, ties to even; infinity past its range."""
    try:
        return FloatAttr(value, cast(Float64Type, element)).value.data
    except OverflowError:
        return math.copysign(math.inf, value)


def wrap(value: int, width: int) -> int:
    """The signed number with the low `width` bits of `value`."""
    half = 1 << (width - 1)
    return (value + half) % (1 << width) - half


def unsigned(value: int, width: int) -> int:
    """The unsigned number with the low `width` bits of `value`."""
    return value % (1 << width)


def width_of(type_: Attribute) -> int:
    """Bits of an integer's elements; 64 for index, 0 for floats."""
    element = element_of(type_)
    if isinstance(element, IntegerType):
        return cast(IntegerType, element).bitwidth
    return 64 if isinstance(element, IndexType) else 0


def _truncated_quotient(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


SIGNED: Mapping[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.andi": int.__and__,
    "arith.ori": int.__or__,
    "arith.xori": int.__xor__,
    "arith.minsi": min,
    "arith.maxsi": max,
    "arith.divsi": _truncated_quotient,
    "arith.remsi": lambda a, b: a - _truncated_quotient(a, b) * b,
    "arith.floordivsi": int.__floordiv__,
    "arith.ceildivsi": lambda a, b: -(-a // b),
}

UNSIGNED: Mapping[str, Callable[[int, int], int]] = {
    "arith.divui": int.__floordiv__,
    "arith.remui": operator.mod,
    "arith.ceildivui": lambda a, b: -(-a // b),
    "arith.minui": min,
    "arith.maxui": max,
}

DIVIDES = frozenset(name for name in (*SIGNED, *UNSIGNED) if "div" in name or "rem" in name)

SHIFTS = frozenset(("arith.shli", "arith.shrsi", "arith.shrui"))


def _shift(name: str, a: int, b: int, width: int) -> int | None:
    if not 0 <= b < width:
        return None
    if name == "arith.shli":
        return wrap(a << b, width)
    return a >> b if name == "arith.shrsi" else wrap(unsigned(a, width) >> b, width)


def integer_binary(name: str, a: int, b: int, width: int) -> int | None:
    """The result of an integer op on constants; None where it is not defined or not known."""
    if name in SHIFTS:
        return _shift(name, a, b, width)
    if name in DIVIDES and b == 0:
        return None
    if name in SIGNED:
        return wrap(SIGNED[name](a, b), width)
    if name in UNSIGNED:
        return wrap(UNSIGNED[name](unsigned(a, width), unsigned(b, width)), width)
    return None


def _quotient(a: float, b: float) -> float:
    if b != 0 or math.isnan(a):
        return a / b if b != 0 else math.nan
    return math.nan if a == 0 else math.copysign(math.inf, a) * math.copysign(1.0, b)


def _propagating(pick: Callable[[float, float], float]) -> Callable[[float, float], float]:
    def combine(a: float, b: float) -> float:
        return math.nan if math.isnan(a) or math.isnan(b) else pick(a, b)

    return combine


def _maximum(a: float, b: float) -> float:
    return max((a, b), key=lambda v: (v, math.copysign(1.0, v)))


def _minimum(a: float, b: float) -> float:
    return min((a, b), key=lambda v: (v, math.copysign(1.0, v)))


FLOAT: Mapping[str, Callable[[float, float], float]] = {
    "arith.addf": operator.add,
    "arith.subf": operator.sub,
    "arith.mulf": operator.mul,
    "arith.divf": _quotient,
    "arith.maximumf": _propagating(_maximum),
    "arith.minimumf": _propagating(_minimum),
}


def float_binary(name: str, a: float, b: float, element: Attribute) -> float | None:
    """The rounded result of a float op on constants; None where it is not known.

    Computing in f64 and rounding once more to f32, f16 or bf16 gives the correctly rounded result for
    these operations (Figueroa, "When is double rounding innocuous?", SIGNUM 1995).
    """
    function = FLOAT.get(name)
    return None if function is None else rounded(function(a, b), element)


COMPARE: Mapping[str, Callable[[Number, Number], bool]] = {
    "eq": operator.eq,
    "ne": operator.ne,
    "lt": operator.lt,
    "le": operator.le,
    "gt": operator.gt,
    "ge": operator.ge,
}


def integer_compare(predicate: str, a: int, b: int, width: int) -> bool:
    """The result of `arith.cmpi` on constants."""
    if predicate in COMPARE:
        return COMPARE[predicate](a, b)
    if predicate[0] == "u":
        a, b = unsigned(a, width), unsigned(b, width)
    return COMPARE[predicate[1:]](a, b)


def float_compare(predicate: str, a: float, b: float) -> bool:
    """The result of `arith.cmpf` on constants."""
    nan = math.isnan(a) or math.isnan(b)
    match predicate:
        case "true" | "false":
            return predicate == "true"
        case "ord" | "uno":
            return nan == (predicate == "uno")
        case _:
            return predicate[0] == "u" if nan else COMPARE[predicate[1:]](a, b)
