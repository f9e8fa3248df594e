"""Every built-in compiled and simulated: the thread MLIR gives what the NumPy meaning gives."""

import ml_dtypes
import numpy as np
import pytest

import phobos_nb as ph

NUMPY = {
    "f16": np.dtype("float16"),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype("float32"),
    "f64": np.dtype("float64"),
    "i8": np.dtype("int8"),
    "u8": np.dtype("uint8"),
    "i32": np.dtype("int32"),
    "i64": np.dtype("int64"),
}
DTYPES = tuple(NUMPY)
WIDENED = {"f16": "f32", "bf16": "f32", "i8": "i32", "u8": "i32"}


def agree(text, *arrays, scalars=(), grid=(1, 1, 1), tolerance=0.0):
    """Simulated and meant results are equal, to a relative tolerance; no fault is found."""
    kernel = next(iter(ph.compile(text)))
    meant = [a.copy() for a in arrays]
    kernel(*meant, *scalars, grid=grid)
    result = kernel.simulate(*(a.copy() for a in arrays), *scalars, grid=grid)
    assert not result.faults
    for parameter, array in zip(kernel.parameters, meant, strict=False):
        found = result.outputs.get(parameter.name)
        if found is not None:
            wide = np.int64 if array.dtype.kind in "iu" else np.float64
            with np.errstate(invalid="ignore"):
                np.testing.assert_allclose(found.astype(wide), array.astype(wide), rtol=tolerance)


def numbers(dtype, shape, seed=0):
    """Small whole numbers, exact in every type."""
    return np.random.default_rng(seed).integers(0, 9, shape).astype(NUMPY[dtype])


def anything(dtype, count, seed=0):
    """Numbers over the range of the type, and for floats NaN, infinities and a negative zero."""
    rng = np.random.default_rng(seed)
    if dtype[0] in "fb":
        values = rng.uniform(-300, 300, count)
        values[:6] = [np.nan, np.inf, -np.inf, 0.5, -0.0, 127.7]
        return values.astype(NUMPY[dtype])
    low, high = (0, 256) if dtype == "u8" else (-128, 128)
    return rng.integers(low, high, count).astype(NUMPY[dtype])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["rowsum", "rowmax", "rowmin", "colsum", "colmax", "colmin"])
def test_reductions(name, dtype):
    """A reduction of a tile whose extents are no powers of two, in every dtype."""
    result = WIDENED.get(dtype, dtype) if name.endswith("sum") else dtype
    shape = (48, 1) if name.startswith("row") else (1, 40)
    text = f"""kernel k(X: tensor<{dtype}>[M, N], Y: tensor<{result}>[{shape[0]}, {shape[1]}]) {{
      var x = X[0 :+ 48, 0 :+ 40]
      Y[:, :] = {name}(x)
    }}"""
    agree(text, numbers(dtype, (48, 40)), np.zeros(shape, NUMPY[result]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "name", [f"{who}_{what}" for who in ("lane", "block") for what in ("sum", "max", "min")]
)
def test_collectives(name, dtype):
    """A reduction over a warp or CTA; NaN and infinities take part."""
    result = WIDENED.get(dtype, dtype) if name.endswith("sum") else dtype
    text = f"""@launch(128)
    kernel k(X: tensor<{dtype}>[N], Y: tensor<{result}>[N]) {{
      let t = ctx.thread
      Y[t] = {name}(X[t])
    }}"""
    agree(text, anything(dtype, 128), np.zeros(128, NUMPY[result]))


@pytest.mark.parametrize("dtype", DTYPES)
def test_exchanges(dtype):
    """Shuffles in every dtype; distances past the warp and lanes past 31 as the language says."""
    text = f"""@launch(64)
    kernel k(X: tensor<{dtype}>[N], Y: tensor<{dtype}>[4, N]) {{
      let t = ctx.thread
      let x = X[t]
      Y[0, t] = shuffle(x, t + 3)
      Y[1, t] = shuffle_xor(x, 37)
      Y[2, t] = shuffle_down(x, 3)
      Y[3, t] = shuffle_down(x, t)
    }}"""
    agree(text, anything(dtype, 64), np.zeros((4, 64), NUMPY[dtype]))


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "i64"])
@pytest.mark.parametrize("name", ["dot", "dot_t"])
def test_products(name, dtype):
    """A ragged product in every dtype, exact since the numbers are small."""
    result = "i32" if dtype[0] in "iu" else "f64" if dtype == "f64" else "f32"
    text = f"""kernel k(A: tensor<{dtype}>[M, K], B: tensor<{dtype}>[P, Q], C: tensor<{result}>[M, N]) {{
      var a = A[0 :+ 32, 0 :+ 32]
      var b = B[0 :+ 32, 0 :+ 32]
      C[0 :+ 32, 0 :+ 32] = {name}(a, b)
    }}"""
    a, b = numbers(dtype, (20, 24)), numbers(dtype, (24, 18), seed=1)
    right = np.ascontiguousarray(b.T) if name == "dot_t" else b
    agree(text, a, right, np.zeros((20, 18), NUMPY[result]))


def test_mixed_bytes():
    """i8 times u8 sums in i32 with each operand's own sign."""
    text = """kernel k(A: tensor<i8>[M, K], B: tensor<u8>[K, N], C: tensor<i32>[M, N]) {
      var a = A[0 :+ 16, 0 :+ 16]
      var b = B[0 :+ 16, 0 :+ 16]
      C[0 :+ 16, 0 :+ 16] = dot(a, b)
    }"""
    a, b = anything("i8", 256).reshape(16, 16), anything("u8", 256).reshape(16, 16)
    agree(text, a, b, np.zeros((16, 16), np.int32))


def test_a_narrow_accumulator():
    """`acc += dot(a, b)` on an f16 tile is rounded at every step as the meaning rounds it."""
    text = """kernel k(A: tensor<f16>[M, K], C: tensor<f16>[M, N]) {
      var acc: tile<f16>[32, 32] = 0.0
      for i in range(0, K, 16) {
        var a = A[0 :+ 32, i :+ 16]
        acc += dot_t(a, a)
      }
      C[0 :+ 32, 0 :+ 32] = acc
    }"""
    agree(text, numbers("f16", (20, 24)), np.zeros((20, 20), np.float16))


UNARY = {
    "exp": "x * 0.01",
    "exp2": "x * 0.01",
    "log": "abs(x)",
    "log2": "abs(x)",
    "sqrt": "abs(x)",
    "rsqrt": "abs(x) + 1.0",
    "tanh": "x * 0.01",
    "sin": "x",
    "cos": "x",
    "erf": "x * 0.01",
    "sigmoid": "x * 0.1",
    "round": "x",
    "floor": "x",
    "ceil": "x",
    "abs": "x",
}


@pytest.mark.parametrize("dtype", ["f16", "f32", "f64"])
@pytest.mark.parametrize("name", UNARY)
def test_functions(name, dtype):
    """A function of one operand within its documented bound of the meaning."""
    operand = UNARY[name].replace("0.01", f"{dtype}(0.01)").replace("1.0", f"{dtype}(1.0)")
    text = f"""kernel k(X: tensor<{dtype}>[N], Y: tensor<{dtype}>[N]) {{
      var x = X[0 :+ 64]
      Y[0 :+ 64] = {name}({operand})
    }}"""
    tolerance = {"f16": 2e-3, "f32": 1e-6, "f64": 1e-14}[dtype]
    agree(text, anything(dtype, 64), np.zeros(64, NUMPY[dtype]), tolerance=tolerance)


TILES = {
    "cumsum": "cumsum(x)",
    "tril": "tril(x, -1)",
    "triu": "triu(x, 2)",
    "transpose": "transpose(x) + x",
    "iota": "f32(iota(16)) * x",
    "rowargmax": "f32(rowargmax(x)) + x",
    "where": "where(x > 3.0, x, -x)",
    "choices": "max(tmin(x, rowmax(x)), 2.0)",
    "fma": "fma(x, x, colsum(x))",
    "pow": "pow(x, 2.0)",
    "permutation": "f32(byteperm(i32(x), 305419896, 0x2541))",
    "popcount": "f32(popcount(i32(x)))",
    "bits": "from_bits(bits(x) ^ 2)",
}


@pytest.mark.parametrize("name", TILES)
def test_tiles(name):
    """What works on whole tiles, on one whose rows the threads share."""
    text = f"""kernel k(X: tensor<f32>[16, 16], Y: tensor<f32>[16, 16]) {{
      var x = X[:, :]
      Y[:, :] = {TILES[name]}
    }}"""
    agree(text, numbers("f32", (16, 16)), np.zeros((16, 16), np.float32), tolerance=1e-6)


def test_flat_and_gather():
    """Row-major flattening; a gather past the table's ends gives zero."""
    text = """kernel k(T: tensor<f32>[L], X: tensor<i32>[8, 4], Y: tensor<f32>[32]) {
      var x = X[:, :]
      Y[:] = flat(gather(T, x))
    }"""
    positions = np.random.default_rng(1).integers(-3, 25, (8, 4)).astype(np.int32)
    agree(text, np.arange(1, 21, dtype=np.float32), positions, np.zeros(32, np.float32))


@pytest.mark.parametrize("dtype", ["i32", "i64", "f32", "f64"])
@pytest.mark.parametrize("name", ["atomic_add", "atomic_max", "atomic_min"])
def test_atomics(name, dtype):
    """Atomics of every thread's scalar, and of a tile that hangs over the tensor's edge."""
    text = f"""@launch(64)
    kernel k(X: tensor<{dtype}>[M], Y: tensor<{dtype}>[4, 4]) {{
      let t = ctx.thread
      {name}(X, t % 5, {dtype}(t))
      var five: tile<{dtype}>[2, 3] = 5
      {name}(Y, 3, 2, five)
    }}"""
    agree(text, np.full(6, 30, NUMPY[dtype]), np.full((4, 4), 7, NUMPY[dtype]))


def test_extent():
    """`extent` is the array's, for a symbol and for a constant dim."""
    text = """kernel k(X: tensor<f32>[M, 6], Y: tensor<i32>[2]) {
      Y[0] = i32(extent(X, 0))
      Y[1] = i32(extent(X, 1))
    }"""
    agree(text, np.zeros((5, 6), np.float32), np.zeros(2, np.int32))


def test_shared_arrays_between_barriers():
    """A reversal through an author-managed shared array, ordered by barrier() alone."""
    text = """@launch(64)
    kernel k(X: tensor<f32>[N], Y: tensor<f32>[N]) {
      var s: shared<f32>[64]
      let t = ctx.thread
      s[t] = X[t]
      barrier()
      Y[t] = s[63 - t]
    }"""
    agree(text, numbers("f32", 64), np.zeros(64, np.float32))
