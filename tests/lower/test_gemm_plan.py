"""The heuristic for FMA dots finds the measured winner and obeys overrides."""

from hypothesis import given, settings
from hypothesis import strategies as st

from phobos_nb.lower.gemm_plan import DotShape, choose, wavefronts
from phobos_nb.target import get


def test_winner_is_found():
    """128 x 256 x 8 f32 on 256 threads gives 2 x 4 warps, 4 x 8 lanes and fragments of 4."""
    plan = choose(DotShape(128, 256, 8, 4, 4), 256, get("sm_90a"))
    assert plan.grid.warps == (2, 4)
    assert plan.grid.lanes == (4, 8)
    assert plan.grid.fragment == (4, 4)


def test_override_by_name():
    """THREAD_M fixes the rows per thread, STAGES the buffers; an impossible value changes nothing."""
    shape = DotShape(128, 128, 8, 4, 4)
    plan = choose(shape, 256, get("sm_90a"), {"THREAD_M": 16, "STAGES": 4})
    assert plan.accumulator(shape, 256).slots[0] == 16
    assert plan.stages == 4
    assert choose(shape, 256, get("sm_90a"), {"THREAD_M": 999}) == choose(shape, 256, get("sm_90a"))


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 130), st.integers(1, 130), st.sampled_from([32, 96, 256]))
def test_any_shape_has_a_plan(rows, columns, threads):
    """Every shape and thread count has an accumulator layout that reaches all of the tile."""
    shape = DotShape(rows, columns, 8, 4, 4)
    layout = choose(shape, threads, get("sm_80")).accumulator(shape, threads)
    assert all(c >= n for c, n in zip(layout.cover, layout.shape, strict=True))


def test_wavefronts_of_the_winner():
    """The figures of THREAD_IR.md section 2: A by lane/8 costs 2, B by lane%8 costs 4."""
    assert wavefronts([lane // 8 * 4 for lane in range(32)], 16) == 2
    assert wavefronts([lane % 8 * 4 for lane in range(32)], 16) == 4
