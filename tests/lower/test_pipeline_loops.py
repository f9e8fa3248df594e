"""Which loops run ahead, in how many stages, and why others do not."""

import pytest
from xdsl.dialects.builtin import f16

from phobos_nb.contract import Variant
from phobos_nb.lower.pipeline import KernelFacts, lower
from phobos_nb.target import get
from tests.lower.kernels import attention, gemm
from tests.lower.test_modules import lowered, names


def test_gemm_is_asynchronous_in_three_stages():
    """On sm_80 the f32 GEMM copies asynchronously in 3 stages, with one barrier per slice."""
    result = lowered(gemm(), constants={"SLICES": 1})
    (loop,) = result.loops
    assert (loop.line, loop.stages, loop.mode, loop.reason) == (6, 3, "async", "")
    assert len([b for b in result.barriers if b.kept]) == 1
    assert {b.shape[0] for b in result.shared_plan.buffers} == {3}
    assert names(result).count("nvgpu.device_async_wait") == 2


@pytest.mark.parametrize("stages", [1, 2, 4])
def test_stages_by_name(stages):
    """STAGES fixes the depth; 1 turns pipelining off."""
    (loop,) = lowered(gemm(), constants={"STAGES": stages}).loops
    assert loop.stages == stages


def test_half_precision_goes_through_registers():
    """f16 operands that are transposed on the way cannot be copied asynchronously: two stages."""
    result = lowered(gemm((32, 32, 16), 128, element=f16, name="f16"))
    (loop,) = result.loops
    assert (loop.stages, loop.mode) == (2, "registers")
    assert "nvgpu.device_async_copy" not in names(result)


def test_attention_says_why_not():
    """A loop that does more than accumulate is reported with its line and the reason."""
    (loop,) = lowered(attention()).loops
    assert loop.stages == 1
    assert loop.line == 4
    assert "computed in the loop" in loop.reason or "more than load" in loop.reason


def test_two_stages_come_before_a_third_cta_on_the_sm():
    """On sm_75 two stages of 32 x 32 x 32 fit three times in 64 KB: pipelined, not refused."""
    kernel = gemm((32, 32, 32), 256)
    result = lower(kernel.module, KernelFacts(kernel.parameters), get("sm_75"), Variant())
    assert [loop.stages for loop in result.loops] == [2]
