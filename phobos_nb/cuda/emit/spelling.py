"""How MLIR types and constants are spelled in CUDA C++."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    DenseIntOrFPElementsAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
)
from xdsl.ir import Attribute

from phobos_nb.cuda.reading import element_type, integer, width

INTEGERS = {1: "bool", 8: "signed char", 16: "short", 32: "int", 64: "long long"}
"""The signed C++ type of an integer width; 1 is a flag."""

SIZES = {
    "bool": 1,
    "signed char": 1,
    "short": 2,
    "int": 4,
    "long long": 8,
    "f16": 2,
    "bf16": 2,
    "float": 4,
    "double": 8,
}
"""Bytes of one element in memory."""

UNSIGNED = {
    "bool": "bool",
    "signed char": "unsigned char",
    "short": "unsigned short",
    "int": "unsigned",
    "long long": "unsigned long long",
}
"""The unsigned partner of a signed type."""

FLOATS = {Float16Type: "f16", BFloat16Type: "bf16", Float32Type: "float", Float64Type: "double"}


def scalar(type: Attribute) -> str:
    """The C++ type of a scalar MLIR type other than `index`, whose width is the emitter's to choose."""
    for cls, name in FLOATS.items():
        if isinstance(type, cls):
            return name
    if width(type, 0) in INTEGERS:
        return INTEGERS[width(type, 0)]
    if isinstance(type, IndexType):
        return "long long"
    raise TypeError(f"no CUDA C++ type for {type}")


def constant(attribute: Attribute) -> str:
    """The literal of a scalar constant attribute."""
    if isinstance(attribute, IntegerAttr):
        value = cast("IntegerAttr[IntegerType | IndexType]", attribute)
        return integer_literal(integer(value), value.type)
    if isinstance(attribute, FloatAttr):
        found = cast("FloatAttr[Float32Type]", attribute)
        return float_literal(found.value.data, scalar(found.type))
    raise TypeError(f"no literal for {attribute}")


def integer_literal(value: int, type: Attribute) -> str:
    """An integer constant; the lowest value of a type has no literal of its own in C++."""
    bits = width(type, 0)
    if bits == 1:
        return "true" if value & 1 else "false"
    if bits:
        value = (value + (1 << (bits - 1))) % (1 << bits) - (1 << (bits - 1))
    if value == -(1 << 63):
        return "(-9223372036854775807LL - 1)"
    if value == -(1 << 31):
        return "(-2147483647 - 1)"
    return f"{value}LL" if not -(1 << 31) <= value < (1 << 31) else str(value)


def float_literal(value: float, ctype: str) -> str:
    """A float constant that the C++ compiler reads back to the same bits."""
    if ctype == "f16":
        return f"f16{{0x{_half_bits(value):04x}}}"
    if ctype == "bf16":
        return f"bf16{{0x{_bfloat_bits(value):04x}}}"
    if ctype == "float":
        return _single(value)
    if not math.isfinite(value):
        (bits,) = struct.unpack("<Q", struct.pack("<d", value))
        return f"__longlong_as_double((long long)0x{bits:016x}ULL)"
    return repr(float(value))


def _single(value: float) -> str:
    if not math.isfinite(value):
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        return f"__int_as_float((int)0x{bits:08x}u)"
    packed = struct.pack("<f", value)
    (exact,) = struct.unpack("<f", packed)
    texts = (f"{exact:.{digits}g}" for digits in range(1, 10))  # nine digits always suffice
    text = next(text for text in texts if _packed(float(text)) == packed)
    return f"{text}f" if any(c in text for c in ".e") else f"{text}.0f"


def _packed(value: float) -> bytes:
    """The bits as f32; none for a short decimal that lies above the largest f32."""
    try:
        return struct.pack("<f", value)
    except OverflowError:
        return b""


def _half_bits(value: float) -> int:
    try:
        (bits,) = struct.unpack("<H", struct.pack("<e", value))
    except OverflowError:
        bits = 0xFC00 if value < 0 else 0x7C00
    return int(bits)


def _bfloat_bits(value: float) -> int:
    """Round to nearest even from the double: to odd at 32 bits first, so that it rounds once."""
    if math.isnan(value):
        return 0x7FC0
    try:
        (bits,) = struct.unpack("<I", struct.pack("<f", value))
        (back,) = struct.unpack("<f", struct.pack("<I", bits))
    except OverflowError:
        return 0xFF80 if value < 0 else 0x7F80
    if back != value:
        toward_zero = bits - (1 if abs(back) > abs(value) else 0)
        bits = toward_zero | 1
    return ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16) & 0xFFFF


def constant_elements(attribute: Attribute) -> tuple[str, ...]:
    """The literals of a dense constant; one if all elements are equal."""
    dense = cast("DenseIntOrFPElementsAttr[IntegerType | Float32Type]", attribute)
    element = element_type(dense.type)
    values = cast("Sequence[float]", dense.get_values())
    if dense.is_splat():
        return (_element(values[0], element),)
    return tuple(_element(x, element) for x in values)


def _element(value: float, element: Attribute) -> str:
    if isinstance(element, IndexType) or width(element, 0):
        return integer_literal(int(value), element)
    return float_literal(value, scalar(element))
