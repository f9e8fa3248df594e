"""Which loops run ahead, in how many stages, and why others do not."""

import pytest
from xdsl.dialects.builtin import f16

import phobos_nb as ph
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


GEMM = """
@launch(64)
kernel gemm(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N], stop: i32) {
  let i = ctx.block.x * 32
  let j = ctx.block.y * 32
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 8) {
    let a = A[i :+ 32, k :+ 8]
    let b = B[k :+ 8, j :+ 32]
    STATEMENT
  }
  C[i :+ 32, j :+ 32] = acc
}
"""


def loop_of(statement):
    (loop,) = ph.compile(GEMM.replace("STATEMENT", statement), chip="sm_80").gemm.compile().loops
    return loop


@pytest.mark.parametrize("statement", ["acc += p", "acc = acc + p", "acc = p + acc"])
def test_a_product_with_a_name_accumulates_all_the_same(statement):
    """The sum is found by values: a `let` between dot and sum changes nothing."""
    loop = loop_of(f"let p = dot(a, b)\n    {statement}")
    assert (loop.stages, loop.mode, loop.reason) == (3, "async", "")


def test_a_named_product_gives_the_same_code():
    """With and without the name, the same thread MLIR but for the lines."""
    texts = [
        str(ph.compile(GEMM.replace("STATEMENT", s), chip="sm_80").gemm.compile().cuda)
        for s in ("acc += dot(a, b)", "let p = dot(a, b); acc = p + acc")
    ]
    assert texts[0] == texts[1]


@pytest.mark.parametrize(
    ("statement", "reason"),
    [
        ("acc += dot(2.0 * a, b)", "a loaded tile is not for a dot alone (arith.mulf)"),
        ("if k >= stop { break }\n    acc += dot(a, b)", "the loop may end at any slice"),
        ("if stop > 0 { acc += dot(a, b) }", "the dot stands under a condition"),
    ],
)
def test_a_loop_that_cannot_run_ahead_says_what_hinders(statement, reason):
    """The reason names what stands in the loop, for loops that end early too."""
    loop = loop_of(statement)
    assert (loop.line, loop.stages) == (7, 1)
    assert loop.reason.startswith(reason)
