"""Compare-and-swap goes from the language to the simulator and to CUDA."""

import numpy as np

import phobos_nb

TEXT = """
@launch(64)
kernel take(x: tensor<i32>[N], before: tensor<i32>[N]) {
  let i = ctx.block.x * 64 + ctx.thread
  let v = i32(ctx.thread)
  before[i] = atomic_cas(x, 0, v, v + 1)
}
"""


def test_every_thread_swaps_in_turn():
    """Thread v finds v and leaves v + 1: in lane order all 64 swaps succeed."""
    kernel = phobos_nb.compile(TEXT).take
    result = kernel.simulate(np.zeros(64, np.int32), np.zeros(64, np.int32))
    assert (result.outputs["before"] == np.arange(64)).all()
    assert result.outputs["x"][0] == 64


def test_outside_nothing_happens():
    """An index outside the tensor swaps nothing and yields zero."""
    text = TEXT.replace("atomic_cas(x, 0,", "atomic_cas(x, 0 - 1,")
    result = phobos_nb.compile(text).take.simulate(np.ones(64, np.int32), np.ones(64, np.int32))
    assert (result.outputs["before"] == 0).all()
    assert (result.outputs["x"] == 1).all()
