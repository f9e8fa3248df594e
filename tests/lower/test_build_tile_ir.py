"""Typed kernels to tile MLIR: shape of the IR, and its results against the NumPy meaning."""

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.ir.locations import place_of
from phobos_nb.ir.text import custom, generic, parse
from tests.lower.tile_interpreter import Interpreter


def only_kernel(text, **constants):
    return next(iter(ph.compile(text, **constants)))


def tile_module(text, **constants):
    module = only_kernel(text).compile(**constants).tile_module
    module.verify()
    return module


def ops(module, name):
    return [op for op in module.walk() if op.name == name]


def same_as_meaning(text, *arrays, grid=(1, 1, 1), scalars=(), tolerance=0.0, threads=None):
    """The interpreted tile MLIR leaves the arrays as the NumPy meaning does."""
    kernel = only_kernel(text)
    wanted = [a.copy() for a in arrays]
    found = [a.copy() for a in arrays]
    kernel(*wanted, *scalars, grid=grid)
    op = ops(tile_module(text), "tile.kernel")[0]
    names = [p.name for p in kernel.parameters]
    bound = dict(zip(names, found, strict=False))
    values = dict(zip(names[len(found) :], scalars, strict=True))
    Interpreter(op).run(bound, values, grid, threads)
    for w, f in zip(wanted, found, strict=True):
        wide = np.int64 if w.dtype.kind in "iu" else np.float64
        np.testing.assert_allclose(f.astype(wide), w.astype(wide), rtol=tolerance)


GEMM = """
@autotune(TILE in [16, 32])
kernel gemm(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N], beta: f32) {
  let pm = ctx.block.x
  let pn = ctx.block.y
  var acc: tile<f32>[TILE, TILE] = 0.0
  for k in range(0, K, 8) {
    var a = A[pm * TILE :+ TILE, k :+ 8]
    var b = B[k :+ 8, pn * TILE :+ TILE]
    acc += dot(a, b)
  }
  let old = C[pm * TILE :+ TILE, pn * TILE :+ TILE]
  C[pm * TILE :+ TILE, pn * TILE :+ TILE] = acc + beta * old
}
"""


def test_a_sum_with_a_dot_is_one_dot():
    """`acc += dot(a, b)` is a tile.dot onto the loop-carried accumulator, with no addition."""
    module = tile_module(GEMM)
    (dot,) = ops(module, "tile.dot")
    (loop,) = ops(module, "scf.for")
    assert dot.acc is loop.body.block.args[1]
    assert not [op for op in loop.body.block.ops if op.name == "arith.addf"]


@pytest.mark.parametrize("sum", ["dot(a, b) + acc", "acc + dot(a, b)", "dot_t(a, b) + acc"])
def test_either_order_is_recognised(sum):
    """The dot may stand on either side of the sum."""
    module = tile_module(
        f"""kernel k(A: tensor<f32>[16, 16], C: tensor<f32>[16, 16]) {{
          var a = A[:, :]
          var b = A[:, :]
          var acc = C[:, :]
          acc = {sum}
          C[:, :] = acc
        }}"""
    )
    (dot,) = ops(module, "tile.dot")
    assert dot.acc.owner.name == "tile.load"


def test_a_narrow_accumulator_keeps_its_type():
    """`acc += dot(a, b)` on an f16 tile is a dot with an f16 accumulator and no conversions."""
    module = tile_module(
        """kernel k(A: tensor<f16>[16, 16], C: tensor<f16>[16, 16]) {
          var a = A[:, :]
          var acc: tile<f16>[16, 16] = 0.0
          acc += dot(a, a)
          C[:, :] = acc
        }"""
    )
    (dot,) = ops(module, "tile.dot")
    assert str(dot.acc.type) == "tensor<16x16xf16>"
    assert not ops(module, "arith.truncf")


def test_only_outer_variables_are_carried():
    """A loop carries what is set inside and declared outside, nothing else."""
    (loop,) = ops(tile_module(GEMM), "scf.for")
    assert [a.name_hint for a in loop.body.block.args] == ["k", "acc"]


def test_every_op_has_its_line():
    """Every operation but the module points into the source text."""
    text = GEMM
    module = tile_module(text)
    places = {op.name: place_of(op) for op in module.walk() if op.name != "builtin.module"}
    assert all(place is not None for place in places.values())
    line = next(n for n, t in enumerate(text.split("\n"), 1) if "dot(" in t)
    assert places["tile.dot"].line == line


def test_no_dead_constants():
    """Constants that folding left without a use are gone."""
    module = tile_module(GEMM)
    assert all(op.results[0].uses.get_length() for op in ops(module, "arith.constant"))


def test_the_signature_is_kept():
    """Names, dims, promises and threads of the kernel are attributes of tile.kernel."""
    module = tile_module("@launch(64)\n@aligned(M = 4)\n" + GEMM.strip())
    (kernel,) = ops(module, "tile.kernel")
    assert [kernel.tensor_name(k) for k in range(3)] == ["A", "B", "C"]
    assert kernel.dims(1) == ("K", "N")
    assert list(kernel.symbol_arguments) == ["M", "K", "N"]
    assert kernel.promise_values() == {"M": 4}
    assert kernel.constant_values()["TILE"] == 16
    assert kernel.threads.value.data == 64


@pytest.mark.parametrize("form", [custom, generic])
def test_text_reads_back(form):
    """Tile MLIR printed in either form parses to the same module."""
    module = tile_module(GEMM)
    assert module.is_structurally_equivalent(parse(form(module)))


def test_gemm_computes_the_product():
    """The GEMM with ragged edges gives the meaning's result."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(s, np.float32) for s in ((20, 13), (13, 18), (20, 18)))
    same_as_meaning(GEMM, a, b, c, grid=(2, 2, 1), scalars=(0.5,), tolerance=1e-4, threads=1)


CONTROL = {
    "break": """
      for i in range(0, 10) {
        if i == 4 + t % 3 { break }
        s += i
      }""",
    "continue": """
      for i in range(0, 10) {
        if i % 3 == t % 3 { continue }
        s += i
      }""",
    "break and continue": """
      for i in range(0, 20) {
        if i % 2 == 0 { continue }
        if i > t { break }
        s += i * i
      }""",
    "return": """
      if t > 16 { s = 7
        Y[t] = s
        return }
      s += 1""",
    "return in a loop": """
      for i in range(0, 10) {
        for j in range(0, 10) {
          s += j
          if i * j == t { Y[t] = s
            return }
        }
        s += 100
      }""",
    "nested loops with breaks": """
      for i in range(0, 5) {
        for j in range(0, 5) {
          if j == i { break }
          s += 10 * i + j
        }
        if s > 50 + t { break }
      }""",
    "while": """
      var n = t
      while n != 1 && s < 200 {
        s += 1
        if n % 2 == 0 { n = n / 2 } else { n = 3 * n + 1 }
        if n == 0 { break }
      }""",
    "while true": """
      var n = 0
      while true {
        n += 1
        if n == 3 { continue }
        s += n
        if n >= t { break }
      }""",
    "counting down": """
      for i in range(10, t, -3) { s = s * 3 + i }""",
    "step known at run time": """
      let step = t % 5 - 2
      if step != 0 {
        for i in range(2, 9, step) { s = s * 3 + i }
      }""",
    "short circuit": """
      if t != 0 && 96 / t > 5 { s = 1 }
      if t == 0 || 96 % t == 0 { s += 2 }""",
    "both arms set": """
      if t < 10 { s = 5 } else if t < 20 { s = 6 } else { s = 7 }
      s += t""",
    "only selects": """
      var a = 1
      var b = 2
      if t < 10 { a = 2
        b = 1 }
      s = 10 * a + b""",
    "shadowing": """
      var a = 1
      for i in range(0, 3) {
        var a = i
        a += 5
        s += a
      }
      s += a""",
    "negative quotients": """
      s = (t - 16) / 3 * 100 + (t - 16) % 3""",
    "bits": """
      s = (t << 2 ^ 5) | (t & 3) - (~t >> 1)""",
    "empty range": """
      for i in range(5, 5) { s = 99 }
      for i in range(7, 5) { s = 99 }""",
}


@pytest.mark.parametrize("name", CONTROL)
def test_control_flow(name):
    """Per-thread control flow of every kind gives each thread the meaning's value."""
    text = f"""@launch(32)
    kernel k(Y: tensor<i32>[N]) {{
      let t = ctx.thread
      var s = 0
      {CONTROL[name]}
      Y[t] = s
    }}"""
    same_as_meaning(text, np.full(32, -1, np.int32))


EXPRESSIONS = {
    "i8": ("i8", "x * x + x", "i8"),
    "u8 division": ("u8", "x / u8(3) + x % u8(7) * u8(50)", "u8"),
    "u8 shifts": ("u8", "x >> u8(1)", "u8"),
    "u8 order": ("u8", "max(x, u8(100)) - min(x, u8(200))", "u8"),
    "u8 widened": ("u8", "i32(x) - 300", "i32"),
    "i8 and u8": ("u8", "x + i8(x)", "i32"),
    "f32 to i8": ("f32", "i8(x)", "i8"),
    "f32 to u8": ("f32", "u8(x)", "u8"),
    "f32 to i32": ("f32", "i32(x * 1e8)", "i32"),
    "f32 to i64": ("f32", "i64(x * 1e17)", "i64"),
    "f16 to i32": ("f16", "i32(x)", "i32"),
    "f64 to i64": ("f64", "i64(x * 1e17)", "i64"),
    "i64 to f32": ("i64", "f32(x * i64(123456789123))", "f32"),
    "f16 arithmetic": ("f16", "x * x + x / f16(3.0)", "f16"),
    "f16 function": ("f16", "exp(x * f16(0.01)) + sqrt(abs(x))", "f16"),
    "bf16 arithmetic": ("bf16", "x * x - x", "bf16"),
    "bf16 to f16": ("bf16", "f16(x)", "f16"),
    "f16 with bf16": ("f16", "x + bf16(x)", "f32"),
    "remainder": ("f32", "x % 3.0", "f32"),
    "rounding": ("f32", "round(x / 2.0) + floor(x) - ceil(x * 0.3)", "f32"),
    "choice": ("f32", "where(x > 0.0, x, -x) + where(x != x, 1.0, 2.0)", "f32"),
    "fma": ("f32", "fma(x, x, x)", "f32"),
    "popcount": ("i32", "popcount(x)", "i32"),
    "bit patterns": ("f32", "from_bits(bits(x) ^ 2)", "f32"),
    "permutation": ("i32", "byteperm(x, x * 77, 0x2541)", "i32"),
}


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_elementwise_expressions(name):
    """Arithmetic, conversions and functions on tiles give the meaning's bits."""
    source, expression, target = EXPRESSIONS[name]
    text = f"""kernel k(X: tensor<{source}>[N], Y: tensor<{target}>[N]) {{
      var x = X[0 :+ 64]
      Y[0 :+ 64] = {expression}
    }}"""
    import ml_dtypes

    numpy_name = {"bf16": ml_dtypes.bfloat16}
    rng = np.random.default_rng(1)
    kinds = {"f16": "float16", "f32": "float32", "f64": "float64", "i8": "int8", "u8": "uint8"}
    kinds |= {"i32": "int32", "i64": "int64"}
    dtypes = [np.dtype(numpy_name.get(d, kinds.get(d, d))) for d in (source, target)]
    if source[0] in "fb":
        x = rng.uniform(-300, 300, 64)
        x[:6] = [np.nan, np.inf, -np.inf, 0.5, -0.0, 127.7]
    else:
        x = rng.integers(0 if source == "u8" else -120, 255 if source == "u8" else 120, 64)
    same_as_meaning(text, x.astype(dtypes[0]), np.zeros(64, dtypes[1]), threads=1)


TILES = {
    "row sums": "rowsum(x) + colsum(x)",
    "maxima": "rowmax(x) - colmin(x)",
    "arg": "f32(rowargmax(x)) + x",
    "running": "cumsum(x)",
    "triangles": "tril(x) - triu(x, 1)",
    "transposed": "transpose(x) + x",
    "row numbers": "f32(iota(8)) * x",
    "scalars": "2.0 * x - 1.0",
    "stretched": "rowsum(x) * x",
}


@pytest.mark.parametrize("name", TILES)
def test_tile_functions(name):
    """Reductions, scans, triangles and transposes give the meaning's result."""
    text = f"""kernel k(X: tensor<f32>[8, 8], Y: tensor<f32>[8, 8]) {{
      var x = X[:, :]
      Y[:, :] = {TILES[name]}
    }}"""
    x = np.random.default_rng(2).integers(-9, 9, (8, 8)).astype(np.float32)
    same_as_meaning(text, x, np.zeros((8, 8), np.float32), threads=1)


def test_boxes_with_points_pads_and_ends():
    """Points drop their axis, outside reads give the pad, `until` ends a slice early."""
    text = """kernel k(X: tensor<f32>[B, M], Y: tensor<f32>[B, M], n: i32) {
      let b = ctx.block.x
      var x = pad(X[b, -3 :+ 16], -1.0)
      var z = X[b, 2 :+ 16 until n]
      Y[b, 0 :+ 16] = x + z
    }"""
    x = np.random.default_rng(3).integers(0, 9, (3, 11)).astype(np.float32)
    same_as_meaning(text, x, np.zeros_like(x), grid=(3, 1, 1), scalars=(7,), threads=1)


def test_uniform_stores_happen_once():
    """A uniform store is one; under divergent control it is per thread."""
    text = """@launch(32)
    kernel k(Y: tensor<f32>[N]) {
      Y[0] = 1.0
      let t = ctx.thread
      if t == 5 { Y[1] = 1.0 }
    }"""
    first, second = ops(tile_module(text), "tile.store_element")
    assert first.once is not None
    assert second.once is None


def test_uniform_updates_are_read_and_stored_by_one_thread():
    """A uniform `+=` of an element is one addition, its read included."""
    text = """@launch(32)
    kernel k(X: tensor<f32>[N], Y: tensor<f32>[N]) { Y[0] += X[0] }"""
    module = tile_module(text)
    (store,) = ops(module, "tile.store_element")
    whole, own = ops(module, "tile.load_element")
    assert own.parent_op() is store.parent_op()
    assert whole.parent_op() is not store.parent_op()


def test_a_store_before_a_divergent_break_is_not_once():
    """In a loop that threads leave at different times a uniform store is made by who is left."""
    text = """@launch(32)
    kernel k(Y: tensor<f32>[N]) {
      let t = ctx.thread
      for i in range(0, 40) {
        Y[0] = 1.0
        if i == t { break }
      }
    }"""
    (store,) = ops(tile_module(text), "tile.store_element")
    assert store.once is None


def test_a_constant_branch_leaves_nothing():
    """Selecting by an if without effects leaves selects and no scf.if."""
    text = """@launch(32)
    kernel k(Y: tensor<i32>[N]) {
      let t = ctx.thread
      var s = 1
      if t < 4 { s = 2 }
      Y[t] = s
    }"""
    module = tile_module(text)
    assert not ops(module, "scf.if")
    assert len(ops(module, "arith.select")) == 1


def test_atomics_of_tiles_and_scalars():
    """A tile is added element by element and clipped; a scalar gives back what was there."""
    text = """@launch(32)
    kernel k(X: tensor<i32>[4, 4], Y: tensor<i32>[N]) {
      let t = ctx.thread
      let old = atomic_add(Y, 0, 1)
      Y[1 + t] = old
      var one: tile<i32>[2, 3] = 5
      atomic_max(X, 3, 2, one)
    }"""
    same_as_meaning(text, np.zeros((4, 4), np.int32), np.zeros(40, np.int32))
