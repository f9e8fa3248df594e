"""Constant indices of shared arrays are held to their extents when compiling."""

from __future__ import annotations

import pytest

import phobos_nb as ph
from phobos_nb.diagnostics import PhobosError
from tests.language.programs import body_errors, errors, failure

S = "var s: shared<f32>[64]\n"
OUTSIDE = {
    "a store": ("s[64] = 1.0", 3, 3),
    "before the first": ("s[-1] = 1.0", 3, 3),
    "a read": ("x[0] = s[64]", 3, 10),
    "a compound store, once": ("s[64] += 1.0", 3, 3),
    "a `let`": ("let last = 8 * 8\ns[last] = 1.0", 4, 3),
    "a `var`": ("var at = 60\nat += 4\ns[at] = 1.0", 5, 3),
    "a `var` of both branches": (
        "var at = 0\nif ctx.thread < 9 { at = 70 } else { at = 70 }\ns[at] = 1.0",
        5,
        3,
    ),
    "a narrow integer": ("let at: i32 = 1 << 6\ns[at] = 1.0", 4, 3),
    "under a condition": ("if ctx.thread == 127 { s[200] = 1.0 }", 3, 26),
    "in a condition": ("if ctx.thread > 3 && s[64] > 0.0 { s[0] = 1.0 }", 3, 24),
    "in a loop": ("for i in range(0, 2) { s[i] = s[64] }", 3, 33),
    "in a `while`": ("while s[0] > s[64] { s[0] = 0.0 }", 3, 16),
    "behind a return of some": ("if ctx.thread > 3 { return }\ns[64] = 1.0", 4, 3),
    "behind a loop that breaks": ("for i in range(0, 4) { break }\ns[64] = 1.0", 4, 3),
    "an argument": ("x[0] = exp(1.0 + s[64])", 3, 20),
}
INSIDE = {
    "first and last": "s[0] = s[63]",
    "a tensor": "x[-1] = 1.0\nx[0] = A[-3, 5]",
    "a branch not taken": "if 3 < 2 { s[64] = 1.0 }",
    "the other branch": "if 3 > 2 { s[63] = 1.0 } else { s[64] = 1.0 }",
    "a condition with a constant side": "if ctx.thread > 3 && 3 < 2 { s[64] = 1.0 }",
    "`&&` that is decided": "if (ctx.thread > 3 && 3 < 2) && s[64] > 0.0 { s[0] = 1.0 }",
    "`||` that is decided": "if (ctx.thread > 3 || 3 > 2) || s[64] > 0.0 { s[0] = 1.0 }",
    "an empty loop": "for i in range(1, 1) { s[64] = 1.0 }",
    "an empty loop downwards": "for i in range(1, 1, -1) { s[64] = 1.0 }",
    "a loop that never begins": "var go = 3 < 2\nwhile go { s[64] = 1.0 }",
    "behind a return": "return\ns[64] = 1.0",
    "behind a return of all": "if ctx.thread > 3 { return } else { return }\ns[64] = 1.0",
    "behind a break": "for i in range(0, 4) {\nbreak\ns[64] = 1.0\n}",
    "set by one branch": "var at = 64\nif ctx.thread < 9 { at = 0 }\ns[at] = 1.0",
    "set by a loop": "var at = 64\nfor i in range(0, N) { at = 0 }\ns[at] = 1.0",
    "set in the loop": "var at = 64\nat -= 64\nfor i in range(0, N) { s[at] = 1.0\nat = at + 1 }",
    "a flag that is down": "var up = 3 < 2\nif up { s[64] = 1.0 }",
    "wrapping around": "var at: i32 = 1073741824\ns[at * 4] = 1.0",
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_constant_index_outside_is_found_when_compiling(case: str) -> None:
    """PH209 stands at the index, whatever makes it a constant and wherever its line stands."""
    statements, line, column = OUTSIDE[case]
    assert body_errors(S + statements) == [("PH209", line, column)]


@pytest.mark.parametrize("case", INSIDE)
def test_what_constants_leave_out_is_not_looked_at(case: str) -> None:
    """A line that the constants of a configuration keep from running is no error, nor is a tensor's."""
    assert body_errors(S + INSIDE[case]) == []


def test_the_message_says_what_there_is_and_what_was_found() -> None:
    """Extent, first and last index, the index found; the axis where there are several."""
    wanted = {
        "var s: shared<f32>[64]\ns[64] = 1.0": (
            "`s` has 64 elements, 0 to 63, found index 64",
            "the last index is 63: correct it, or declare a larger array",
        ),
        "var s: shared<f32>[64]\ns[-1] = 1.0": (
            "`s` has 64 elements, 0 to 63, found index -1",
            "no index counts from the end: the last is 63",
        ),
        "var s: shared<f32>[4, 8]\ns[3, 8] = 1.0": (
            "axis 1 of `s` has 8 elements, 0 to 7, found index 8",
            "the last index is 7: correct it, or declare a larger array",
        ),
    }
    for statements, (message, help) in wanted.items():
        error = failure(f"kernel k(x: tensor<f32>[N]) {{\n{statements}\n}}")
        assert error is not None
        assert [(d.message, d.help) for d in error.diagnostics] == [(message, help)]


GENERIC = """\
@autotune(SIZE in [1, 2])
kernel k(x: tensor<f32>[N]) {
  var s: shared<f32>[SIZE]
  s[0] = 0.0
  %s
  x[ctx.block.x] = s[0]
}
"""


def test_a_configuration_is_held_to_its_own_constants() -> None:
    """A line that only one value allows is an error with the other, unless a constant guards it."""
    bare = GENERIC % "s[1] = 1.0"
    assert errors(bare, SIZE=2) == []
    assert errors(bare, SIZE=1) == [("PH209", 5, 5)]
    for guard in ("if SIZE > 1", "if ctx.thread == 0 && SIZE > 1", "for i in range(1, SIZE)"):
        assert errors(GENERIC % f"{guard} {{ s[1] = 1.0 }}", SIZE=1) == []


FUNCTION = """\
fn put(buffer: shared<f32>[64], at: i32, most: i32) {
  if at >= most { return }
  buffer[at] = 1.0
}
kernel k(x: tensor<f32>[N]) {
  var s: shared<f32>[64]
  put(s, 63, 64)
  put(s, 64, %d)
}
"""


def test_a_function_is_held_to_the_arguments_of_each_call() -> None:
    """The error stands in the function's body; a `return` that constants decide guards it."""
    assert errors(FUNCTION % 64) == []
    assert errors(FUNCTION % 65) == [("PH209", 3, 10)]


def test_the_public_compile_raises_it() -> None:
    """`ph.compile` refuses the cell, and shows the line with the index underlined."""
    with pytest.raises(PhobosError) as caught:
        ph.compile("kernel k(x: tensor<f32>[N]) {\n  var s: shared<f32>[64]\n  x[0] = s[64]\n}")
    assert "3 |   x[0] = s[64]\n  |            ^^\n" in str(caught.value)
