"""Literals and software conversions give the bits that NumPy and ml_dtypes give."""

from __future__ import annotations

import math
import re
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phobos_nb import target
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.emit import emit
from phobos_nb.cuda.emit.spelling import float_literal


@settings(deadline=None)
@given(st.floats(width=32, allow_nan=False, allow_infinity=False))
def test_an_f32_literal_reads_back_to_its_bits(value):
    """The decimal text, rounded to f32 once as C++ does, is the same number."""
    text = float_literal(value, "float")
    assert text.endswith("f")
    assert struct.pack("<f", float(text[:-1])) == struct.pack("<f", value)


@settings(deadline=None)
@given(st.floats(allow_nan=False, allow_infinity=False))
def test_an_f64_literal_reads_back_to_its_bits(value):
    """Python's shortest text of a double."""
    assert struct.pack("<d", float(float_literal(value, "double"))) == struct.pack("<d", value)


@settings(deadline=None)
@given(st.floats(allow_nan=False))
def test_an_f16_literal_has_numpys_bits(value):
    """From the double in one rounding, infinite beyond 65504."""
    with np.errstate(over="ignore"):
        wanted = int(np.float16(value).view(np.uint16))
    assert float_literal(value, "f16") == f"f16{{0x{wanted:04x}}}"


def exact_bfloat(value: float) -> int:
    """The nearest bf16, ties to even, by trying both neighbours in exact arithmetic."""
    with np.errstate(over="ignore"):
        near = int(np.float32(value).view(np.uint32)) >> 16
    best = None
    for bits in (near - 1, near, near + 1):
        if bits < 0 or (bits & 0x7FFF) > 0x7F80:
            continue
        (number,) = struct.unpack("<f", struct.pack("<I", bits << 16))
        edge = 2.0**128 if math.isinf(number) else abs(number)  # infinity stands where the next would be
        distance = abs(abs(value) - edge)
        rank = (distance, bits & 1)
        if best is None or rank < best[0]:
            best = (rank, bits)
    assert best is not None
    return best[1]


@settings(deadline=None)
@given(st.floats(min_value=-3.3e38, max_value=3.3e38, allow_nan=False))
def test_a_bf16_literal_is_rounded_once(value):
    """From the double, also where rounding to f32 first would fall on a tie."""
    if abs(value) < 2.0**-120:
        value = math.copysign(0.0, value)
    assert float_literal(value, "bf16") == f"bf16{{0x{exact_bfloat(value):04x}}}"


def test_a_bf16_tie_that_f32_would_hide():
    """1 + 2^-8 + 2^-40 is above the tie, though f32 rounds it onto it."""
    assert float_literal(1 + 2**-8 + 2**-40, "bf16") == "bf16{0x3f81}"
    assert float_literal(1 + 2**-8, "bf16") == "bf16{0x3f80}"


PARAMETER = re.compile(r"^kern\((?P<list>.*)\)$", re.M)
STORED = re.compile(r"st\.global\.[bus]\d+\s+\[%\w+(?:\+\d+)?\], (.*);")
MOVED = re.compile(r"mov\.[bus]\d+\s+(%\w+), (-?\d+);")


def folded(module, values: list[str]) -> int:
    """The number a kernel stores on sm_75 when its float arguments are replaced by constants."""
    text = emit(module, target.get("sm_75")).text
    found = PARAMETER.search(text)
    assert found is not None
    pointer, *scalars = found["list"].split(", ")
    given = "\n".join(f"{p} = {v};" for p, v in zip(scalars, values, strict=True))
    text = PARAMETER.sub(f"kern({pointer})", text).replace("\n{\n", f"\n{{\n{given}\n", 1)
    ptx = nvrtc.compile(text, "sm_75").ptx
    known = {m[1]: int(m[2]) for m in MOVED.finditer(ptx)}
    (register,) = (m[1] for m in STORED.finditer(ptx))
    return known[register] if register in known else int(register)


TO_BFLOAT = """
    %r = arith.truncf %a : f32 to bf16
    %bits = arith.bitcast %r : bf16 to i16
    %wide = arith.extui %bits : i16 to i32
    %c0 = arith.constant 0 : index
    memref.store %wide, %out[%c0] : memref<?xi32>
    """


@pytest.mark.nvrtc
@pytest.mark.parametrize(
    "value", [1.0, 1 + 2**-8, 1 + 3 * 2**-8, -0.1, 3.4e38, 1e-40, 0.0, 65504.0, math.inf]
)
def test_bf16_rounding_without_the_instruction(module, value):
    """Before sm_80 the conversion is software: nearest, ties to even, denormals kept."""
    with np.errstate(over="ignore"):
        wanted = int(np.float32(value).astype(ml_dtypes.bfloat16).view(np.uint16))
    made = module("%out: memref<?xi32>, %a: f32", TO_BFLOAT)
    assert folded(made, [float_literal(value, "float")]) == wanted


EXTREMUM = """
    %r = arith.{name} %a, %b : f32
    %bits = arith.bitcast %r : f32 to i32
    %c0 = arith.constant 0 : index
    memref.store %bits, %out[%c0] : memref<?xi32>
    """


@pytest.mark.nvrtc
@pytest.mark.parametrize("name", ["maximumf", "minimumf"])
@pytest.mark.parametrize(
    ("a", "b"),
    [
        (1.0, 2.0),
        (2.0, 1.0),
        (0.0, -0.0),
        (-0.0, 0.0),
        (-math.inf, 5.0),
        (math.nan, 1.0),
        (1.0, math.nan),
    ],
)
def test_extrema_without_the_instruction(module, name, a, b):
    """Before sm_80 maximum and minimum are software: NaN wins, -0 is below +0."""
    made = module("%out: memref<?xi32>, %a: f32, %b: f32", EXTREMUM.format(name=name))
    bits = folded(made, [float_literal(a, "float"), float_literal(b, "float")]) & 0xFFFFFFFF
    (found,) = struct.unpack("<f", struct.pack("<I", bits))
    if math.isnan(a) or math.isnan(b):
        assert math.isnan(found)
        return
    pick = max if name == "maximumf" else min
    wanted = pick(a, b, key=lambda x: (x, math.copysign(1.0, x)))
    assert struct.pack("<f", found) == struct.pack("<f", wanted)
