"""Indices that lie outside a tensor for every thread are told when compiling, and only they."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

import phobos_nb as ph
from tests.language.programs import body, findings, typed

PARAMETERS = "A: tensor<f32>[64], X: tensor<f32>[3, 16, 40], Y: tensor<f32>[N], Z: tensor<f32>[M, N]"
OUTSIDE = {
    "past a constant extent": ("A[64] = 1.0", 2, 3),
    "before the first": ("A[-1] = 1.0", 2, 3),
    "a compound store": ("A[64] += 1.0", 2, 3),
    "a read": ("A[ctx.thread] = A[100]", 2, 19),
    "a point beside slices": ("A[0 :+ 32] = X[3, 2, 0 :+ 32]", 2, 16),
    "a slice": ("A[64 :+ 32] = 1.0", 2, 3),
    "a slice before the first": ("A[-32 :+ 32] = 1.0", 2, 3),
    "a slice until an end": ("A[64 :+ 32 until 70] = 1.0", 2, 3),
    "a filled slice": ("A[0 :+ 32] = pad(A[64 :+ 32], 1.0)", 2, 20),
    "the extent": ("Y[0] = Y[N]", 2, 10),
    "past the extent": ("if ctx.thread == 0 { Y[N + 1] = 1.0 }", 2, 24),
    "a slice at the extent": ("Y[N :+ 16] = 1.0", 2, 3),
    "twice the extent": ("Y[2 * N] = 1.0", 2, 3),
    "two extents": ("Y[M + N] = 1.0", 2, 3),
    "before a symbol's first": ("Y[-2] = 1.0", 2, 3),
    "another axis": ("Z[N, N] = 1.0", 2, 6),
    "a thread's own": ("A[64 + ctx.thread] = 1.0", 2, 3),
    "a part of a position": ("Y[N + ctx.thread / 32] = 1.0", 2, 3),
    "a thread's own, before": ("A[-1 - ctx.thread] = 1.0", 2, 3),
    "a `let`": ("let last = N\nY[last] = 1.0", 3, 3),
    "a `var`": ("var at = N\nat += 4\nY[at] = 1.0", 4, 3),
    "an i32": ("let at: i32 = ctx.thread\nA[at + 64] = 1.0", 3, 3),
    "a loop that starts outside": ("for i in range(N, N + 4) { Y[i] = 1.0 }", 2, 30),
    "a loop that counts down": ("for i in range(-1, -9, -1) { Y[i] = 1.0 }", 2, 32),
    "an atomic": ("atomic_add(Y, N, 1.0 + ctx.thread)", 2, 15),
    "an atomic of a tile": ("atomic_add(A, 64, Y[0 :+ 32])", 2, 15),
}
INSIDE = {
    "first and last": "A[0] = A[63]\nY[0] = Y[N - 1]",
    "some threads": "A[ctx.thread] = Y[ctx.thread - 1]",
    "a slice that begins outside": "A[-31 :+ 32] = 1.0",
    "a slice that ends outside": "A[63 :+ 32] = 1.0\nY[N - 1 :+ 32] = 1.0",
    "half of the extent": "Y[N / 2] = 1.0",
    "less than the extent": "Y[N - 1 + ctx.thread] = 1.0",
    "another extent": "Y[M] = 1.0",
    "a loop that starts inside": "for i in range(0, 128) { A[i] = 1.0 }",
    "a branch not taken": "if 3 < 2 { A[64] = 1.0 }",
    "behind a return": "return\nA[64] = 1.0",
    "an empty loop": "for i in range(64, 64) { A[i] = 1.0 }",
    "set by one branch": "var at = N\nif ctx.thread < 9 { at = 0 }\nY[at] = 1.0",
    "set in the loop": "var at = N\nfor i in range(0, 4) { Y[at - 1] = 1.0\nat = at - 1 }",
    "a narrow integer that wraps": "var at: i32 = 1073741824\nA[at * 4] = 1.0",
    "a position that changed": "var i = ctx.thread\nlet was = i % 8\ni = 0\nY[N - was] = 1.0",
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_an_index_outside_for_every_thread_is_told(case: str) -> None:
    """One PH214 stands at the index, and nothing else is said of the tensor."""
    statements, line, column = OUTSIDE[case]
    found = [f for f in findings(body(statements, PARAMETERS)) if f[0] == "PH214"]
    assert found == [("PH214", line, column)]


@pytest.mark.parametrize("case", INSIDE)
def test_what_some_thread_may_reach_is_not_told(case: str) -> None:
    """Masks at the edge of the data are what the language is for."""
    assert "PH214" not in [f[0] for f in findings(body(INSIDE[case], PARAMETERS))]


@pytest.mark.parametrize(
    ("statement", "message", "help"),
    [
        (
            "A[64] = 1.0",
            "`A` has 64 elements, 0 to 63, found index 64: every thread that gets here stores nothing",
            "the last index is 63: correct it, or leave this out",
        ),
        (
            "Y[0] = Z[-1, 2]",
            "axis 0 of `Z` has M elements, 0 to M - 1, found index -1: "
            "every thread that gets here reads 0",
            "no index counts from the end: the last is M - 1",
        ),
        (
            "A[0 :+ 32] = X[0, 0, 40 :+ 32]",
            "axis 2 of `X` has 40 elements, 0 to 39, found indices 40 to 71: "
            "every element of the slice reads 0",
            "the last index is 39: correct it, or leave this out",
        ),
        (
            "Y[2 * N + 1 + ctx.thread] = 1.0",
            "`Y` has N elements, 0 to N - 1, found index 2 * N + 1 or more: "
            "every thread that gets here stores nothing",
            "the last index is N - 1: correct it, or leave this out",
        ),
        (
            "Y[N :+ 4] = 1.0",
            "`Y` has N elements, 0 to N - 1, found indices N to N + 3: "
            "every element of the slice is stored nowhere",
            "the last index is N - 1: correct it, or leave this out",
        ),
    ],
)
def test_the_message_says_what_comes_of_it(statement: str, message: str, help: str) -> None:
    """Extent, first and last index, the index found, its effect; the help gives the last index."""
    said = [(d.message, d.help) for d in body(statement, PARAMETERS).findings if d.code == "PH214"]
    assert said == [(message, help)]


def test_a_configuration_is_held_to_its_own_constants() -> None:
    """An extent that a value fixes counts as that value."""
    text = "kernel k(Y: tensor<f32>[N]) {\n  Y[100] = 1.0\n}"
    assert "PH214" not in [d.code for d in typed(text).findings]
    assert "PH214" in [d.code for d in typed(text, N=64).findings]


def test_it_tells_the_truth() -> None:
    """A run does what the warning says: the store vanishes, the read is 0."""
    import numpy as np

    with pytest.warns(ph.PhobosWarning, match="PH214"):
        kernel = ph.compile("kernel k(Y: tensor<f32>[N]) {\n  Y[N] = 5.0\n  Y[0] = Y[-1]\n}").k
    array = np.full(4, 7, np.float32)
    kernel(array, grid=1)
    assert array.tolist() == [0, 7, 7, 7]


def test_no_example_has_one() -> None:
    """The examples mask only where some thread is inside."""
    files = sorted((Path(__file__).parents[2] / "examples").glob("**/*.ph"))
    assert files
    for path in files:
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            ph.load(path)
        assert not [w for w in said if "PH214" in str(w.message)], path
