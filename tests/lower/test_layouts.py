"""The layout algebra owns every element exactly once, up to replication."""

import itertools
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phobos_nb.lower.layouts import (
    Layout,
    ThreadGrid,
    blocked,
    collapse,
    partials,
    permute,
    thread_tile,
    whole_axis,
)

extents = st.integers(1, 70)
shapes = st.one_of(st.tuples(extents), st.tuples(extents, extents), st.tuples(*[st.integers(1, 9)] * 3))
threads = st.sampled_from([32, 64, 96, 128, 160, 256, 1024])
powers = st.sampled_from([1, 2, 4, 8])


def assert_partition(layout: Layout) -> None:
    owners = Counter(e for t in range(layout.threads) for e in layout.elements(t))
    assert set(owners) == set(itertools.product(*map(range, layout.shape)))
    assert set(owners.values()) == {layout.replication}
    firsts = Counter(e for t in range(layout.threads) if layout.is_first(t) for e in layout.elements(t))
    assert set(firsts.values()) == {1}


@settings(max_examples=60, deadline=None)
@given(shapes, threads, powers, st.sampled_from([0, 32]), st.integers(0, 2))
def test_blocked_partitions(shape, threads, vector, cap, fastest):
    """Every element has one first owner and `replication` owners; the cover holds all slots."""
    layout = blocked(shape, threads, vector, cap=cap, fastest=fastest % len(shape))
    assert_partition(layout)
    reach = [max(layout.held(threads - 1))[a] + 1 for a in range(len(shape))]
    assert all(r <= c for r, c in zip(reach, layout.cover, strict=True))


@st.composite
def grids(draw):
    warps = draw(st.sampled_from([1, 2, 3, 8]))
    rows = draw(st.sampled_from([d for d in range(1, warps + 1) if warps % d == 0]))
    lanes = draw(st.sampled_from([1, 2, 4, 8, 16, 32]))
    pair = (rows, warps // rows)
    grid = ThreadGrid(pair, (lanes, 32 // lanes), (draw(powers), draw(powers)))
    return warps * 32 * draw(st.sampled_from([1, 2])), grid


@settings(max_examples=60, deadline=None)
@given(st.tuples(extents, extents), grids())
def test_thread_tile_partitions(shape, threads_grid):
    """A SIMT accumulator of any shape and grid is a partition too."""
    assert_partition(thread_tile(shape, *threads_grid))


def test_winner_of_the_sgemm():
    """128 x 256 on 256 threads is the thread tile of the measured winner, element by element."""
    layout = thread_tile((128, 256), 256, ThreadGrid((2, 4), (4, 8), (4, 4)))
    assert layout.slots == (16, 8)
    thread = 5 * 32 + 19
    rows = [64 * (5 // 4) + 19 // 8 * 4 + i * 16 + j for i in range(4) for j in range(4)]
    columns = [64 * (5 % 4) + 19 % 8 * 4 + i * 32 + j for i in range(2) for j in range(4)]
    assert list(layout.elements(thread)) == list(itertools.product(rows, columns))


@settings(max_examples=60, deadline=None)
@given(st.tuples(extents, extents), threads, powers, st.integers(0, 1))
def test_collapse_follows_the_owner(shape, threads, vector, axis):
    """Who holds an element of a tile holds the collapsed element of its row or column."""
    layout = blocked(shape, threads, vector)
    small = collapse(layout, axis)
    assert_partition(small)
    for thread in range(0, threads, 7):
        rows = {tuple(0 if a == axis else c for a, c in enumerate(e)) for e in layout.elements(thread)}
        assert rows <= set(small.elements(thread))


@settings(max_examples=60, deadline=None)
@given(st.tuples(extents, extents), threads, powers, st.integers(0, 1))
def test_partials_cover_the_reduced_axis(shape, threads, vector, axis):
    """Lanes joined by the xor masks plus the crossing digits are exactly the owners along an axis."""
    layout = blocked(shape, threads, vector)
    masks, parts = layout.lane_masks(axis), partials(layout, axis)
    assert_partition(parts)
    lanes = 2 ** len(masks)
    together = lanes * parts.shape[axis]
    alone = 1
    for digit in layout.axes[axis].digits:
        alone *= digit.modulus
    assert together == alone
    for thread in range(0, threads, 5):
        for mask in masks:
            assert set(parts.elements(thread)) == set(parts.elements(thread ^ mask))


@settings(max_examples=40, deadline=None)
@given(st.tuples(extents, extents), threads, powers)
def test_permute_and_whole_axis(shape, threads, vector):
    """Transposing swaps coordinates of every thread; a whole axis has no digits left."""
    layout = blocked(shape, threads, vector)
    swapped = permute(layout, (1, 0))
    for thread in range(0, threads, 11):
        assert {(c, r) for r, c in layout.elements(thread)} == set(swapped.elements(thread))
    columns = whole_axis(layout, 0)
    assert_partition(columns)
    assert columns.axes[0].digits == ()


@pytest.mark.parametrize(
    ("shape", "threads", "vector", "run"),
    [((64, 64), 256, 4, 4), ((5, 7), 256, 4, 4), ((3, 1), 32, 4, 1), ((16, 1000), 256, 8, 8)],
)
def test_run_is_contiguous(shape, threads, vector, run):
    """The run of the innermost axis is as long as asked and starts at a multiple of itself."""
    layout = blocked(shape, threads, vector)
    axis = layout.axes[-1]
    assert axis.run == run
    for thread in range(threads):
        assert axis.base(thread) % run == 0


def test_rows_stay_in_a_warp_with_a_cap():
    """A capped row is reduced by shuffles alone, an uncapped long one leaves the warp."""
    assert blocked((16, 1024), 256, 4, cap=32).crossing_digits(1) == ()
    assert [d.modulus for d in blocked((16, 1024), 256, 4).crossing_digits(1)] == [8]
