"""Buffers that live at the same time never share bytes; others may."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phobos_nb.diagnostics import Diagnostics, PhobosError
from phobos_nb.lower.plan_shared_memory import ALIGNMENT, REUSE_ABOVE, LiveBuffer, check_limit, place
from phobos_nb.target import get


def buffer(name, count, first, last, line=1) -> LiveBuffer:
    return LiveBuffer(name, "f32", (count,), 4, first, last, line)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(1, 9000), st.integers(0, 20), st.integers(0, 20)), max_size=8))
def test_live_buffers_are_disjoint(sizes):
    """Any two buffers alive at one position have disjoint bytes inside the total."""
    buffers = [buffer(f"b{i}", n, a, a + d) for i, (n, a, d) in enumerate(sizes)]
    plan = place(buffers)
    for i, (one, where) in enumerate(zip(buffers, plan.buffers, strict=True)):
        assert where.offset % ALIGNMENT == 0
        assert where.offset + where.bytes <= plan.total
        for other, there in list(zip(buffers, plan.buffers, strict=True))[:i]:
            if one.meets(other):
                apart = where.offset + where.bytes <= there.offset
                assert apart or there.offset + there.bytes <= where.offset


def test_large_buffers_share_bytes():
    """Two buffers of 20 KB that never live together take 20 KB, not 40."""
    plan = place([buffer("a", 5120, 0, 3), buffer("b", 5120, 4, 6)])
    assert plan.total == 20480
    assert [b.offset for b in plan.buffers] == [0, 0]


def test_small_buffers_stay_apart():
    """Below the reuse threshold every buffer has bytes of its own, so that no barrier is added."""
    plan = place([buffer("a", 32, 0, 3), buffer("b", 32, 4, 6)])
    assert plan.total == 256 < REUSE_ABOVE
    assert [b.offset for b in plan.buffers] == [0, 128]


def test_too_much_is_refused_with_both_numbers():
    """PH510 names the needed and the allowed bytes and the largest buffer with its line."""
    plan = place([buffer("a", 40000, 0, 3, line=7), buffer("b", 30000, 0, 3, line=8)])
    diagnostics = Diagnostics()
    check_limit(plan, get("sm_75"), diagnostics, None)
    with pytest.raises(PhobosError) as caught:
        diagnostics.raise_errors()
    (found,) = caught.value.diagnostics
    assert found.code == "PH510"
    assert "280064 bytes" in found.message
    assert str(get("sm_75").shared_per_cta_optin) in found.message
    assert "a at line 7" in found.help
