"""Values for tuning names that nobody set: Note [Defaults] of compilation/defaults.py."""

from pathlib import Path

import pytest

import phobos_nb as ph
from phobos_nb.target import get

EXAMPLES = Path(__file__).parents[2] / "examples"
HOPPER = get("sm_90a")


def defaults(example, **extents):
    (kernel,) = ph.load(EXAMPLES / f"{example}.ph")
    return kernel.constants_for(extents, HOPPER)


def test_large_gemm_takes_wide_tiles_and_the_measured_slice():
    """4096 cubed fills the GPU with 128 by 128 tiles; the k slice is 8."""
    assert defaults("gemm_fp32", M=4096, N=4096, K=4096) == {"TILE_M": 128, "TILE_N": 128, "TILE_K": 8}


def test_small_gemm_steps_down_until_the_sms_have_work():
    """1024 cubed has 64 tiles of 128 by 128, fewer than 132 SMs, so a side is halved twice."""
    chosen = defaults("gemm_fp32", M=1024, N=1024, K=1024)
    ctas = (1024 // chosen["TILE_M"]) * (1024 // chosen["TILE_N"])
    assert 132 <= ctas <= 4 * 132


@pytest.mark.parametrize(("m", "tile"), [(96, 32), (64, 64), (4096 + 32, 32)])
def test_promises_come_first(m, tile):
    """With @aligned the tile must divide the extent, so that the call is right and not refused."""
    assert defaults("gemm_fp32", M=m, N=2**14, K=64)["TILE_M"] == tile


def test_an_extent_that_no_value_divides_is_left_to_the_launch_check():
    """M = 100 suits no tile: a value is chosen all the same, and the call names the promise."""
    assert defaults("gemm_fp32", M=100, N=128, K=64)["TILE_M"] in (32, 64, 128)


def test_the_only_grid_name_of_an_elementwise_kernel_may_be_wide():
    """One of 2^28 elements gives each CTA 2048 of them, one of 1000 the least."""
    assert defaults("saxpy_fp32", N=2**28) == {"TILE": 2048}
    assert defaults("saxpy_fp32", N=1000) == {"TILE": 256}


def test_a_set_name_stays():
    """What the caller fixed is not chosen again."""
    gemm = ph.load(EXAMPLES / "gemm_fp32.ph", TILE_M=64).gemm
    assert gemm.constants_for({"M": 4096, "N": 4096, "K": 4096}, HOPPER)["TILE_M"] == 64
    assert gemm.specialize(TILE_N=32).options.constants == {"TILE_M": 64, "TILE_N": 32}
