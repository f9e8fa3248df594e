"""Programs that several tests of the language check, and how tests reach the checker."""

from __future__ import annotations

from phobos_nb.attributes import table as attributes
from phobos_nb.builtins import table as builtins
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.dtypes import DType
from phobos_nb.language.frontend import check, parse
from phobos_nb.language.typed import TypedKernel
from phobos_nb.source import Source

GEMM = """\
@autotune(TILE_M in [32, 256], TILE_N in [32, 256], TILE_K in [4, 32])
@launch(256)
@pipeline
@aligned(M = TILE_M, N = TILE_N, K = TILE_K)
kernel gemm(A: tensor<f32>[M, K],
            B: tensor<f32>[K, N],
            C: tensor<f32>[M, N],
            alpha: f32,
            beta: f32) {
  let pm = ctx.block.x
  let pn = ctx.block.y

  var acc: tile<f32>[TILE_M, TILE_N] = 0.0

  for kt in range(0, K, TILE_K) {
    var a = A[pm * TILE_M :+ TILE_M, kt :+ TILE_K]
    var b = B[kt :+ TILE_K, pn * TILE_N :+ TILE_N]
    acc += dot(a, b)
  }

  let c_old = C[pm * TILE_M :+ TILE_M, pn * TILE_N :+ TILE_N]
  C[pm * TILE_M :+ TILE_M, pn * TILE_N :+ TILE_N] = alpha * acc + beta * c_old
}
"""

FLASH = """\
@autotune(BR in [32, 64], BC in [32, 64])
@launch(128)
@tensorcore
kernel flash<T: dtype = f16, CAUSAL: bool = false, D: int = 64>(
    Q: tensor<T>[H, NQ, D], K: tensor<T>[H, NK, D], V: tensor<T>[H, NK, D], O: tensor<T>[H, NQ, D],
    scale: f32) {
  let h = ctx.block.y
  let q0 = ctx.block.x * BR
  var q = Q[h, q0 :+ BR, :]
  var m: tile<f32>[BR, 1] = -inf
  var l: tile<f32>[BR, 1] = 0.0
  var acc: tile<f32>[BR, D] = 0.0
  for k0 in range(0, NK, BC) {
    var k = K[h, k0 :+ BC, :]
    var v = V[h, k0 :+ BC, :]
    var s = dot_t(q, k) * scale
    let column = iota(BC) + i32(k0)
    s = where(column < i32(NK), s, -inf)
    if CAUSAL {
      let row = transpose(iota(BR)) + i32(q0)
      s = where(column <= row, s, -inf)
    }
    let m_new = tmax(m, rowmax(s))
    let p = exp(s - m_new)
    let c = exp(m - m_new)
    l = l * c + rowsum(p)
    acc = acc * c + dot(T(p), v)
    m = m_new
  }
  O[h, q0 :+ BR, :] = acc / l
}
"""


def typed(
    text: str, name: str = "", dtypes: dict[str, DType] | None = None, **constants: int
) -> TypedKernel:
    """The (first or named) kernel of a text after checking."""
    program = parse(Source(text, "test.ph"))
    chosen = name or program.kernels[0].name
    return check(program, chosen, constants, builtins(), attributes(), dtypes)


def body(statements: str, parameters: str = "A: tensor<f32>[M, N], x: tensor<f32>[N]") -> TypedKernel:
    """A kernel `k` of these parameters whose body starts in line 2, column 1."""
    return typed(f"kernel k({parameters}) {{\n{statements}\n}}")


UNDONE = ("PH119", "PH213")
"""Codes of unused parameters and kernels that store nothing."""

Found = tuple[str, int, int]


def placed(diagnostic: Diagnostic, source: Source) -> Found:
    """Code, line and column of a finding."""
    assert diagnostic.span is not None
    line, column = source.position(diagnostic.span.start)
    return diagnostic.code, line, column


def failure(text: str, name: str = "", **constants: int) -> PhobosError | None:
    """What parsing and checking a text raises, None for a good one."""
    try:
        typed(text, name, **constants)
    except PhobosError as error:
        return error
    return None


def errors(text: str, name: str = "", **constants: int) -> list[Found]:
    """Code, line and column of every error that a text gives, [] for a good one."""
    error = failure(text, name, **constants)
    if error is None or error.source is None:
        return []
    return [placed(d, error.source) for d in error.diagnostics]


def body_errors(
    statements: str, parameters: str = "A: tensor<f32>[M, N], x: tensor<f32>[N]"
) -> list[Found]:
    """Errors of a kernel body whose first line is line 2."""
    return errors(f"kernel k({parameters}) {{\n{statements}\n}}")


def findings(kernel: TypedKernel) -> list[Found]:
    """Code, line and column of every warning and note of a kernel, but for what it leaves undone:
    bodies of tests use few of their parameters, and many store nothing.
    """
    return [placed(d, kernel.source) for d in kernel.findings if d.code not in UNDONE]
