"""What a person reads of findings: one race per pair of lines, a help, a left-out barrier by name."""

from __future__ import annotations

from typing import Any, get_args

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.simulate import advice
from phobos_nb.simulate.records import FaultKind, Place, Race, RaceKind, SimulationResult
from tests.documented import ROOT, steps

GEMM = """kernel rg(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  let i = ctx.block.y * 32
  let j = ctx.block.x * 32
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 16) {
    var a = A[i :+ 32, k :+ 16]
    var b = B[k :+ 16, j :+ 32]
    acc += dot(a, b)
  }
  C[i :+ 32, j :+ 32] = acc
}
"""


def arrays() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A, B and C of a product whose sizes are no multiples of a tile."""
    return np.ones((45, 37), np.float32), np.ones((37, 51), np.float32), np.zeros((45, 51), np.float32)


@pytest.fixture(scope="module")
def dropped() -> SimulationResult:
    """The product without its barrier 1."""
    return ph.compile(GEMM, chip="sm_80").rg.simulate(*arrays(), drop_barrier=1)


def test_a_lost_barrier_is_one_race_per_line_and_buffer(dropped: SimulationResult):
    """The unrolled product's pairs of operations are two races; nothing of them is lost."""
    assert {(r.first.line, r.second.line, r.buffer) for r in dropped.races} == {
        (6, 8, "a for dot"),
        (7, 8, "b for dot"),
    }
    assert len(dropped.races) == 2
    for race in dropped.races:
        assert race.also
        assert race.count > sum(r.count for r in race.also) > 0
        assert f"by {len(race.also) + 1} pairs of operations of these lines in stage" in str(race)
        assert {0} <= set(race.stages)
    assert all(len(line) < 330 for line in repr(dropped).splitlines())


def test_a_left_out_barrier_is_named_as_what_it_is(dropped: SimulationResult):
    """The barrier is the compiler's: nobody is told to put one, but which one was left out."""
    for race in dropped.races:
        assert race.help.startswith(
            "this is what barrier 1 (before line 8), left out with drop_barrier=1, is for"
        )
    assert "put a barrier" not in repr(dropped)


def test_the_barrier_in_its_place_leaves_nothing_to_say():
    """The same call with all barriers is clean."""
    assert ph.compile(GEMM, chip="sm_80").rg.simulate(*arrays()).clean


@pytest.mark.parametrize("kind", get_args(FaultKind))
def test_every_kind_of_fault_has_a_help(kind: str):
    """The help of a fault never is empty."""
    assert len(advice.FAULTS[kind]) > 20


@pytest.mark.parametrize("kind", get_args(RaceKind))
def test_every_kind_of_race_has_a_help(kind: RaceKind):
    """With known lines in one CTA, each kind of race says what mends it."""
    cta, first, second = (0, 0, 0), Place("store", 1, 3, 1), Place("load", 2, 4, 1)
    assert len(Race(kind, first, second, cta, cta, 0, 1, "shared", (0,)).help) > 20


def test_barriers_are_printed_one_a_line():
    """The list of barriers is a tuple, and its text has a line each with state, place and reason."""
    kernel = ph.compile(GEMM, chip="sm_80").rg
    for drop, state in ((None, "kept"), (1, "left out on request")):
        barriers = kernel.compile(drop_barrier=drop).barriers
        assert isinstance(barriers, tuple)
        lines = repr(barriers).splitlines()
        assert len(lines) == len(barriers)
        assert lines[0] == f"barrier 1 before line 8, {state}: {barriers[0].reason}"


def test_an_unknown_option_is_answered_with_those_there_are():
    """Options of the call are listed beside the parameters, the nearest name first."""
    kernel = ph.compile(GEMM, chip="sm_80").rg
    with pytest.raises(TypeError, match="has no parameter rtol") as caught:
        kernel.compare(*arrays(), rtol=1)
    assert "did you mean tolerance? its parameters: A, B, C; options" in str(caught.value)
    with pytest.raises(TypeError, match="did you mean seed"):
        kernel.simulate(*arrays(), sed=1)
    with pytest.raises(TypeError, match="options of `simulate`: grid, drop_barrier, ctas"):
        kernel.simulate(*arrays(), bogus=1)


def test_no_seed_is_the_default():
    """`seed=None` is the order without a seed."""
    kernel = ph.compile(GEMM, chip="sm_80").rg
    one, other = (kernel.simulate(*arrays(), seed=s, drop_barrier=1) for s in (None, 0))
    assert one.races == other.races


def test_the_documented_use_runs(monkeypatch: pytest.MonkeyPatch):
    """The Python blocks of docs/simulator.md run in order, and find what the text says."""
    monkeypatch.chdir(ROOT)
    names: dict[str, Any] = {}
    blocks = [step.code for step in steps("simulator") if step.language == "python"]
    assert len(blocks) >= 2
    for block in blocks:
        exec(block, names)
    assert names["clean"].clean
    assert not names["lost"].clean
    assert len(names["same"]) == 0
