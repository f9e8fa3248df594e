"""The measured GEMM form: right, clean, its wavefronts, and every mutant of its synchronisation."""

import numpy as np
import pytest

from phobos_nb.ir.dialects.nvgpu import DeviceAsyncWaitOp


def ops_named(gemm, name):
    return [op for op in gemm.module.walk() if op.name == name]


@pytest.mark.parametrize("shape", [(128, 256, 64), (256, 512, 64), (128, 256, 8)])
def test_right_and_clean(gemm, product, shape):
    """The product is within f32 rounding of float64, and nothing is reported."""
    result, error = product(gemm, *shape)
    assert error < 1e-6
    assert result.races == []
    assert result.faults == []


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_any_order_of_warps_gives_the_same_bits(gemm, product, seed):
    """With barriers in place the order of the warps between them does not matter."""
    in_step, _ = product(gemm, 128, 256, 32)
    shuffled, _ = product(gemm, 128, 256, 32, seed=seed)
    assert shuffled.clean
    assert shuffled.outputs["C"].tobytes() == in_step.outputs["C"].tobytes()
    assert [a.wavefronts for a in shuffled.accesses] == [a.wavefronts for a in in_step.accesses]


def test_wavefronts_of_the_fragments(gemm, product):
    """Per warp: A fragments 2, B fragments 4, 4-byte copies into padded rows 1, wide ones unknown."""
    result, _ = product(gemm, 256, 512, 64)
    shared = [a for a in result.accesses if a.space == "shared"]
    loads = {a.wavefronts / a.executions for a in shared if a.kind == "load"}
    narrow = {a.wavefronts / a.executions for a in shared if a.kind == "async" and a.bytes_per_lane == 4}
    wide = {a.wavefronts for a in shared if a.kind == "async" and a.bytes_per_lane == 16}
    assert (loads, narrow, wide) == ({2.0, 4.0}, {1.0}, {None})


def test_barriers_are_counted(gemm, product):
    """One barrier before the loop and one in each of its iterations, per CTA."""
    result, _ = product(gemm, 256, 512, 64)
    assert [b.executions for b in result.barriers] == [4, 4 * 8]


def test_a_deleted_barrier_is_a_race(gemm, product):
    """Without the loop's barrier a load reads what another thread copied; the data is still right."""
    ops_named(gemm, "gpu.barrier")[1].detach()
    result, error = product(gemm, 128, 256, 64)
    assert error < 1e-6
    kinds = {(r.kind, r.first.op, r.second.op) for r in result.races}
    assert ("read after write", "nvgpu.device_async_copy", "vector.load") in kinds
    assert ("write after read", "vector.load", "nvgpu.device_async_copy") in kinds
    assert all(r.first_thread != r.second_thread for r in result.races)


def test_a_deleted_wait_leaves_the_copy_in_flight(gemm, product):
    """Bytes that nobody waited for are not there: reported, and NaN in the result."""
    for wait in ops_named(gemm, "nvgpu.device_async_wait"):
        wait.detach()
    result, _ = product(gemm, 128, 256, 64)
    assert {r.kind for r in result.races} >= {"copy in flight"}
    assert np.isnan(result.outputs["C"]).all()


def test_a_wait_that_leaves_one_group_too_many(gemm, product):
    """Waiting for one stage less than needed is reported on the loads of that stage."""
    for wait in ops_named(gemm, "nvgpu.device_async_wait"):
        assert isinstance(wait, DeviceAsyncWaitOp)
        later = DeviceAsyncWaitOp(wait.token, wait.groups.value.data + 1)
        wait.parent_block().insert_op_before(later, wait)
        wait.detach()
    result, _ = product(gemm, 128, 256, 64)
    assert {r.second.op for r in result.races if r.kind == "copy in flight"} == {"vector.load"}
    assert np.isnan(result.outputs["C"]).all()


def test_a_barrier_one_load_too_late(gemm, product):
    """The race is reported on exactly the load that moved in front of the barrier."""
    barrier = ops_named(gemm, "gpu.barrier")[1]
    load = barrier.next_op
    while load.name != "vector.load":
        load = load.next_op
    barrier.detach()
    load.parent_block().insert_op_after(barrier, load)
    result, error = product(gemm, 128, 256, 64)
    assert error < 1e-6
    late = {r.second.index for r in result.races if r.kind == "read after write"}
    assert len(late) == 1


def test_a_ragged_matrix_is_out_of_bounds(gemm, product):
    """The kernel takes whole tiles for granted; on a ragged A the first row outside is named."""
    result, _ = product(gemm, 120, 256, 16)
    outside = [f for f in result.faults if f.kind == "out_of_bounds"]
    assert {f.tensor for f in outside} == {"A", "C"}
    assert min(f.element for f in outside if f.tensor == "A")[0] == 120


def test_a_chosen_cta_runs_alone(gemm, product):
    """Only the tile of CTA 3 is written; the rest of C is as it was."""
    result, _ = product(gemm, 256, 512, 16, ctas=[3])
    rng = np.random.default_rng(256 + 512 + 16)
    *_, c = (rng.standard_normal(s).astype(np.float32) for s in ((256, 16), (16, 512), (256, 512)))
    changed = result.outputs["C"] != c
    assert changed[128:, 256:].mean() > 0.99
    changed[128:, 256:] = False
    assert not changed.any()
    assert result.ctas == 1


def test_copies_from_places_apart_are_not_what_ncu_counts(gemm, product):
    """A's copies read rows of 8: their banks are counted, what ncu counts is not known."""
    result, _ = product(gemm, 256, 512, 64)
    copies = [a for a in result.accesses if a.kind == "async" and a.bytes_per_lane == 4]
    assert {a.spread for a in copies} == {True}
    assert {a.counted_wavefronts for a in copies} == {None}
