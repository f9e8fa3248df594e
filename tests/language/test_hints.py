"""Help for habits from other languages."""

from __future__ import annotations

import pytest

from tests.language.programs import failure

PARAMETERS = "A: tensor<f32>[M, N], s: f32, n: i32"


@pytest.mark.parametrize(
    ("statement", "help"),
    [
        ("if n > 0 and n < 4 { }", "write `&&`"),
        ("let a = n > 0 or n < 4", "write `||`"),
        ("if not n { }", "write `!`"),
        ("if n > 0 { } elif n < 0 { }", "write `else if`"),
        ("if n = 1 { }", "`==` compares, `=` assigns"),
        ("n++", "write `x += 1`"),
        ("let a = s ** 2", "write `pow(x, y)`"),
        ("let a = n > 0 ? 1 : 2", "`where(condition, a, b)` chooses between values"),
        ("let a = A[0][0]", "write all subscripts in one pair of brackets: `A[i, j]`"),
        ("let a = threadIdx.x", "the thread of the CTA is `ctx.thread`"),
        ("let a = True", "write `true`"),
        ("var a: float = 1.0", "the 32-bit float is `f32`"),
        ("__syncthreads()", "write `barrier()`"),
        ("let a = sqrtf(s)", "write `sqrt`"),
        ("let a = matmul(s, s)", "write `dot(a, b)`"),
        ("print('a')", 'texts stand in double quotes: "..."'),
        ("A[0 :+ 4, 0] = A[0 :+ 4, 0] @ A[0, 0 :+ 4]", "write `dot(a, b)`"),
        ("for (int i = 0; i < n; i += 1) { }", "write `for i in range(0, n) { ... }`"),
        ("var t = zeros(4)", "a scalar fills a tile: `var t: tile<f32>[64, 64] = 0.0`"),
        ("pass", "an empty block is `{ }`"),
        ("atomicAdd(A, 1.0)", "write `atomic_add(A, i, value)`"),
        ("b = 1.0", "declare it first: `var b = ...`"),
        ("var total = 1.0\ntotl = 2.0", "did you mean `total`?"),
        ("let a = rowsumm(s)", "did you mean `rowsum`?"),
        ("let a = ctx.tread", "did you mean `ctx.thread`?"),
        ("let a: f31 = 1.0", "did you mean `f32`?"),
    ],
)
def test_help(statement: str, help: str):
    """The first diagnostic says what the thing is called here."""
    error = failure(f"kernel k({PARAMETERS}) {{\n{statement}\n}}")
    assert error is not None
    assert error.diagnostics[0].help == help


@pytest.mark.parametrize(
    ("statement", "help"),
    [
        ("lett a = s", "did you mean `let`?"),
        ("let a = exp(s + 1.0", "the `(` was opened in line 2, column 12"),
        ("let a = 2.0 * (s + 1.0\nlet b = s", "the `(` was opened in line 2, column 15"),
        ("A[0 :+ 256, 0] = A[0 :+ 256, 0] + A[0 :+ 128, 0]", "give both 256 or both 128 elements"),
    ],
)
def test_the_remedy_is_named(statement: str, help: str) -> None:
    """Messages say what would be right, and where what is open was opened."""
    error = failure(f"kernel k({PARAMETERS}) {{\n{statement}\n}}")
    assert error is not None
    assert any(help in d.help for d in error.diagnostics), str(error)


def test_the_numbers_of_threads_next_to_a_wrong_one() -> None:
    """100 threads are no whole warps: 96 and 128 are."""
    error = failure("@launch(100)\nkernel k(x: tensor<f32>[N]) { x[0 :+ 32] = 0.0 }")
    assert error is not None
    assert error.diagnostics[0].help == "write 96 or 128"


CONTINUED = "a newline ends a statement: put the `{}` at the end of the line above"


@pytest.mark.parametrize("operator", ["+", "-", "*", "/", "&&", "<=", "<<"])
def test_a_line_that_goes_on_with_an_operator(operator: str) -> None:
    """The error stands at the operator, and says that it ends the line above."""
    error = failure(f"kernel k({PARAMETERS}) {{\nlet a = s\n  {operator} s\n}}")
    assert error is not None
    assert error.source is not None
    (found,) = error.diagnostics
    assert found.help == CONTINUED.format(operator)
    assert found.span is not None
    assert error.source.position(found.span.start) == (3, 3)


def test_an_expression_alone_is_no_continued_line() -> None:
    """`-s` as a block's first statement continues nothing."""
    error = failure(f"kernel k({PARAMETERS}) {{ -s\n}}")
    assert error is not None
    assert error.diagnostics[0].help == "assign it, or call something"


@pytest.mark.parametrize(
    ("text", "help"),
    [
        ("let\u00a0a = s", "write a space"),
        ("let a =\u3000s", "write a space"),
        ("let a = s\u2028", "end the line there"),
        ("let a = s\u200b", "delete it"),
        ("let a = s \u2212 s", "write `-`"),
        ("let a = s \u2013 s", "write `-`"),
        ("let a = s \u00d7 s", "write `*`"),
        ("let a = n \u2264 3", "write `<=`"),
        ("print(\u201ca\u201d)", 'texts stand in straight quotes: "..."'),
    ],
)
def test_characters_of_documents(text: str, help: str) -> None:
    """What is pasted from a page is told by what stands for it here, and never joins two words."""
    error = failure(f"kernel k({PARAMETERS}) {{\n{text}\n}}")
    assert error is not None
    assert error.diagnostics[0].code == "PH001"
    assert error.diagnostics[0].help == help


def test_the_first_line_of_a_cell_is_no_part_of_a_text() -> None:
    """`%%phobos` is told at its place: line 1, column 1."""
    error = failure("%%phobos --chip sm_80\nkernel k(x: tensor<f32>[N]) { x[0] = 1.0 }")
    assert error is not None
    (found,) = error.diagnostics
    assert found.code == "PH004"
    assert found.span is not None
    assert found.span.start == 0
    assert found.help.startswith("leave out this line: `%%phobos`")
