"""Warnings for what is legal but seldom meant: filler, long f16 sums, finite start values."""

from __future__ import annotations

import pytest

from tests.language.programs import FLASH, GEMM, body, findings, typed

MATRIX = "A: tensor<f32>[M, N], B: tensor<f32>[N, M], V: tensor<f32>[N, 64], o: tensor<f32>[M, 64]"
X = "let x = A[0 :+ 16, 0 :+ 64]\n"


def found(statements: str) -> list[tuple[str, int, int]]:
    return findings(body(statements, MATRIX))


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        (X + "var m = rowmax(x)", [("PH210", 3, 9)]),
        (X + "var m = rowmin(x)", [("PH210", 3, 9)]),
        (X + "var m = colmax(x)", [("PH210", 3, 9)]),
        (X + "var m = rowargmax(x)", [("PH210", 3, 9)]),
        (X + "var m = rowsum(x)", []),
        (X + "var m = rowsum(x * x + x / 3.0)", []),
        (X + "var m = rowsum(exp(x))", [("PH210", 3, 9)]),
        (X + "var m = rowsum(x - 1.0)", [("PH210", 3, 9)]),
        (X + "var m = rowsum(sqrt(abs(x)))", []),
        (X + "var m = colsum(cos(x))", [("PH210", 3, 9)]),
        (X + "var m = cumsum(x + 1.0)", [("PH210", 3, 9)]),
        (X + "var m = rowmax(transpose(colsum(x)))", []),
        (X + "var m = rowsum(transpose(exp(x)))", [("PH210", 3, 9)]),
        ("let x = pad(A[0 :+ 16, 0 :+ 64], -inf)\nvar m = rowmax(x)", []),
        ("let x = pad(A[0 :+ 16, 0 :+ 64], -inf)\nvar m = rowsum(exp(x - rowmax(x)))", []),
        ("let x = pad(A[0 :+ 16, 0 :+ 64], -inf)\nvar m = rowsum(x)", [("PH210", 3, 9)]),
        (X + "var m = rowmax(where(iota(64) < N, x, -inf))", []),
        (X + "let c = iota(64) + 3\nvar m = rowsum(where(c < N, exp(x), 0.0))", []),
        (X + "var m = rowsum(where(x > 0.0, exp(x), 0.0))", []),
        (X + "var m = rowsum(where(x < 0.5, exp(x), 0.0))", [("PH210", 3, 9)]),
        (X + "var y = dot(x, V[0 :+ 64, :])", []),
        (X + "var y = dot(exp(x), V[0 :+ 64, :])", []),
        (X + "var y = dot(exp(x), exp(V[0 :+ 64, :]))", [("PH210", 3, 9)]),
        (X + "var y = dot_t(exp(x), exp(A[0 :+ 8, 0 :+ 64]))", [("PH210", 3, 9)]),
        ("var m = rowmax(V[0 :+ 16, :])", []),
        ("var m = rowmax(V[0 :+ 16, 0 :+ 48])", []),
        ("var m = rowmax(V[0 :+ 16, 32 :+ 48])", [("PH210", 2, 9)]),
        ("var m = rowmax(V[0 :+ 16, 0 :+ 64 until M])", [("PH210", 2, 9)]),
        ("for i in range(0, 64, 16) { var m = rowmax(V[0 :+ 16, i :+ 16]) }", []),
        ("for i in range(0, 64, 8) { var m = rowmax(V[0 :+ 16, i :+ 16]) }", [("PH210", 2, 36)]),
        (
            "var t: tile<f32>[16, 64] = 1.0\nfor i in range(4) {\nvar m = rowsum(t)\n"
            "t = t + exp(A[0 :+ 16, 0 :+ 64])\n}",
            [("PH210", 4, 9)],
        ),
        (X + "var m = f(x)", [("PH210", 6, 8)]),
    ],
)
def test_filler(statements: str, expected: list[tuple[str, int, int]]):
    """Filler warns where it reaches a reduction or dot that it changes, and nowhere else."""
    function = "fn f(x: tile<f32>[R, C]) -> tile<f32>[R, 1] {\nreturn rowmax(x) }"
    kernel = typed(f"kernel k({MATRIX}) {{\n{statements}\n}}\n{function}")
    assert [f for f in findings(kernel) if f[0] != "PH120"] == expected


def test_the_warning_names_dimension_and_remedy():
    """The message says past which extent of which tensor, the help how to read instead."""
    kernel = body(X + "var m = rowmax(x)", MATRIX)
    (warning,) = [d for d in kernel.findings if d.code == "PH210"]
    assert "the filler 0 past the end of `N` (from `A`) reaches `rowmax`" in warning.message
    assert "`pad(A[...], -inf)`" in warning.help


def test_promises_keep_filler_away():
    """With `@aligned`, whole slices have no filler."""
    kernel = (
        "@autotune(T in [16, 64])\n%s\nkernel k(A: tensor<f32>[M, N], o: tensor<f32>[M]) {\n"
        "let i = ctx.block.x * T\nfor j in range(0, N, T) {\n"
        "o[i :+ T] = flat(rowmax(A[i :+ T, j :+ T]))\n}\n}"
    )
    assert findings(typed(kernel % "@aligned(N = T)")) == []
    assert findings(typed(kernel % "@launch(64)")) == [("PH210", 6, 18)]


def test_attention_without_a_mask_warns():
    """Flash attention that does not mask its keys warns at rowmax and at rowsum(exp(...))."""
    unmasked = FLASH.replace("s = where(column < i32(NK), s, -inf)", "")
    codes = [(c, line) for c, line, _ in findings(typed(unmasked))]
    assert codes == [("PH210", 23), ("PH210", 26)]
    assert findings(typed(FLASH)) == []


F16 = "A: tensor<f16>[M, K], B: tensor<f16>[K, N]"
LOOP = """var acc: tile<f16>[16, 16] = 0.0
for k in range(0, %s, 16) {
acc += dot(A[0 :+ 16, k :+ 16], B[k :+ 16, 0 :+ 16])
}"""


@pytest.mark.parametrize(("stop", "warns"), [("2048", False), ("2064", True), ("K", True)])
def test_long_f16_sums(stop: str, warns: bool):
    """An f16 tile that adds up more than 2048 terms, or a run-time number of them, warns."""
    assert findings(body(LOOP % stop, F16)) == ([("PH211", 4, 1)] if warns else [])


def test_f32_sums_do_not_warn():
    """The same sum in an f32 tile is fine, and so is the seed's GEMM."""
    assert findings(body(LOOP.replace("tile<f16>", "tile<f32>") % "K", F16)) == []
    assert findings(typed(GEMM)) == []


@pytest.mark.parametrize(
    ("start", "function", "expected"),
    [
        ("-999999999.0", "tmax", [("PH212", 2, 1)]),
        ("-inf", "tmax", []),
        ("-1.0", "tmax", []),
        ("1e30", "tmin", [("PH212", 2, 1)]),
        ("1e30", "tmax", []),
    ],
)
def test_finite_start_values(start: str, function: str, expected: list[tuple[str, int, int]]):
    """A running maximum that starts at a finite stand-in for -inf warns at its declaration."""
    text = (
        f"var m: tile<f32>[16, 1] = {start}\nfor i in range(4) {{\n"
        f"let x = pad(A[0 :+ 16, 0 :+ 64], {start})\nm = {function}(m, rowsum(x * 0.0))\n}}"
    )
    assert [f for f in found(text) if f[0] == "PH212"] == expected
