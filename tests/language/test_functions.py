"""Functions: inferred parameters, values, returns, order of effects."""

from __future__ import annotations

import numpy as np
import pytest

from phobos_nb.builtins import table
from phobos_nb.language import typed as t
from phobos_nb.language.meaning import run
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import statements
from tests.language.programs import errors, failure, typed

KERNEL = "kernel k(A: tensor<f16>[M, N], x: tensor<f32>[N], o: tensor<i32>[N], n: i32) {\n%s\n}\n"


def program(statements: str, functions: str) -> str:
    """A kernel whose body starts in line 2, and functions after it."""
    return KERNEL % statements + functions


def test_dtypes_and_extents_follow_from_the_arguments():
    """A function's dtype and extents are those of the tile it is called with."""
    text = program(
        "var t = silu(A[0 :+ 4, 0 :+ 8])",
        "fn silu<T: dtype>(x: tile<T>[R, C]) -> tile<T>[R, C] { return x * sigmoid(x) }",
    )
    kernel = typed(text)
    last = kernel.body[-1]
    assert isinstance(last, t.Assign)
    assert str(last.variable.type) == "tile<f16>[4, 8]"


def test_a_branch_on_a_generic_is_decided_at_each_call():
    """`if` on an inferred extent keeps one branch per call."""
    text = program(
        "var a = f(A[0 :+ 1, 0 :+ 8])\nvar b = f(A[0 :+ 2, 0 :+ 8])",
        "fn f<T: dtype, R: int>(x: tile<T>[R, 8]) -> tile<T>[R, 8] {\n"
        "if R == 1 { return x } else { return x * 2.0 } }",
    )
    assert not [s for s in statements(typed(text).body) if isinstance(s, t.If)]


def test_extents_of_tensor_parameters_are_names():
    """The names in a tensor parameter's dims are its extents inside the function."""
    text = program("o[0] = last(x)", "fn last(A: tensor<f32>[N0]) -> i32 { return i32(N0) - 1 }")
    store = typed(text).body[-1]
    assert isinstance(store, t.StoreElement)


def test_arguments_are_values():
    """What a function does to memory afterwards does not change an argument read before."""
    text = program("f(x[0])\n", 'fn g() {}\nfn f(v: f32) { print("{}", v)\nprint("{}", v) }')
    kernel = typed(text)
    reads = [s for s in kernel.body if isinstance(s, t.Assign) and isinstance(s.value, t.ElementRead)]
    assert len(reads) == 1


def test_effects_on_the_right_wait_for_the_left():
    """`x[0] + bump()` reads x[0] before bump stores to it."""
    text = program(
        "let s = x[0] + bump(x)\no[0] = i32(s)",
        "fn bump(A: tensor<f32>[N0]) -> f32 { A[0] = 5.0\nreturn 1.0 }",
    )
    body = typed(text).body
    first, store = body[0], body[1]
    assert isinstance(first, t.Assign)
    assert isinstance(first.value, t.ElementRead)
    assert isinstance(store, t.StoreElement)


def test_short_circuit_guards_an_inlined_body():
    """Statements of a function right of `&&` run only where the left side holds."""
    text = program(
        "if n > 0 && find(x) > 1 { o[0] = 1 }",
        "fn find(A: tensor<f32>[N0]) -> i32 { var i: i32 = 0\nwhile A[i] > 0.0 { i += 1 }\nreturn i }",
    )
    kinds = [type(s) for s in typed(text).body]
    assert kinds == [t.Assign, t.If, t.If]


def test_a_function_in_a_while_condition_runs_each_time():
    """Statements of the condition are inside the loop."""
    text = program(
        "var i: i32 = 0\nwhile f(i) < n { i += 1 }\no[0] = i",
        "fn f(i: i32) -> i32 { var j = i\nj += 1\nreturn j }",
    )
    loop = typed(text).body[1]
    assert isinstance(loop, t.While)
    assert [type(s) for s in loop.body[:3]] == [t.Assign, t.Assign, t.If]


EARLY = {
    "branch": (
        "fn f(i: i32) -> i32 { if i < 2 { return 10 }\nif i < 4 { return 20 }\nreturn i }",
        lambda i: 10 if i < 2 else 20 if i < 4 else i,
    ),
    "else": (
        "fn f(i: i32) -> i32 { var a: i32 = 1\nif i < 2 { a = 5 } else { return 7 }\nreturn a + i }",
        lambda i: 5 + i if i < 2 else 7,
    ),
    "loop": (
        "fn f(i: i32) -> i32 { for j in range(10) { if j * j > i { return i32(j) } }\nreturn -1 }",
        lambda i: next((j for j in range(10) if j * j > i), -1),
    ),
    "nested loop": (
        "fn f(i: i32) -> i32 { for j in range(3) { for l in range(3) {\n"
        "if j * 3 + l == i { return i32(10 * j + l) } } }\nreturn -1 }",
        lambda i: next((10 * j + m for j in range(3) for m in range(3) if j * 3 + m == i), -1),
    ),
    "open branch": (
        "fn f(i: i32) -> i32 { var a: i32 = 0\nif i > 1 { if i > 3 { return 50 }\na = 3 }\n"
        "if a == 3 { return 30 }\nreturn a }",
        lambda i: 50 if i > 3 else 30 if i > 1 else 0,
    ),
    "while": (
        "fn f(i: i32) -> i32 { var a = i\nwhile true { a += 1\nif a % 3 == 0 { return a } }\nreturn 0 }",
        lambda i: i + 3 - i % 3,
    ),
}


@pytest.mark.parametrize("kind", EARLY)
def test_early_returns(kind: str):
    """`return` inside branches and loops gives the value it would give in any language."""
    function, expected = EARLY[kind]
    kernel = typed(program("let i = ctx.thread\no[i] = f(i32(i))", function))
    out = np.full(256, -9, np.int32)
    arguments = {"A": np.zeros((1, 256), np.float16), "x": np.zeros(256, np.float32), "o": out, "n": 0}
    run(kernel, arguments, builtins=table())
    assert out[:12].tolist() == [expected(i) for i in range(12)]


@pytest.mark.parametrize(
    ("statement", "function", "expected"),
    [
        ("let a = f(1)", "fn f(i: i32) -> i32 { return f(i) }", [("PH112", 4, 30)]),
        ("let a = f(1, 2)", "fn f(i: i32) -> i32 { return i }", [("PH107", 2, 9)]),
        ("let a = f(x)", "fn f(i: i32) -> i32 { return i }", [("PH104", 2, 11)]),
        ("let a = f(1.5)", "fn f(i: i32) -> i32 { return i }", [("PH104", 2, 11)]),
        ("let a = f(1)", "fn f(A: tensor<f32>[N]) -> i32 { return 1 }", [("PH104", 2, 11)]),
        ("let a = f(A)", "fn f(A: tensor<f32>[N, M]) -> i32 { return 1 }", [("PH104", 2, 11)]),
        ("let a = f(1)", "fn f(i: i32) -> i32 { if i > 0 { return 1 } }", [("PH113", 4, 4)]),
        ("let a = f(1)", "fn f(i: i32) { return 1 }", [("PH113", 4, 23)]),
        ("let a = f(1)", "fn f(i: i32) -> i32 { return }", [("PH113", 4, 23)]),
        ("let a = f(1)", "fn f(i: i32) { }", [("PH104", 2, 9)]),
        ("let a = f(1)", "fn f<D: int>(i: i32) -> i32 { return i + D }", [("PH111", 2, 9)]),
        ("let a = f(1)", "fn f(i: i32) -> i32 { return i + n }", [("PH101", 4, 34)]),
        ("for i in range(4) { f(1) }", "fn f(i: i32) { break }", [("PH114", 4, 16)]),
        (
            "var a = f(A[0 :+ 4, 0 :+ 8], A[0 :+ 2, 0 :+ 8])",
            "fn f<R: int>(a: tile<f16>[R, 8], b: tile<f16>[R, 8]) -> tile<f16>[R, 8] { return a + b }",
            [("PH104", 2, 30)],
        ),
    ],
)
def test_refused(statement: str, function: str, expected: list[tuple[str, int, int]]):
    """Recursion, wrong arguments, missing results and leaks of the caller's names."""
    assert errors(program(statement, function)) == expected


def test_errors_in_a_body_name_the_call():
    """A fault inside a function is at its place, once, with the line of the first call."""
    functions = "fn f(i: i32) -> i32 { return g(i) }\nfn g(i: i32) -> i32 { return nil }"
    text = program("let a = f(1)\nlet b = f(2)", functions)
    error = failure(text)
    assert error is not None
    (only,) = error.diagnostics
    assert only.code == "PH101"
    assert only.help.endswith("in the call of `g` in line 5; in the call of `f` in line 2")


def test_unused_functions_do_no_harm():
    """A function that is not called is parsed and otherwise left alone."""
    assert typed(program("o[0] = 1", "fn f(i: i32) -> i32 { return nothing }")).body


def test_result_shape_is_checked():
    """A result is stretched to the declared shape and converted to the declared type."""
    text = program("var a = f(x[0 :+ 4])", "fn f(a: tile<f32>[C]) -> tile<f16>[2, C] { return a }")
    last = typed(text).body[-1]
    assert isinstance(last, t.Assign)
    assert isinstance(last.variable.type, TileType)
    assert str(last.variable.type) == "tile<f16>[2, 4]"
