"""The simulator keeps its speed."""

import pytest

from tests.simulate.speed import RUNS, timed


@pytest.mark.parametrize(("run", "limit"), [("plain", 4), ("races and banks", 10)])
def test_a_gemm_of_1024_cubed(run, limit):
    """A GEMM of 1024 cubed takes at most 4 s of CPU time, 10 s with races and banks."""
    assert timed(RUNS[run])["cpu_s"] <= limit
