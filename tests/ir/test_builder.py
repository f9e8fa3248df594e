"""The folding builder: what disappears, what stays, and where things are put."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    FileLineColLoc,
    IntAttr,
    StringAttr,
    VectorType,
    f16,
    f32,
    i1,
    i8,
    i32,
    i64,
)
from xdsl.ir import Block
from xdsl.rewriter import InsertPoint

from phobos_nb.ir.builder import INDEX, Builder
from phobos_nb.ir.fold import constant_value, integer_binary


@pytest.fixture
def builder():
    return Builder(Block(arg_types=[INDEX, f32, i1, i8]))


def names(builder):
    return [op.name for op in builder.home.ops]


def test_constants_are_unique_and_first(builder):
    """Equal constants of one type are one op, and constants precede every other op."""
    x = builder.home.args[0]
    total = builder.addi(x, builder.index(3))
    assert builder.index(3) is builder.index(3)
    builder.muli(total, builder.index(5))
    assert names(builder) == ["arith.constant", "arith.constant", "arith.addi", "arith.muli"]


def test_a_second_builder_finds_the_constants(builder):
    """A builder made later on the same kernel shares the constants that are there."""
    three = builder.index(3)
    assert Builder(builder.home).index(3) is three


def test_signed_zeros_are_two_constants(builder):
    """0.0 and -0.0 are not the same constant."""
    assert builder.constant(0.0, f32) is not builder.constant(-0.0, f32)


@pytest.mark.parametrize(
    ("op", "number", "result"),
    [
        ("addi", 0, "x"),
        ("subi", 0, "x"),
        ("muli", 1, "x"),
        ("muli", 0, 0),
        ("divui", 1, "x"),
        ("divsi", 1, "x"),
        ("remui", 1, 0),
        ("shli", 0, "x"),
        ("ori", 0, "x"),
        ("andi", -1, "x"),
    ],
)
def test_neutral_integers_disappear(builder, op, number, result):
    """X op neutral is x, and x op absorbing is that constant, without an op."""
    x = builder.home.args[0]
    got = getattr(builder, op)(x, builder.index(number))
    assert got is (x if result == "x" else builder.index(result))


def test_chains_of_constant_additions_merge(builder):
    """(x + 3) + 4 - 7 is x, and (x * 2) * 8 is x * 16."""
    x = builder.home.args[0]
    seven = builder.addi(builder.addi(x, builder.index(3)), builder.index(4))
    assert builder.subi(seven, builder.index(7)) is x
    product = builder.muli(builder.muli(x, builder.index(2)), builder.index(8))
    assert constant_value(product.owner.operands[1]) == 16


def test_float_identities_keep_signed_zeros(builder):
    """X * 1.0 is x; x + 0.0 is not folded, since -0.0 + 0.0 is 0.0."""
    x = builder.home.args[1]
    assert builder.mulf(x, builder.constant(1.0, f32)) is x
    assert builder.addf(x, builder.constant(0.0, f32)).owner.name == "arith.addf"
    assert builder.mulf(x, builder.constant(0.0, f32)).owner.name == "arith.mulf"


@given(a=st.floats(width=16), b=st.floats(width=16))
def test_f16_arithmetic_folds_as_numpy_computes(a, b):
    """Constant f16 sums, products and quotients are NumPy's bit for bit, NaN and infinity included."""
    builder = Builder(Block())
    x, y = builder.constant(a, f16), builder.constant(b, f16)
    with np.errstate(all="ignore"):
        for name, wanted in (
            ("addf", np.float16(a) + np.float16(b)),
            ("divf", np.float16(a) / np.float16(b)),
        ):
            got = constant_value(getattr(builder, name)(x, y))
            assert np.float16(got).tobytes() == wanted.tobytes() or (
                np.isnan(wanted) and math.isnan(got)
            )


@given(a=st.integers(-128, 127), b=st.integers(-128, 127))
def test_i8_arithmetic_wraps(a, b):
    """Constant i8 arithmetic wraps and divides as NumPy's int8 and C do."""
    with np.errstate(all="ignore"):
        for name, wanted in (
            ("addi", np.int8(a) + np.int8(b)),
            ("muli", np.int8(a) * np.int8(b)),
            ("maxui", max(np.uint8(a % 256), np.uint8(b % 256)).astype(np.int8)),
        ):
            assert integer_binary(f"arith.{name}", a, b, 8) == int(wanted)
    if b:
        assert integer_binary("arith.divsi", a, b, 64) == int(a / b)
        assert integer_binary("arith.remsi", a, b, 64) == math.fmod(a, b)


def test_division_by_zero_is_left_alone(builder):
    """A constant division by zero stays an op: what it does is the back end's to say."""
    zero = builder.index(0)
    assert builder.divsi(builder.index(1), zero).owner.name == "arith.divsi"


def test_select_and_logic_on_known_conditions(builder):
    """Select of a constant, not not x, and x && true leave no op."""
    x = builder.home.args[2]
    assert builder.select(builder.true(), x, builder.false()) is x
    assert builder.negate_i1(builder.negate_i1(x)) is x
    assert builder.andi(x, builder.true()) is x
    assert builder.ori(builder.true(), x) is builder.true()
    assert builder.select(x, builder.true(), builder.false()) is x


def test_conversions_of_constants(builder):
    """u8 200 widens to 200 by extui and to -56 by extsi; truncf of an extf is the value before."""
    byte = builder.constant(200, i8)
    assert constant_value(builder.extui(byte, i32)) == 200
    assert constant_value(builder.extsi(byte, i32)) == -56
    assert constant_value(builder.uitofp(byte, f32)) == 200.0
    half = builder.truncf(builder.home.args[1], f16)
    assert builder.truncf(builder.extf(half, f32), f16) is half


def test_large_integers_are_not_folded_through_f64(builder):
    """2**53 + 1 as i64 to f32 stays an op: folding in f64 would round twice."""
    number = builder.constant(2**53 + 1, i64)
    assert builder.sitofp(number, f32).owner.name == "arith.sitofp"


def test_vectors_fold_like_scalars(builder):
    """Splat constants of vectors fold as their elements do."""
    four = VectorType(f32, [4])
    got = builder.addf(builder.constant(1.5, four), builder.constant(2.0, four))
    assert got is builder.constant(3.5, four)


def test_compare_folds(builder):
    """Comparisons of constants and of a value with itself are constants; unsigned is unsigned."""
    x = builder.home.args[3]
    minus = builder.constant(-1, i8)
    assert builder.cmpi("ult", builder.constant(1, i8), minus) is builder.true()
    assert builder.cmpi("slt", builder.constant(1, i8), minus) is builder.false()
    assert builder.cmpi("sle", x, x) is builder.true()
    nan = builder.constant(math.nan, f32)
    assert builder.cmpf("une", nan, nan) is builder.true()
    assert builder.cmpf("oeq", nan, nan) is builder.false()


def test_loops_and_branches_are_built_inside(builder):
    """for_ and if_ come without terminators; yield_ ends them and the result verifies."""
    builder.location = FileLineColLoc(StringAttr("k.ph"), IntAttr(3), IntAttr(5))
    zero = builder.index(0)
    loop = builder.for_(zero, builder.home.args[0], builder.index(1), [zero])
    with builder.inside(loop.body.block):
        branch = builder.if_(builder.home.args[2], [INDEX])
        with builder.inside(branch.true_region.block):
            builder.yield_([builder.addi(loop.body.block.args[1], builder.index(1))])
        with builder.inside(branch.false_region.block):
            builder.yield_([loop.body.block.args[1]])
        builder.yield_([branch.output[0]])
    loop.verify()
    assert branch.location == builder.location
    assert builder.point == InsertPoint.at_end(builder.home)
