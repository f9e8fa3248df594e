"""Unwritten shared memory in a call of several launches: a fault where the outputs depend on it."""

import numpy as np
import pytest
from xdsl.dialects import memref

import phobos_nb as ph
from phobos_nb.simulate.following import Following, Step
from phobos_nb.simulate.launch import simulate
from phobos_nb.simulate.plan import simulate_plan
from phobos_nb.simulate.recorder import SimulationInterrupted


def product(rows, columns, depth, threads, chip="sm_80", dtype="f32", **choices):
    """A kernel whose tile is of no power of two, so that threads hold slots past its end."""
    text = f"""
@launch({threads})
kernel mm(A: tensor<{dtype}>[M, K], B: tensor<{dtype}>[K, N], C: tensor<f32>[M, N]) {{
  let i = ctx.block.y * {rows}
  let j = ctx.block.x * {columns}
  var acc: tile<f32>[{rows}, {columns}] = 0.0
  for k in range(0, K, {depth}) {{
    acc += dot(A[i :+ {rows}, k :+ {depth}], B[k :+ {depth}, j :+ {columns}])
  }}
  C[i :+ {rows}, j :+ {columns}] = acc
}}
"""
    return ph.compile(text, chip=chip).mm.specialize(**choices)


def matrices(m, n, k, dtype=np.float32):
    rng = np.random.default_rng(m * n + k)
    a, b = (rng.standard_normal(s).astype(dtype) for s in ((m, k), (k, n)))
    return a, b, np.zeros((m, n), np.float32)


SPLIT = [
    ((48, 40, 16, 128), {"SPLIT_K": 2, "K_GROUPS": 2}, (48, 40, 64)),
    ((64, 40, 16, 128), {"SPLIT_K": 2, "K_GROUPS": 2}, (64, 40, 64)),
    ((64, 48, 16, 128), {"SPLIT_K": 2, "SPREAD": 1}, (45, 51, 64)),
    ((48, 48, 16, 128), {"SPLIT_K": 3, "SPREAD": 1}, (45, 51, 64)),
    ((48, 40, 16, 128), {"SPLIT_K": 3, "SPREAD": 1, "chip": "sm_75"}, (51, 45, 100)),
    ((48, 40, 16, 128), {"SPLIT_K": 2, "K_GROUPS": 2, "chip": "sm_90a", "dtype": "f16"}, (51, 45, 64)),
]


@pytest.mark.parametrize(("tile", "choices", "size"), SPLIT)
def test_dead_slots_left_in_scratch_are_no_fault(tile, choices, size):
    """Of slots past the end of a tile the finishing launch makes nothing: clean, and equal to NumPy."""
    a, b, c = matrices(*size, np.float16 if choices.get("dtype") == "f16" else np.float32)
    result = product(*tile, **choices).simulate(a, b, c)
    assert result.faults == []
    assert result.races == []
    assert np.allclose(result.outputs["C"], a.astype(np.float64) @ b, rtol=1e-4, atol=1e-4)


def split():
    """The thread modules, the plan and the grid of a call in two launches, and its arguments."""
    kernel = product(48, 40, 16, 128, SPLIT_K=2, K_GROUPS=2)
    compiled = kernel.compile()
    a, b, c = matrices(48, 40, 64)
    modules = [x.thread_module.clone() for x in compiled.launches]
    return modules, compiled.plan, {"A": a, "B": b, "C": c}


def stores_of_sums(module):
    """The element stores to shared memory: those of the sums that the groups leave."""
    return [
        op
        for op in module.walk()
        if isinstance(op, memref.StoreOp) and "workgroup" in str(op.memref.type.memory_space)
    ]


def test_sums_that_were_not_written_are_a_fault_of_the_call():
    """Without the stores of sums C is wrong, and the loads of what nothing has written are named."""
    modules, plan, arguments = split()
    stores = stores_of_sums(modules[0])
    assert len(stores) == 30
    for store in stores:
        store.detach()
    result = simulate_plan(modules, plan, arguments, grid=(1, 1, 1))
    assert result.faults
    assert {f.kind for f in result.faults} == {"uninitialised"}
    assert not np.allclose(result.outputs["C"], arguments["A"] @ arguments["B"], atol=1e-3)


def test_scratch_differs_where_something_follows_from_it():
    """A dead element of a part changes nothing that the call gives, a live one does."""
    modules, plan, arguments = split()
    first, last = (x.contract for x in plan.launches)
    arguments["parts"] = np.full(plan.scratch[0].shape({"M": 48, "N": 40}), np.nan, np.float32)
    left = simulate(modules[0], first, arguments, grid=(1, 1, 2)).outputs
    following = Following([Step(modules[1], last, (1, 1, 1))], arguments, {"parts"})
    dead = np.argwhere(np.isnan(left["parts"]))
    live = np.argwhere(~np.isnan(left["parts"]))
    for places, differ in ((dead, False), (live, True)):
        other = {name: array.copy() for name, array in left.items()}
        other["parts"][tuple(places[0])] = 7.0
        assert following.differ(left, other) is differ
    assert not Following((), {}, {"parts"}).differ(left, other)


def test_what_was_seen_is_kept_where_the_second_run_is_interrupted():
    """Ctrl-C while it is asked whether unwritten memory matters: the outputs and counts of the run."""
    modules, plan, arguments = split()
    arguments["parts"] = np.full(plan.scratch[0].shape({"M": 48, "N": 40}), np.nan, np.float32)

    def interrupt(one, other):
        raise KeyboardInterrupt

    with pytest.raises(SimulationInterrupted) as caught:
        simulate(modules[0], plan.launches[0].contract, arguments, grid=(1, 1, 2), differ=interrupt)
    result = caught.value.result
    assert result.faults == []
    assert result.ctas == 2
    assert np.isfinite(result.outputs["parts"]).any()
