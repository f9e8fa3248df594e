"""Values for tuning names that nobody set: Note [Defaults] of compilation/defaults.py."""

from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.target import get

EXAMPLES = Path(__file__).parents[2] / "examples"
HOPPER = get("sm_90a")


def defaults(example, **extents):
    (kernel,) = ph.load(EXAMPLES / f"{example}.ph")
    return kernel.constants_for(extents, HOPPER)


WINNERS = [
    (256, (32, 32, 32), {"K_GROUPS": 8}),
    (512, (32, 64, 32), {"K_GROUPS": 8}),
    (1024, (64, 128, 16), {"K_GROUPS": 4}),
    (2048, (128, 256, 8), {}),
    (3072, (64, 256, 8), {}),
    (4096, (128, 256, 8), {}),
    (8192, (128, 256, 8), {}),
]


@pytest.mark.parametrize(("size", "tile", "more"), WINNERS)
def test_gemm_takes_the_tiles_that_won_on_an_h200(size, tile, more):
    """The fastest of those measured with 132 SMs: 4.5, 9.4, 47.7, 335, 1236, 2602 and 20540 us."""
    chosen = defaults("gemm_fp32", M=size, N=size, K=size)
    assert chosen == dict(zip(("TILE_M", "TILE_N", "TILE_K"), tile, strict=True)) | more


def test_ragged_gemm_counts_waves():
    """4097 x 4099: 561 tiles of 128 x 256 would need 5 waves of 132 SMs, but 49 of them have a few rows
    or columns, with code of their own: 4 waves. Without that code tiles are smaller.
    """
    chosen = defaults("gemm_fp32_any", M=4097, N=4099, K=4093)
    wanted = {"TILE_M": 128, "TILE_N": 256, "TILE_K": 8, "EDGE_X": 8, "EDGE_Y": 8}
    assert chosen == wanted
    plain = ph.load(EXAMPLES / "gemm_fp32_any.ph", EDGE_X=0, EDGE_Y=0).gemm
    chosen = plain.constants_for({"M": 4097, "N": 4099, "K": 4093}, HOPPER)
    assert -(-4097 // chosen["TILE_M"]) * -(-4099 // chosen["TILE_N"]) > 1000
    assert "SPLIT_K" not in chosen
    chosen = defaults("gemm_fp32_any", M=1000, N=1000, K=1000)
    assert (chosen["TILE_M"], chosen["TILE_N"]) == (64, 128)


def test_no_tile_needs_more_registers_than_a_thread_has():
    """256 x 256 on 256 threads would be 256 sums a thread."""
    for size in (256, 2048, 3072, 2**14):
        chosen = defaults("gemm_fp32", M=size, N=size, K=size)
        assert chosen["TILE_M"] * chosen["TILE_N"] // 256 < 256


@pytest.mark.parametrize("m", [96, 64, 4096 + 32])
def test_promises_come_first(m):
    """With @aligned the tile must divide the extent, so that the call is right and not refused."""
    assert m % defaults("gemm_fp32", M=m, N=2**14, K=64)["TILE_M"] == 0


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


def test_few_tiles_and_a_long_k_are_split():
    """16 x 4096 x 4096 has 16 tiles of 32 x 256 for 132 SMs: CTAs share the k loop of a tile."""
    assert defaults("gemm_fp32_any", M=16, N=4096, K=4096)["SPLIT_K"] > 1
    assert "SPLIT_K" not in defaults("gemm_fp32", M=4096, N=4096, K=4096)


def test_a_long_sum_of_few_tiles_fills_the_card():
    """64 x 64 x 65536 has 1 to 4 tiles: parts are so many that 132 SMs have 128 CTAs or more."""
    chosen = defaults("gemm_fp32_any", M=64, N=64, K=65536)
    assert 64 // chosen["TILE_M"] * (64 // chosen["TILE_N"]) * chosen["SPLIT_K"] >= 128
    assert chosen["K_GROUPS"] == 8


@pytest.mark.parametrize(
    ("size", "wanted"),
    [
        ((1023, 1023, 1023), {"TILE_M": 64, "TILE_N": 128, "TILE_K": 16, "K_GROUPS": 4}),
        ((2049, 2049, 2049), {"TILE_M": 128, "TILE_N": 128, "K_GROUPS": 2, "EDGE_X": 8, "EDGE_Y": 8}),
        ((5791, 131, 449), {"TILE_M": 64, "TILE_N": 128, "K_GROUPS": 4, "EDGE_Y": 8}),
        ((6067, 3163, 17), {"SPREAD": 1}),
        ((1493, 5077, 113), {"TILE_M": 128, "TILE_N": 128, "SPREAD": 1}),
        ((12, 3855, 992), {"TILE_M": 32, "TILE_N": 32, "TILE_K": 32, "K_GROUPS": 8, "MOST_X": 16}),
        ((4096, 16, 4096), {"TILE_M": 64, "K_GROUPS": 8, "SPLIT_K": 4, "MOST_Y": 16}),
    ],
)
def test_ragged_and_thin_ones_take_what_won(size, wanted):
    """Groups of warps for small tiles, whole rows for results that cost more than their products."""
    chosen = defaults("gemm_fp32_any", **dict(zip("MNK", size, strict=True)))
    assert wanted.items() <= chosen.items()
    assert {"K_GROUPS", "SPREAD"} & set(chosen) == {"K_GROUPS", "SPREAD"} & set(wanted)


@pytest.mark.parametrize("size", [(1, 66, 4917), (66, 1, 4917), (1, 450, 21)])
def test_products_with_a_vector_have_no_groups(size):
    """They run in registers, where groups would change nothing: at 1 x 66 x 4917 the estimate of groups
    chose 64 parts, 5.3 us, where 24 take 4.0.
    """
    chosen = defaults("gemm_fp32_any", **dict(zip("MNK", size, strict=True)))
    assert "SLICES" in chosen
    assert not {"K_GROUPS", "SPREAD"} & set(chosen)


def test_what_a_loop_cannot_have_is_not_chosen():
    """A product that is scaled in its loop has no groups, and the tile is as if there were none."""
    text = (EXAMPLES / "gemm_fp32_any.ph").read_text().replace("dot(a, b)", "2.0 * dot(a, b)")
    chosen = ph.compile(text, name="cell").gemm.constants_for({"M": 1024, "N": 1024, "K": 1024}, HOPPER)
    assert "K_GROUPS" not in chosen
    assert chosen["TILE_K"] == 8


@pytest.mark.parametrize("empty", ["M", "N", "K"])
def test_an_extent_of_zero_has_defaults_too(empty):
    """A call on empty arrays with nothing set picks a tile and does what the kernel means."""
    size = {"M": 33, "N": 17, "K": 9, empty: 0}
    a = np.ones((size["M"], size["K"]), np.float32)
    b = np.ones((size["K"], size["N"]), np.float32)
    c = np.ones((size["M"], size["N"]), np.float32)
    ph.load(EXAMPLES / "gemm_fp32_any.ph").gemm(a, b, c, 1.0, 2.0)
    assert np.array_equal(c, np.full_like(c, 2.0))
