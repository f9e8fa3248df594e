"""The checks of a call, on NumPy arrays: the same code serves the simulator and the GPU."""

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.arguments.array import describe_numpy
from phobos_nb.arguments.findings import ArgumentTypeError, ArgumentValueError, Findings
from phobos_nb.arguments.grid import check_limits, choose_grid
from phobos_nb.arguments.match import check_promises, match_arguments, name_arguments
from phobos_nb.arguments.overlap import check_overlap
from phobos_nb.arguments.variant import choose_variant, fits_32_bits
from phobos_nb.contract import (
    GridRule,
    GridTerm,
    LaunchContract,
    ScalarParameter,
    TensorParameter,
    Variant,
    entry_arguments,
)
from phobos_nb.diagnostics import PhobosError

SAXPY = (
    TensorParameter("x", "f32", ("n",)),
    TensorParameter("y", "f32", ("n",), writes=True),
    ScalarParameter("a", "f32"),
)
GEMM = (
    TensorParameter("A", "f32", ("M", "K")),
    TensorParameter("B", "f32", ("K", "N")),
    TensorParameter("C", "f32", ("M", "N"), writes=True),
)


def describe(value):
    return describe_numpy(value) if isinstance(value, np.ndarray) else None


def check(parameters, *arguments):
    found = Findings("k")
    values = name_arguments("k", parameters, arguments, {})
    call = match_arguments(parameters, values, describe, found)
    tensors = [p for p in parameters if isinstance(p, TensorParameter)]
    check_overlap(tensors, call.arrays, {frozenset(("x", "y"))}, found)
    found.raise_errors()
    return call


def f32(*shape):
    return np.ones(shape, np.float32)


@pytest.mark.parametrize(
    ("bad", "got"),
    [
        (np.ones(4, np.float64), "dtype f64"),
        (np.ones(4, np.float16), "dtype f16"),
        (np.ones(4, np.int32), "dtype i32"),
        (np.ones(4, bool), "dtype bool"),
        (np.ones(4, np.complex64), "dtype complex64"),
        (np.ones(4, ">f4"), "float32 in foreign byte order"),
        (np.float32(1.0), "got float32"),
        (np.ones((), np.float32), "rank 0"),
        (np.ones((2, 2), np.float32), "rank 2"),
        ([1.0, 2.0], "got list"),
    ],
)
def test_wrong_array_is_a_type_error_naming_parameter_wanted_and_got(bad, got):
    """C17: no implicit cast; the message names the parameter, what was wanted and what came."""
    with pytest.raises(TypeError, match=r"x: wanted tensor<f32>\[n\], got") as caught:
        check(SAXPY, bad, f32(4), 1.0)
    assert got in str(caught.value)
    assert isinstance(caught.value, PhobosError)


def test_all_faults_of_one_call_are_reported_together():
    """Two wrong arrays and a wrong scalar give three diagnostics in one exception."""
    with pytest.raises(ArgumentTypeError) as caught:
        check(SAXPY, np.ones(4, np.float64), np.ones((2, 2), np.float32), "one")
    assert [d.code for d in caught.value.diagnostics] == ["PH702", "PH703", "PH707"]


def test_missing_surplus_repeated_and_unknown_arguments():
    """Argument lists are checked as Python checks its own, by name."""
    for positional, named, text in [
        ((1, 2), {}, "missing a"),
        ((1, 2, 3, 4), {}, "takes 3 arguments, got 4"),
        ((1, 2, 3), {"x": 1}, "x is given twice"),
        ((1, 2, 3), {"z": 1}, "no parameter z"),
    ]:
        with pytest.raises(TypeError, match=text):
            name_arguments("k", SAXPY, positional, named)


def test_symbols_must_agree_and_name_both_places():
    """One symbol has one extent over all tensors."""
    with pytest.raises(ValueError, match="B axis 0: K is 5 by A axis 1, but 6 here"):
        check(GEMM, f32(4, 5), f32(6, 7), f32(4, 7))


def test_constant_dims_must_match():
    """A constant dim is not a symbol: the array must have exactly that extent."""
    with pytest.raises(ValueError, match="Q axis 1: wanted extent 64, got 63"):
        check((TensorParameter("Q", "f32", ("N", 64)),), f32(3, 63))


def test_extents_come_from_the_arrays():
    """The extents of a good call, zero included."""
    call = check(GEMM, f32(0, 5), f32(5, 7), f32(0, 7))
    assert call.extents == {"M": 0, "K": 5, "N": 7}


def test_scalars_accept_numbers_that_mean_the_same():
    """An int or a NumPy float for f32 is fine; a bool, a complex, an array or a string is not."""
    for good in (1, 2.5, np.float32(2.5), np.float64(0.1), np.int32(3), float("inf")):
        assert check(SAXPY, f32(2), f32(2), good).scalars["a"] == good
    for bad in (True, 1j, np.ones(1, np.float32), "1", None, np.bool_(True)):
        with pytest.raises(TypeError, match="a: wanted a scalar f32, got"):
            check(SAXPY, f32(2), f32(2), bad)


def test_scalars_out_of_range_are_value_errors():
    """What does not fit the parameter's type is refused, never wrapped."""
    number = (ScalarParameter("n", "i32"),)
    for bad in (2**31, -(2**31) - 1):
        with pytest.raises(ValueError, match=r"n: .* is out of the range of i32"):
            check(number, bad)
    with pytest.raises(TypeError, match="n: wanted a scalar i32"):
        check(number, 1.0)
    with pytest.raises(ValueError, match="a: 1e\\+39 is out of the range of f32"):
        check(SAXPY, f32(2), f32(2), 1e39)
    with pytest.raises(ValueError, match="a: an integer of that size is out of the range of f32"):
        check(SAXPY, f32(2), f32(2), 10**400)
    assert check((ScalarParameter("b", "u8"),), 255).scalars["b"] == 255


def test_written_array_must_be_writable():
    """A read-only array is refused for a written parameter and accepted for a read one."""
    frozen = f32(4)
    frozen.flags.writeable = False
    check(SAXPY, frozen, f32(4), 1.0)
    with pytest.raises(ValueError, match="y: the kernel writes it, but the array is read-only"):
        check(SAXPY, f32(4), frozen, 1.0)


def test_overlap_is_by_address_not_identity():
    """C20: shifted views overlap, the same elements in place are allowed where the kernel permits."""
    buffer = f32(128)
    check(SAXPY, buffer, buffer[:], 1.0)
    with pytest.raises(ValueError, match="x and y overlap"):
        check(SAXPY, buffer[:-64], buffer[32:-32], 1.0)
    square = f32(4, 4)
    with pytest.raises(ValueError, match="A and C overlap"):
        check(GEMM, square, f32(4, 4), square)


def test_interleaved_views_that_share_no_element_are_allowed():
    """Halves of one buffer's columns have overlapping ranges, yet no common element."""
    buffer = f32(8, 8)
    check(GEMM, buffer[:, :4], f32(4, 4), buffer[:, 4:])
    with pytest.raises(ValueError, match="A and C overlap"):
        check(GEMM, buffer[:, :5], f32(5, 4), buffer[:, 4:])


def test_reading_one_array_twice_is_no_overlap():
    """Two read tensors may be the same array."""
    square = f32(4, 4)
    check(GEMM, square, square, f32(4, 4))


def test_output_with_zero_stride_is_refused():
    """A written broadcast would have several elements in one place; read it is fine."""
    wide = np.lib.stride_tricks.as_strided(f32(1), (4,), (0,))
    check(SAXPY, wide, f32(4), 1.0)
    with pytest.raises(ValueError, match="y is written, but its strides"):
        check(SAXPY, f32(4), wide, 1.0)


def test_promises_name_symbol_and_multiple():
    """A ragged extent under @aligned raises before anything runs; zero is a multiple."""
    found = Findings("k")
    check_promises({"M": 64, "N": 64}, {"M": 100, "N": 0}, found)
    with pytest.raises(ArgumentValueError, match="M = 100 is not a multiple of 64"):
        found.raise_errors()


def test_variant_follows_strides_and_alignment():
    """C19: transposed, sliced and odd-pitch arrays choose a variant that takes less for granted."""
    base = np.zeros(1040, np.float32)
    start = (-base.ctypes.data // 4) % 4
    aligned = base[start : start + 1024]
    assert choose_variant([describe_numpy(aligned)], 64) == Variant(True, True, 64)
    assert choose_variant([describe_numpy(base[start + 1 : start + 1025])], 64).aligned is False
    pitched = aligned.reshape(32, 32)[:, :30]
    assert choose_variant([describe_numpy(pitched)], 64) == Variant(True, True, 64)
    assert choose_variant([describe_numpy(aligned[:1023].reshape(31, 33))], 64).aligned is False
    assert choose_variant([describe_numpy(pitched.T)], 64).unit_stride is False


def test_index_width_counts_bytes_strides_and_overhang():
    """C13: 32-bit indices only where every byte offset fits; a broadcast extent counts too."""
    phantom = np.lib.stride_tricks.as_strided
    one = np.zeros(1, np.float32)
    large = phantom(one, (320, 2560, 3072), (2560 * 3072 * 4, 3072 * 4, 4))
    assert not fits_32_bits(describe_numpy(large))
    assert fits_32_bits(describe_numpy(phantom(one, (2**28,), (4,))))
    assert not fits_32_bits(describe_numpy(phantom(one, (2**29,), (4,))))
    assert not fits_32_bits(describe_numpy(phantom(one, (2**31,), (0,))))
    assert not fits_32_bits(describe_numpy(phantom(one, (2, 2), (-(2**31), 4))))
    assert choose_variant([describe_numpy(large)], 32).index_bits == 64


def grid_rule(problem=""):
    return GridRule(((GridTerm("M", 32),), (GridTerm("N", 64), GridTerm("K", 8)), ()), problem)


def test_grid_is_the_largest_cover_and_zero_where_an_extent_is():
    """C11: an empty grid launches nothing; K = 0 alone still launches."""
    found = Findings("k")
    assert choose_grid(grid_rule(), {"M": 33, "N": 64, "K": 17}, None, found) == (2, 3, 1)
    assert choose_grid(grid_rule(), {"M": 0, "N": 64, "K": 17}, None, found) == (0, 3, 1)
    assert choose_grid(grid_rule(), {"M": 1, "N": 64, "K": 0}, None, found) == (1, 1, 1)
    found.raise_errors()


def test_grid_can_be_given_and_must_be_where_inference_failed():
    """`grid=` overrides; without it a kernel whose grid is unknown says why."""
    found = Findings("k")
    assert choose_grid(grid_rule("no store"), {}, (4, 2), found) == (4, 2, 1)
    assert choose_grid(grid_rule(), {"M": 1, "N": 1, "K": 1}, 7, found) == (7, 1, 1)
    found.raise_errors()
    choose_grid(grid_rule("no store uses ctx.block"), {}, None, found)
    with pytest.raises(ValueError, match=r"no store uses ctx.block"):
        found.raise_errors()
    for bad in ((1, 2, 3, 4), -1, 1.5, (), True):
        found = Findings("k")
        choose_grid(grid_rule(), {"M": 1, "N": 1, "K": 1}, bad, found)
        with pytest.raises(TypeError, match="grid: wanted one to three sizes"):
            found.raise_errors()


def test_limits_are_refused_with_product_and_limit():
    """C48: threads, shared memory, registers and grid axes above the hardware's limits."""
    contract = LaunchContract(
        "k", "k", SAXPY, entry_arguments(SAXPY, Variant()), grid_rule(), 2048, 2048, 300_000, True,
        Variant(), "sm_80",
    )  # fmt: skip
    found = Findings("k")
    check_limits(contract, 64, found)
    choose_grid(grid_rule(), {"M": 1, "N": 64 * 65536, "K": 1}, None, found)
    text = "\n".join(d.message for d in found.values)
    assert "2048 threads per CTA, the limit is 1024" in text
    assert "300000 bytes of shared memory per CTA, sm_80 allows 166912" in text
    assert "2048 threads x 64 registers = 131072, the limit is 65536" in text
    assert "65536 blocks along axis y, the limit is 65535" in text


COPY = """
kernel k(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  Y[ctx.block.x] = X[ctx.block.x]
}
"""


@pytest.mark.parametrize(
    ("taker", "name", "help"),
    [
        ("__call__", "b", "its parameters: X, Y; options of a call: grid"),
        ("__call__", "gird", "did you mean grid? its parameters: X, Y; options of a call: grid"),
        ("bind", "b", "its parameters: X, Y; options of `bind`: grid"),
        ("profile", "repot", "did you mean report? its parameters: X, Y; options of `profile`: grid, "),
        ("simulate", "b", "its parameters: X, Y; options of `simulate`: grid, drop_barrier, ctas, "),
        ("compare", "b", "its parameters: X, Y; options of `compare`: ref, tolerance, grid, "),
        ("tune", "b", "its parameters: X, Y"),
        ("__call__", "seed", "seed is an option of `simulate` and `compare`; its parameters: X, Y; "),
    ],
)
def test_the_help_lists_what_takes_the_arguments(taker: str, name: str, help: str) -> None:
    """Options that another method has are not offered; a name of one of them is told to be one."""
    kernel = ph.compile(COPY).k
    x, y = np.ones(4, np.float32), np.zeros(4, np.float32)
    with pytest.raises(TypeError, match=f"has no parameter {name}") as caught:
        getattr(kernel, taker)(x, y, **{name: 2.0})
    found = str(caught.value).split("help: ")[1]
    assert found.startswith(help)
    assert ("drop_barrier" in found) == (taker in ("simulate", "compare"))


def test_the_help_says_where_the_same_array_will_do() -> None:
    """Elementwise kernels take one array twice, whole; where the order matters only a copy will do."""
    apart = COPY.replace("X[ctx.block.x]", "X[ctx.block.x + 1]")
    x = np.zeros(8, np.float32)
    ph.compile(COPY).k(x, x)
    for text, given, help in (
        (COPY, (x[1:], x[:-1]), "the kernel writes Y; pass a copy, or the very same array for both"),
        (apart, (x, x), "the kernel writes Y; pass a copy"),
    ):
        with pytest.raises(ArgumentValueError) as caught:
            ph.compile(text).k(*given)
        (found,) = caught.value.diagnostics
        assert (found.code, found.help) == ("PH706", help)
