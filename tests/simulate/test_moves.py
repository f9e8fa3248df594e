"""ldmatrix, stmatrix and movmatrix against the PTX ISA's sentences, written out lane by lane."""

import numpy as np
import pytest
from xdsl.dialects.builtin import VectorType, f16, f32

from phobos_nb.ir.dialects import nvgpu
from phobos_nb.ir.dialects.matrix_moves import MovMatrixOp, StMatrixOp
from tests.gpu.tensor_core_jobs import describe, move_jobs
from tests.tensor_core_kernels import MOVES, ROW, kernel

JOBS = {job.name: job for job in move_jobs()}


def element(lane, register, half, transpose):
    """Row of the tile and place in the row of an element that a lane holds."""
    row, place = lane // 4, 2 * (lane % 4) + half
    return (8 * register + place, row) if transpose else (8 * register + row, place)


def expected(case, job):
    """What the kernel writes: lane l names row 31 - l of the image, from its ninth element on."""
    image = job.tensors["image"].view(np.float16).reshape(4, 32, ROW)
    held = job.tensors["a"].reshape(4, 32, case.tiles, 2)
    out = image.copy() if case.kind == "stmatrix" else np.zeros_like(held)
    for lane in range(32):
        for register in range(case.tiles):
            for half in range(2):
                turn = case.transpose or case.kind == "movmatrix"
                given, place = element(lane, register, half, turn)
                if case.kind == "ldmatrix":
                    out[:, lane, register, half] = image[:, 31 - given, 8 + place]
                elif case.kind == "stmatrix":
                    out[:, 31 - given, 8 + place] = held[:, lane, register, half]
                else:
                    out[:, lane, 0, half] = held[:, 4 * given + place // 2, 0, place % 2]
    return out


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("case", MOVES, ids=describe)
def test_moves(case, seed):
    """Every element is where the PTX ISA says, bit for bit, NaN included."""
    job = JOBS[describe(case)]
    result = job.kernel.run(grid=4, seed=seed, **job.tensors)
    assert result.clean
    found = result.outputs[job.output].view(np.uint16)
    assert (found == expected(case, job).view(np.uint16).reshape(-1)).all()


def without_barrier(case, number):
    """The kernel of a move without one of its barriers."""
    job = next(j for j in move_jobs() if j.name == describe(case))
    barriers = [op for op in job.kernel.module.walk() if op.name == "gpu.barrier"]
    barriers[number].detach()
    return job


def test_stmatrix_races_like_a_store():
    """Without the barrier before it, it meets the image's copy; without the one after it, the reads."""
    case = next(c for c in MOVES if c.kind == "stmatrix" and c.tiles == 4)
    for number, other in (
        (0, ("vector.store", "phobos.stmatrix")),
        (1, ("phobos.stmatrix", "vector.load")),
    ):
        job = without_barrier(case, number)
        races = job.kernel.run(grid=4, **job.tensors).races
        assert {(r.first.op, r.second.op) for r in races} == {other}


def test_stmatrix_is_counted():
    """Rows of 48 bytes: each 8 rows of a tile fill the banks twice over, so two wavefronts."""
    case = next(c for c in MOVES if c.kind == "stmatrix" and c.tiles == 4 and not c.transpose)
    job = JOBS[describe(case)]
    result = job.kernel.run(grid=4, **job.tensors)
    (access,) = [a for a in result.accesses if a.kind == "matrix_store"]
    assert access.wavefronts >= access.fewest_wavefronts > 0


MASKED = {
    "nvgpu.ldmatrix": "ldmatrix",
    "nvgpu.mma.sync": "mma.sync",
    "phobos.stmatrix": "stmatrix",
    "phobos.movmatrix": "movmatrix",
}


@pytest.mark.parametrize("name", MASKED)
def test_half_a_warp(name):
    """Of a warp only 20 lanes take part: the fault says so, for each operation of a whole warp."""

    def build(t):
        rows, zero = t.view("f16", [64, 64]), t.b.index(0)
        one, four = (t.b.constant(0.0, VectorType(f16, [n, 2])) for n in (1, 4))
        sums = t.b.constant(0.0, VectorType(f32, [2, 2]))
        two = t.b.constant(0.0, VectorType(f16, [2, 2]))
        made = {
            "nvgpu.ldmatrix": lambda: nvgpu.LdMatrixOp(rows, [t.thread, zero], 4),
            "nvgpu.mma.sync": lambda: nvgpu.MmaSyncOp(four, two, sums, (16, 8, 16)),
            "phobos.stmatrix": lambda: StMatrixOp(four, rows, [t.thread, zero]),
            "phobos.movmatrix": lambda: MovMatrixOp(one),
        }[name]
        branch = t.b.if_(t.b.cmpi("ult", t.thread, t.b.index(20)))
        with t.b.inside(branch.true_region.block):
            t.b.insert(made())
            t.b.yield_()

    faults = kernel(build, [], threads=32, shared=8192).run(races=False).faults
    assert [f.message for f in faults] == [f"only 20 of 32 lanes of a warp execute {MASKED[name]}"]
