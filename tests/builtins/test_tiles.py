"""Reductions, products and shapes of tiles."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from phobos_nb.dtypes import F32, F64, I32
from tests.builtins.calls import Threads, checked, evaluated, of, refused

RNG = np.random.default_rng(3)


def test_f16_sums_accumulate_in_f32() -> None:
    """4096 ones sum to 4096, 300 times 256 to 76800: an f16 accumulator gives 2048 and inf."""
    assert evaluated("rowsum", np.ones((1, 4096), np.float16)).tolist() == [[4096.0]]
    assert evaluated("colsum", np.full((300, 2), 256, np.float16)).tolist() == [[76800.0, 76800.0]]
    assert checked("rowsum", of("f16", 4, 8)).type.dtype == F32


def test_narrow_integers_sum_in_i32() -> None:
    """200 times 100 in u8 is 20000, not 20000 modulo 256."""
    assert evaluated("rowsum", np.full((1, 200), 100, np.uint8)).tolist() == [[20000]]


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
@pytest.mark.parametrize("name", ["rowmax", "rowmin", "colmax", "colmin"])
def test_extrema_propagate_nan(name: str, dtype: type) -> None:
    """One NaN in a row or column makes its extremum NaN, the others are unharmed."""
    t = np.array([[1, np.nan, 3], [4, 5, 6]], dtype)
    out = evaluated(name, t).astype(np.float64).ravel()
    nan = [True, False] if name.startswith("row") else [False, True, False]
    assert np.isnan(out).tolist() == nan


def test_rowargmax_takes_the_first() -> None:
    """The first of equal maxima; the first NaN before any number."""
    t = np.array([[1, 7, 7], [np.nan, 9, np.nan], [8, np.nan, 9], [-np.inf] * 3], np.float32)
    assert evaluated("rowargmax", t).ravel().tolist() == [1, 0, 1, 0]


def test_a_rank_1_tile_counts_as_one_row() -> None:
    """Rowsum of [n] is [1, 1], colsum of it is the row itself."""
    t = np.arange(5, dtype=np.float32)
    assert evaluated("rowsum", t).tolist() == [[10.0]]
    assert evaluated("colsum", t).tolist() == [t.tolist()]


def test_dot_sums_in_f32_and_exactly_in_i32() -> None:
    """f16 products that overflow f16 are right; i8 and i32 products wrap modulo 2**32."""
    a = np.full((2, 64), 200, np.float16)
    assert evaluated("dot", a, a.T.copy()).tolist() == [[2560000.0] * 2] * 2
    b = RNG.integers(-128, 127, (3, 200), dtype=np.int8)
    exact = b.astype(np.int64) @ b.T.astype(np.int64)
    assert np.array_equal(evaluated("dot_t", b, b), exact)
    c = np.full((1, 4), 2**30, np.int32)
    assert evaluated("dot_t", c, c).tolist() == [[0]]


def test_zero_times_nan_is_nan_in_dot() -> None:
    """No coefficient is special: 0 * NaN and 0 * inf are NaN."""
    a, b = np.zeros((1, 2), np.float32), np.array([[np.nan], [1]], np.float32)
    assert np.isnan(evaluated("dot", a, b)).all()


def test_dot_rounds_operands_only_where_tensor_cores_do() -> None:
    """`rounding` makes f32 operands f16 first; f16 and f64 operands stay."""
    x = np.array([[1 + 2.0**-12]], np.float32)
    assert evaluated("dot", x, x)[0, 0] == np.float32(1 + 2.0**-11)
    assert evaluated("dot", x, x, machine=Threads(rounding=True))[0, 0] == 1.0
    wide = x.astype(np.float64)
    assert evaluated("dot", wide, wide, machine=Threads(rounding=True))[0, 0] > 1.0


def test_dot_result_types() -> None:
    """f16, bf16, f32 give f32, f64 gives f64, integers give i32."""
    pairs = {"f16": F32, "bf16": F32, "f32": F32, "f64": F64, "i8": I32, "i32": I32}
    for kind, result in pairs.items():
        assert checked("dot", of(kind, 4, 8), of(kind, 8, 2)).type.dtype == result
    assert checked("dot", of("i8", 4, 8), of("u8", 8, 2)).arguments[1].type.dtype.name == "u8"


def test_dot_reports_what_it_contracts() -> None:
    """Both depths are in the message; i64 is refused."""
    found = refused("dot", of("f32", 4, 32), of("f32", 16, 4))
    assert (found.code, found.span) == ("PH204", (10, 20))
    assert "contracts 32 with 16" in found.message
    assert refused("dot", of("i64", 4, 4), of("i64", 4, 4)).code == "PH104"


def test_triangles_keep_their_side_of_a_diagonal() -> None:
    """Tril keeps column <= row + k, triu column >= row + k; NaN elsewhere does not survive."""
    t = np.full((3, 4), np.nan, np.float32)
    row, column = np.indices(t.shape)
    for k in (-1, 0, 2):
        assert np.array_equal(evaluated("tril", t, k=k) == 0, column > row + k)
        assert np.array_equal(evaluated("triu", t, k=k) == 0, column < row + k)


def test_shapes_of_tiles() -> None:
    """transpose, flat, iota and cumsum on a ragged tile."""
    t = RNG.integers(0, 9, (3, 5)).astype(np.int32)
    assert np.array_equal(evaluated("transpose", t), t.T)
    assert np.array_equal(evaluated("flat", t), t.ravel())
    assert evaluated("iota", n=4).tolist() == [[0, 1, 2, 3]]
    assert np.array_equal(evaluated("cumsum", t), np.cumsum(t, axis=0))


def test_a_constant_is_wanted_where_a_shape_depends_on_it() -> None:
    """Iota of a variable, and a diagonal that is one, are refused."""
    assert refused("iota", of("i32")).code == "PH109"
    assert refused("tril", of("f32", 4, 4), of("i32", at=7)).span == (7, 8)
