"""Counted work and the model that orders configurations, against what was measured on an H200."""

import math
from pathlib import Path

import pytest

import phobos_nb as ph
from phobos_nb.target import get
from phobos_nb.tune.counts import counts_of
from phobos_nb.tune.model import predictor
from phobos_nb.tune.outcome import label
from phobos_nb.tune.space import space_of
from phobos_nb.tune.work import work_of

EXAMPLES = Path(__file__).parents[2] / "examples"
CUBE = {"M": 4096, "N": 4096, "K": 4096}


def kernel(name):
    (found,) = ph.load(EXAMPLES / f"{name}.ph", chip="sm_90a")
    return found


def test_the_work_of_a_gemm_is_counted():
    """A CTA of 128 x 256: 2 * 128 * 256 * K flop, both panels and C read once, C written once."""
    typed = kernel("gemm_fp32").typed({"TILE_M": 128, "TILE_N": 256, "TILE_K": 8})
    work = work_of(typed, CUBE)
    assert work.flops == 2 * 128 * 256 * 4096
    assert work.read == 4 * ((128 + 256) * 4096 + 128 * 256)
    assert work.written == 4 * 128 * 256
    assert work.staged == 4 * (128 + 256) * 4096
    total = math.prod(typed.grid.shape(CUBE)) * work.flops
    assert total == 2 * 4096**3


def test_the_work_of_saxpy_is_counted():
    """A CTA of 512 elements reads both arrays and writes one."""
    work = work_of(kernel("saxpy_fp32").typed({"TILE": 512}), {"N": 1 << 20})
    assert (work.read, work.written, work.flops) == (4096, 2048, 0)


def test_tiles_that_won_on_an_h200_come_first():
    """128 x 256 is in the first quarter of the order at 4096 cubed, 64 x 128 before it at 1024 cubed."""
    gemm, target = kernel("gemm_fp32"), get("sm_90a")
    predict = predictor(gemm, CUBE, None, target)
    order = sorted(space_of(gemm), key=predict)
    assert label({"TILE_M": 128, "TILE_N": 256, "TILE_K": 8}) in [label(c) for c in order[:16]]
    small = predictor(gemm, dict.fromkeys("MNK", 1024), None, target)
    narrow, wide = ({"TILE_M": m, "TILE_N": n, "TILE_K": 8} for m, n in ((64, 128), (128, 256)))
    assert small(narrow) < small(wide)


@pytest.mark.parametrize("name", ["saxpy_fp32", "softmax", "gemm_fp16tc_fp32acc"])
def test_every_kernel_has_an_order(name):
    """Predictions are positive, and finite wherever the configuration is not refused."""
    found = kernel(name)
    extents = {"N": 1 << 20} if name == "saxpy_fp32" else {"M": 4096, "N": 4096, "K": 4096}
    predict = predictor(found, extents, None, get("sm_90a"))
    times = [predict(c) for c in space_of(found)]
    assert all(t > 0 for t in times)
    assert sum(map(math.isfinite, times)) >= len(times) / 2


def test_what_cannot_run_is_predicted_as_never_done():
    """256 x 256 sums do not fit; tiles that break @aligned cannot start."""
    predict = predictor(kernel("gemm_fp32"), {"M": 96, "N": 4096, "K": 4096}, None, get("sm_90a"))
    assert predict({"TILE_M": 64, "TILE_N": 64, "TILE_K": 8}) == math.inf
    assert math.isfinite(predict({"TILE_M": 32, "TILE_N": 64, "TILE_K": 8}))


def test_what_a_cta_does_is_counted():
    """Softmax of 4096 columns in chunks of 512, two passes: 16 loop bodies, X twice and Y once moved."""
    typed = kernel("softmax").typed({"ROWS": 8, "COLS": 512})
    counts = counts_of(typed, {"M": 4096, "N": 4096}, get("sm_90a"))
    assert counts.rounds == 16
    assert counts.moved == 3 * 8 * 4096 * 4
    assert counts.stored == 8 * 4096 * 4
    assert (counts.reductions, counts.crossing) == (16, 0)


def test_rows_that_warps_share_meet_in_shared_memory():
    """With 4 rows and 8 warps, every reduction of a row crosses warps."""
    typed = kernel("softmax").typed({"ROWS": 4, "COLS": 512})
    counts = counts_of(typed, {"M": 4096, "N": 4096}, get("sm_90a"))
    assert counts.crossing == counts.reductions == 16


def test_a_loop_with_bounds_from_memory_counts_by_its_step():
    """Sequences of unknown length: twice the step, half the loop bodies."""
    found = kernel("varlen_attention")
    extents = {"N": 8192, "H": 8, "B": 17}
    narrow, wide = (
        counts_of(found.typed({"BR": 64, "BC": c}), extents, get("sm_90a")) for c in (32, 64)
    )
    assert narrow.rounds == 2 * wide.rounds == 8192 / 32


@pytest.mark.parametrize(
    ("name", "extents", "better", "worse"),
    [
        ("softmax", {"M": 4096, "N": 4096}, {"ROWS": 8, "COLS": 512}, {"ROWS": 4, "COLS": 128}),
        ("scan", {"M": 4096, "N": 4096}, {"ROWS": 64, "COLS": 32}, {"ROWS": 16, "COLS": 128}),
        ("varlen_attention", {"N": 8192, "H": 8, "B": 17}, {"BR": 64, "BC": 64}, {"BR": 32, "BC": 32}),
        ("gemm_fp16", CUBE, {"TILE_M": 128, "TILE_N": 128, "TILE_K": 16},
         {"TILE_M": 256, "TILE_N": 128, "TILE_K": 64}),
    ],
)  # fmt: skip
def test_the_model_tells_what_was_half_again_as_fast_on_an_h200(name, extents, better, worse):
    """Pairs whose times differed by a third or more on 2026-11-30."""
    predict = predictor(kernel(name), extents, None, get("sm_90a"))
    assert predict(better) < predict(worse)


def test_a_callers_grid_counts():
    """Twice the CTAs of an uninferrable grid take longer."""
    found = kernel("varlen_attention")
    extents, constants = {"N": 8192, "H": 8, "B": 17}, {"BR": 64, "BC": 64}
    times = [predictor(found, extents, (n, 8, 16), get("sm_90a"))(constants) for n in (16, 64)]
    assert times[0] < times[1]
    by_constants = predictor(found, extents, lambda c: (1024 // c["BR"], 8, 16), get("sm_90a"))
    assert by_constants(constants) == times[0]
