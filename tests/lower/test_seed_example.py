"""The GEMM that the documentation of Phobos steps through: sm_75, 2 x 2 CTAs, tiles 32 x 32 x 4."""

from __future__ import annotations

import numpy as np

import phobos_nb as ph
from tests.examples.case import EXAMPLES

CONSTANTS = {"TILE_M": 32, "TILE_N": 32, "TILE_K": 4}


def gemm() -> ph.Kernel:
    return ph.load(EXAMPLES / "gemm_fp32.ph", chip="sm_75").gemm.specialize(**CONSTANTS)


def test_the_ruler_is_the_documented_one() -> None:
    """2048 bytes: two stages of a and of b, 512 bytes each, without pads."""
    compilation = gemm().compile()
    (loop,) = compilation.loops
    assert (loop.stages, loop.mode) == (2, "registers")
    plan = compilation.shared_memory
    assert plan.total == 2048
    ruler = [
        (stage, b.name[0], b.bytes // 2) for b in plan.buffers for stage in (b.offset, b.offset + 512)
    ]
    assert ruler == [(0, "a", 512), (512, "a", 512), (1024, "b", 512), (1536, "b", 512)]


def test_it_is_right_without_bank_conflicts() -> None:
    """2 x 2 CTAs against float64; every access to shared memory takes the fewest wavefronts."""
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal(s).astype(np.float32) for s in ((64, 36), (36, 64)))
    c = np.ones((64, 64), np.float32)
    result = gemm().simulate(a, b, c, 1.0, 0.5)
    assert result.clean
    wanted = a.astype(np.float64) @ b + 0.5
    assert np.abs(result.outputs["C"] - wanted).max() < 42 * 2.0**-24 * (np.abs(a) @ np.abs(b)).max()
    shared = [access for access in result.bank_conflicts if access.space == "shared"]
    assert sum(access.kind == "store" for access in shared) > 0
    assert [access.place for access in shared if access.conflicts] == []
