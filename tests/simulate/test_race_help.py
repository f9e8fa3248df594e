"""What the help of a race says is true of where its accesses stand: followed to the letter, it mends."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.simulate.records import SimulationResult

RNG = np.random.default_rng(5)
FLOATS = RNG.standard_normal(256).astype(np.float32)
BINS = RNG.integers(0, 30, 256).astype(np.int32)


@dataclass(frozen=True)
class Case:
    """A body that races, what its help says, and the body with that done."""

    raced: str
    says: tuple[str, ...]
    mended: str
    right: Callable[[np.ndarray], np.ndarray]
    given: np.ndarray = field(default_factory=lambda: FLOATS)
    blocks: int = 1

    def run(self, body: str, seed: int) -> SimulationResult:
        """Simulate a body."""
        kind = "f32" if self.given.dtype == np.float32 else "i32"
        text = (
            f"@launch(256)\nkernel k(X: tensor<{kind}>[N], Y: tensor<{kind}>[N]) {{\n"
            f"  var s: shared<{kind}>[256]\n  let t = ctx.thread\n{body}}}\n"
        )
        x = self.given
        return ph.compile(text, chip="sm_80").k.simulate(x, x * 0, grid=self.blocks, seed=seed)


def counted(x: np.ndarray) -> np.ndarray:
    return np.bincount(x, minlength=256).astype(np.int32)


def reversed_of_100(x: np.ndarray) -> np.ndarray:
    return np.concatenate([x[:100][::-1], np.zeros(156, np.float32)])


def first_only(value: float) -> np.ndarray:
    return np.array([value] + [0.0] * 255, np.float32)


TREE = """  s[t] = X[t]
  barrier()
  var half = 128
  while half > 0 {
    if t < half {
      s[t] = s[t] + s[t + half]
    }
%s    half = half / 2
  }
  if t == 0 {
    Y[0] = s[0]
  }
"""
SCAN = """  s[t] = X[t]
  barrier()
  var step = 1
  while step < 256 {
%s    step = step * 2
  }
  Y[t] = s[t]
"""
ROUNDS = """  var sum: f32 = 0.0
  for i in range(4) {
    s[t] = X[t] + f32(i)
%s    if t < 300 {
      sum += s[255 - t]
    }
%s  }
  Y[t] = sum
"""
GUARDED = """  if t < 100 {
    s[t] = X[t]
%s    Y[t] = s[99 - t]
  }
"""
APART = """  if t %s 128 {
    s[t] = X[t]
  }%s else {
    Y[t] = s[t - 128] + 1.0
  }
"""
STRIDED = """  var old: f32 = 0.0
%s    s[t] = X[i]
%s    Y[i] = s[99 - t]
%s"""
CASES = {
    "reversed": Case(
        "  s[t] = X[t]\n  Y[t] = s[255 - t]\n",
        ("put a barrier behind line 5 and before line 6",),
        "  s[t] = X[t]\n  barrier()\n  Y[t] = s[255 - t]\n",
        lambda x: x[::-1],
    ),
    "a tree without a barrier in its loop": Case(
        TREE % "",
        (
            "put a barrier at the end of the body of the `while` in line 8, "
            "outside of the `if` in line 9",
        ),
        TREE % "    barrier()\n",
        lambda x: first_only(float(x.astype(np.float64).sum())),
    ),
    "a scan without a barrier in its loop": Case(
        SCAN % "    if t >= step {\n      s[t] = s[t] + s[t - step]\n    }\n",
        (
            "line 10 reads what others write there: read into a variable",
            "end it behind the reading, put a barrier there, and begin it again before the write",
            "and put a barrier at the end of the body of the `while` in line 8, outside of the `if`",
        ),
        SCAN
        % (
            "    var v: f32 = 0.0\n    if t >= step {\n      v = s[t] + s[t - "
            "step]\n    }\n    barrier()\n"
            "    if t >= step {\n      s[t] = v\n    }\n    barrier()\n"
        ),
        lambda x: np.cumsum(x.astype(np.float64)),
    ),
    "a scan with a barrier at the loop's end only": Case(
        SCAN % "    if t >= step {\n      s[t] = s[t] + s[t - step]\n    }\n    barrier()\n",
        ("line 10 reads what others write there", "end it behind the reading, put a barrier there"),
        SCAN
        % (
            "    var v: f32 = 0.0\n    if t >= step {\n      v = s[t] + s[t - "
            "step]\n    }\n    barrier()\n"
            "    if t >= step {\n      s[t] = v\n    }\n    barrier()\n"
        ),
        lambda x: np.cumsum(x.astype(np.float64)),
    ),
    "no barrier where the loop comes round": Case(
        ROUNDS % ("    barrier()\n", ""),
        ("put a barrier at the end of the body of the `for` in line 6, outside of the `if` in line 9",),
        ROUNDS % ("    barrier()\n", "    barrier()\n"),
        lambda x: 4 * x[::-1] + 6.0,
    ),
    "no barrier in the loop but where it comes round": Case(
        ROUNDS % ("", "    barrier()\n"),
        ("put a barrier behind line 7 and before the `if` in line 8",),
        ROUNDS % ("    barrier()\n", "    barrier()\n"),
        lambda x: 4 * x[::-1] + 6.0,
    ),
    "no barrier in the loop": Case(
        ROUNDS % ("", ""),
        (
            "put a barrier behind line 7 and before the `if` in line 8, and put a barrier at the end of "
            "the body of the `for` in line 6, outside of the `if` in line 8",
        ),
        ROUNDS % ("    barrier()\n", "    barrier()\n"),
        lambda x: 4 * x[::-1] + 6.0,
    ),
    "two branches of one if": Case(
        APART % ("<", ""),
        (
            "lines 6 and 8 stand in different branches of the `if` in line 5, and "
            "no barrier may stand in "
            "those: end that `if` behind the branch with line 6, put a barrier "
            "there, and begin a second",
        ),
        APART.replace(" else {", "\n  if t >= 128 {") % ("<", "\n  barrier()"),
        lambda x: np.concatenate([x[:128] * 0, x[:128] + np.float32(1.0)]),
    ),
    "both in one branch": Case(
        GUARDED % "",
        (
            "no barrier may stand in the `if` in line 5, which parts threads: end "
            "it behind line 6, put a "
            "barrier there, and begin it again before line 7",
        ),
        GUARDED % "  }\n  barrier()\n  if t < 100 {\n",
        reversed_of_100,
    ),
    "behind a return of some": Case(
        "  if t >= 100 { return }\n  s[t] = X[t]\n  Y[t] = s[99 - t]\n",
        (
            "put what they leave out into an `if`, and put a barrier behind line 6 "
            "and before line 7, outside",
        ),
        "  if t < 100 { s[t] = X[t] }\n  barrier()\n  if t < 100 { Y[t] = s[99 - t] }\n",
        reversed_of_100,
    ),
    "in a loop that some threads leave earlier": Case(
        STRIDED % ("  for i in range(t, 100, 256) {\n", "", "  }\n"),
        (
            "let all threads go round the `for` in line 6 equally often, with an "
            "`if` in it for what some "
            "leave out, and put a barrier behind line 7 and before line 8, outside of that `if`",
        ),
        STRIDED
        % (
            "  for j in range(0, 100, 256) {\n    let i = j + t\n    if i < 100 {\n",
            "    }\n    barrier()\n    if i < 100 {\n",
            "    }\n    barrier()\n  }\n",
        ),
        reversed_of_100,
    ),
    "a condition reads what the branch writes": Case(
        "  s[t] = X[t]\n  barrier()\n  if s[255 - t] > 0.0 {\n    s[t] = 9.0\n  }\n  Y[t] = s[t]\n",
        ("read what the `if` in line 7 asks for into a variable, put a barrier behind that",),
        "  s[t] = X[t]\n  barrier()\n  let a = s[255 - t]\n  barrier()\n"
        "  if a > 0.0 {\n    s[t] = 9.0\n  }\n  Y[t] = s[t]\n",
        lambda x: np.where(x[::-1] > 0, np.float32(9.0), x),
    ),
    "a histogram": Case(
        "  let v = X[t]\n  Y[v] = Y[v] + 1\n",
        ("several threads read one element of `Y` and write it again", "use `atomic_add(Y, v, 1)`"),
        "  let v = X[t]\n  atomic_add(Y, v, 1)\n",
        counted,
        BINS,
    ),
    "a histogram of several CTAs": Case(
        "  Y[X[t]] += 1\n",
        ("in line 5 several threads read one element of `Y`", "use `atomic_add(Y, X[t], 1)`"),
        "  atomic_add(Y, X[t], 1)\n",
        lambda x: 2 * counted(x),
        BINS,
        2,
    ),
    "a histogram in two statements": Case(
        "  let v = X[t]\n  let old = Y[v]\n  Y[v] = old + 1\n",
        ("no barrier makes right: use `atomic_add(Y, v, 1)`",),
        "  let v = X[t]\n  atomic_add(Y, v, 1)\n",
        counted,
        BINS,
    ),
    "a histogram in shared memory": Case(
        "  s[t] = 0\n  barrier()\n  let v = X[t]\n  s[v] = s[v] + 1\n  barrier()\n  Y[t] = s[t]\n",
        ("let one thread do it, or use an atomic on a tensor, as shared arrays have none",),
        "  let v = X[t]\n  atomic_add(Y, v, 1)\n",
        counted,
        BINS,
    ),
    "a largest": Case(
        "  Y[0] = max(Y[0], X[t])\n",
        ("use `atomic_max(Y, 0, X[t])`",),
        "  atomic_max(Y, 0, X[t])\n",
        lambda x: np.array([x.max()] + [0] * 255, np.int32),
        BINS,
    ),
}


def helps(result: SimulationResult) -> list[str]:
    return list(dict.fromkeys(race.help for race in result.races))


@pytest.mark.parametrize("seed", [0, 3])
@pytest.mark.parametrize("name", CASES)
def test_help_followed_to_the_letter_mends(name: str, seed: int):
    """A help names the branch or loop that matters, and the program with it done is clean and right."""
    case = CASES[name]
    told = helps(case.run(case.raced, seed))
    if seed == 0:
        assert len(told) == 1, told
    for said in case.says:
        assert any(said in text for text in told), told
    for again in (0, seed):
        result = case.run(case.mended, again)
        assert result.clean, result
        np.testing.assert_allclose(result.outputs["Y"], case.right(case.given), atol=1e-4)


def test_a_help_speaks_of_a_loop_only_where_one_goes_round():
    """Warps in random order may read first: without a loop one barrier mends that all the same."""
    case = CASES["reversed"]
    for seed in range(1, 9):
        assert helps(case.run(case.raced, seed)) == ["put a barrier behind line 5 and before line 6"]


def test_a_barrier_that_is_told_is_none_that_is_refused():
    """Where the checker refuses a barrier, as PH301, none is told to go there."""
    body = "  s[t] = X[t]\n  for i in range(2) {\n    if t < 100 {\n%s    }\n  }\n  Y[t] = s[t]\n"
    case = CASES["reversed"]
    race = "      let a = s[99 - t]\n%s      s[t] = a\n"
    with pytest.raises(ph.PhobosError, match="PH301"):
        case.run(body % (race % "      barrier()\n"), 0)
    told = " ".join(helps(case.run(body % (race % ""), 0)))
    assert "no barrier may stand in the `if` in line 7" in told
    assert "outside of the `if` in line 7" in told


def test_a_function_keeps_the_general_help():
    """Who calls a function may do so in a loop: of its lines no structure is claimed."""
    text = """
fn turned(s: shared<f32>[64], v: f32) -> f32 {
  s[ctx.thread] = v
  return s[63 - ctx.thread]
}
@launch(64)
kernel k(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var s: shared<f32>[64]
  Y[ctx.thread] = turned(s, X[ctx.thread])
}
"""
    x: Any = FLOATS[:64].copy()
    (race,) = ph.compile(text, chip="sm_80").k.simulate(x, x * 0, grid=1).races
    assert race.help == "put a barrier behind line 3 and before line 4 comes next"
