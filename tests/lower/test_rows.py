"""Reductions, scans, transposes and attention lower with the barriers that they need and no more."""

import re

import pytest

from tests.lower.kernels import (
    arg_max,
    attention,
    block_total,
    column_sums,
    flat,
    running_sum,
    softmax,
    transposed,
)
from tests.lower.test_modules import lowered, names


@pytest.mark.parametrize("shape", [(8, 256), (64, 64), (1, 32), (3, 5)])
def test_rows_inside_a_warp_need_no_shared_memory(shape):
    """A softmax whose rows fit a warp each uses shuffles alone: no bytes, no barrier."""
    result = lowered(softmax(shape))
    assert result.shared_bytes == 0
    assert result.barriers == ()
    assert "gpu.shuffle" in names(result)


def test_long_rows_cross_warps_through_shared_memory():
    """A row over all warps exchanges its parts once per reduction, one barrier each."""
    result = lowered(softmax((1, 1000)))
    assert [b.name for b in result.shared_plan.buffers] == [
        "partial results of X",
        "partial results of an expression of X",
    ]
    assert len(result.barriers) == 2


@pytest.mark.parametrize("make", [transposed, running_sum, flat])
def test_moves_between_layouts_take_one_barrier(make):
    """A tile that changes threads is written, and read after one barrier."""
    result = lowered(make())
    assert len(result.shared_plan.buffers) == 1
    assert len(result.barriers) == 1
    assert re.search(r"written by (lane \d+ of warp \d+|one thread) at", result.barriers[0].reason)


@pytest.mark.parametrize("make", [column_sums, arg_max, block_total, lambda: arg_max((1, 1000))])
def test_other_combinations(make):
    """Column sums, argmax and CTA-wide sums lower to valid modules."""
    lowered(make())


@pytest.mark.parametrize("size", [(32, 32, 16, 128), (64, 64, 64, 128), (16, 40, 24, 64)])
def test_attention(size):
    """Q is staged once in front of the loop; scores, maxima and sums keep their rows' threads."""
    result = lowered(attention(*size))
    order = [op.name for op in result.staged.walk()]
    assert order.index("staged.write") < order.index("scf.for")
    assert not any("moved between lanes" in b.name for b in result.shared_plan.buffers)


def test_in_place_store_of_own_elements_needs_no_barrier():
    """Storing what the same threads loaded is found not to need a barrier, and listed as such."""
    from tests.lower.kernels import saxpy

    (elided,) = lowered(saxpy()).barriers
    assert (elided.kept, elided.number) == (False, 0)
    assert elided.reason.endswith("each lane meets only its own elements again")
