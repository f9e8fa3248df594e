"""The compiler's own choices: what numbers they take, what no product can follow."""

import pytest

import phobos_nb as ph
from phobos_nb.diagnostics import PhobosError
from phobos_nb.lower.choices import CHOICES, NUMBERED, out_of_range

GEMM = """
@launch(64)
kernel gemm(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[ctx.block.x * 32 :+ 32, k :+ 8], B[k :+ 8, ctx.block.y * 32 :+ 32])
  }
  C[ctx.block.x * 32 :+ 32, ctx.block.y * 32 :+ 32] = acc
}
"""


def compiled(chip="sm_80", **choices):
    return ph.compile(GEMM, chip=chip, **choices).gemm.compile()


@pytest.mark.parametrize("name", CHOICES)
def test_a_number_that_stands_for_nothing_is_an_error_by_name(name):
    """PH405 names the choice, its numbers and the one given: never another in its place."""
    with pytest.raises(PhobosError) as caught:
        _ = compiled(**{name: -1}).loops
    (found,) = caught.value.diagnostics
    assert found.code == "PH405"
    assert found.message.startswith(f"{name}: wanted a whole number from ")
    assert found.message.endswith("got -1")


@pytest.mark.parametrize("name", NUMBERED)
def test_the_last_number_is_taken_and_the_next_is_not(name):
    """Choices that stand for names take as many numbers as there are names."""
    count = NUMBERED[name]
    assert out_of_range(name, count - 1) == ""
    assert out_of_range(name, count) == f"a whole number from 0 to {count - 1}"


def test_a_loop_is_split_in_so_many_parts_at_most():
    """SPLIT_K has an upper bound: every part is a copy of the sums in memory."""
    assert len(compiled(SPLIT_K=4096).launches) == 2
    with pytest.raises(PhobosError, match="SPLIT_K: wanted a whole number from 1 to 4096, got 4097"):
        _ = compiled(SPLIT_K=4097).loops


def test_stages_that_registers_cannot_have_are_explained():
    """On sm_75 STAGES=4 is two stages, and the loop says so."""
    (loop,) = compiled("sm_75", STAGES=4).loops
    assert (loop.stages, loop.reason) == (2, "copies through registers have 2 stages at most")


@pytest.mark.parametrize(("name", "value"), [("THREAD_M", 3), ("LANES_M", 64), ("WARPS_M", 5)])
def test_a_choice_that_no_product_can_follow_is_noted(name, value):
    """PH517 says which choice was left out, and what the product has instead."""
    (note,) = [n for n in compiled(**{name: value}).notes if n.code == "PH517"]
    assert note.message.startswith(f"{name} = {value} fits no product here; it is ")


def test_a_choice_that_is_followed_has_no_note():
    """THREAD_M=4 is possible for 32 x 32 on 64 threads."""
    assert not [n for n in compiled(THREAD_M=4).notes if n.code == "PH517"]


def test_a_loop_that_ends_early_is_not_split_and_says_why():
    """The note of SPLIT_K names the loop that is there, not the absence of one."""
    text = GEMM.replace("    acc +=", "    if k >= M { break }\n    acc +=")
    (note,) = ph.compile(text, chip="sm_80", SPLIT_K=4).gemm.compile().notes
    assert note.code == "PH514"
    assert "the loop may end at any slice" in note.message
