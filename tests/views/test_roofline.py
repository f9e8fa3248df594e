"""The roofline: counted work against what the mathematics needs, bytes, bounds, and its forms."""

from __future__ import annotations

import json
import math
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.contract import GridTerm
from phobos_nb.diagnostics import PhobosError
from phobos_nb.target import get
from phobos_nb.target.cards import card_of
from phobos_nb.tune.records import read
from phobos_nb.tune.replay import replay
from phobos_nb.views.roofline import RooflineView, point, slots
from phobos_nb.views.roofline_count import Counted, parts
from phobos_nb.views.roofline_probe import LINE, READ_ROWS, ROW, UNROLLED, probes
from phobos_nb.views.roofline_roofs import DRAM, FMA, SHARED, TENSOR, Roofs, amount, nominal

EXAMPLES = Path(__file__).parents[2] / "examples"
GEMM = ph.load(EXAMPLES / "gemm_fp32.ph", chip="sm_90a").gemm
TILES = {"TILE_M": 64, "TILE_N": 32, "TILE_K": 8}
pytestmark = pytest.mark.usefixtures("made_arrays_on_the_cpu")


def roofs() -> Roofs:
    target = get("sm_90a")
    card = card_of(target, "NVIDIA H200")
    assert card is not None
    return nominal(target, card)


@pytest.mark.parametrize("extents", [(128, 96, 64), (512, 512, 128)])
def test_the_flops_of_a_gemm_are_two_mnk_and_its_epilogue(extents: tuple[int, int, int]) -> None:
    """Sampled or whole, they are exactly 2MNK and, for alpha * acc + beta * c, three per element."""
    m, n, k = extents
    found = GEMM.specialize(**TILES).roofline(M=m, N=n, K=k).points[0]
    assert found.flops == {"f32 fma": 2 * m * n * k, "f32 mul": 2 * m * n, "f32 add": m * n}
    whole = math.prod((m // 64, n // 32)) <= 8
    assert ("all" in found.method) == whole


def test_the_sums_of_a_split_loop_are_work_too() -> None:
    """Two launches: the second adds SPLIT_K partial sums per element."""
    found = GEMM.specialize(**TILES, SPLIT_K=4).roofline(M=64, N=64, K=256).points[0]
    assert found.flops["f32 fma"] == 2 * 64 * 64 * 256
    assert found.flops["f32 mul"] == 2 * 64 * 64
    assert found.flops["f32 add"] >= 3 * 64 * 64


def test_the_least_bytes_are_those_of_the_tensors() -> None:
    """A and B are read, C is read and written, each element once; what warps ask for is no less."""
    m, n, k = 256, 128, 64
    found = GEMM.specialize(**TILES).roofline(M=m, N=n, K=k).points[0]
    assert found.least_bytes == 4 * (m * k + k * n + 2 * m * n)
    tiles = (m // 64) * (n // 32)
    assert found.requested_bytes == 4 * (tiles * k * (64 + 32) + 2 * m * n)
    assert found.requested_bytes >= found.least_bytes


@pytest.mark.parametrize("name", ["softmax", "saxpy_fp32", "transpose", "layer_norm", "rms_norm"])
def test_no_kernel_asks_for_less_than_the_least(name: str) -> None:
    """Requested bytes are at least the least possible ones, for kernels that cover their tensors."""
    (kernel, *_) = ph.load(EXAMPLES / f"{name}.ph", chip="sm_80")
    found = kernel.roofline().points[0]
    assert found.requested_bytes >= found.least_bytes > 0


def test_sampled_counts_agree_with_all_ctas() -> None:
    """On a ragged grid the extended sample is within two percent of a simulation of every CTA."""
    kernel = ph.load(EXAMPLES / "gemm_fp32_any.ph", chip="sm_80").gemm.specialize(**TILES)
    m, n, k = 300, 200, 40
    random = np.random.default_rng(0)
    a, b, c = (random.random(s, np.float32) for s in ((m, k), (k, n), (m, n)))
    arguments = a, b, c, 1.0, 0.5
    whole = kernel.simulate(*arguments, races=False)
    found = kernel.roofline(*arguments).points[0]
    assert "35 CTAs" in found.method
    assert "all" not in found.method
    assert found.total_flops == pytest.approx(sum(whole.flops.values()), rel=0.02)
    sectors = sum(x.sectors for x in whole.global_accesses)
    assert found.requested_bytes == pytest.approx(32 * sectors, rel=0.02)


def test_a_grid_is_sampled_by_parts() -> None:
    """A ragged axis sets its last block apart; the parts are disjoint and stand for the whole grid."""
    axes = (GridTerm("M", 10),), (GridTerm("N", 10),), ()
    found = list(parts((10, 20, 1), axes, {"M": 95, "N": 200}))
    assert [size for _, size in found] == [180, 20]
    numbers = [n for part, _ in found for n in part]
    assert len(set(numbers)) == len(numbers)
    assert all(n % 10 == 9 for n in found[1][0])
    assert list(parts((2, 3, 1), axes, {"M": 15, "N": 30})) == [([0, 1, 2, 3, 4, 5], 6)]


def test_nominal_roofs_are_the_targets_facts() -> None:
    """H200: 132 SMs x 128 FMA x 2 at 1,980 MHz, 4.8 TB/s, and each roof names its source."""
    found = roofs()
    assert found.rate(FMA) == 132 * 128 * 2 * 1.98e9
    assert found.rate(DRAM) == 4.8e12
    assert all(r.source for r in found.roofs)


@pytest.mark.parametrize(
    ("chip", "device", "card"),
    [
        ("sm_90a", "NVIDIA H200", "H200-SXM-141GB"),
        ("sm_90a", "NVIDIA H100 80GB HBM3", "H100-SXM5-80GB"),
        ("sm_80", "NVIDIA A100-SXM4-80GB", "A100-SXM4-80GB"),
        ("sm_75", "Tesla T4", "Tesla T4"),
        ("sm_86", "NVIDIA GeForce RTX 3090", "RTX 3090"),
        ("sm_86", "NVIDIA GeForce RTX 3080", None),
    ],
)
def test_a_card_is_found_by_the_devices_name(chip: str, device: str, card: str | None) -> None:
    """The driver's names lead to the target's cards; a card that is not listed is not guessed."""
    found = card_of(get(chip), device)
    assert (found.name if found else None) == card


def test_what_binds_is_what_needs_longest() -> None:
    """Each resource needs its amount over its rate; a plain addition takes a multiply-add's place."""
    work = Counted({"f32 fma": 4e9, "f32 add": 1e9}, 10**9, 0, 2e9, 0.0, 1e6, 1000, "by hand")
    found = point("x", work, roofs(), 500.0)
    needs = {n.resource: n.seconds for n in found.needs}
    rate = 132 * 128 * 2 * 1.98e9
    assert needs[FMA] == pytest.approx(6e9 / rate)
    assert needs[DRAM] == pytest.approx(1e9 / 4.8e12)
    assert needs[SHARED] == pytest.approx(1e6 / (132 * 1.98e9))
    assert found.bound is not None
    assert found.bound.resource == DRAM
    assert found.fraction == pytest.approx(1e9 / 4.8e12 / 500e-6)
    assert found.rate == 5e9 / 500e-6
    assert "Bound by DRAM" in found.words[0]
    assert any("far below" in w for w in found.words)


def test_tensor_core_work_has_its_own_roof() -> None:
    """f16 fragments run under the tensor cores' rate, tf32 at half of it, beside f32 arithmetic."""
    assert slots({"f16 tensor": 8.0, "tf32 tensor": 2.0, "f32 mul": 1.0}) == {TENSOR: 12.0, FMA: 2.0}


def test_a_kernel_without_arithmetic_has_bytes_alone() -> None:
    """A transpose has no intensity: text and html say so and show what its bytes need."""
    found = ph.load(EXAMPLES / "transpose.ph", chip="sm_80").transpose.roofline(M=64, N=96)
    assert found.points[0].total_flops == 0
    assert "no floating-point operations" in found.text
    assert "<svg" not in found._repr_html_()
    assert "DRAM (binds)" in found._repr_html_()
    with pytest.raises(ValueError, match="no intensity"):
        found.plot()


def test_the_model_is_json_and_the_text_the_same_twice() -> None:
    """The model survives JSON, and two runs give one text."""
    first, second = (GEMM.specialize(**TILES).roofline(M=64, N=64, K=64) for _ in range(2))
    assert json.loads(json.dumps(first.model)) == json.loads(json.dumps(second.model))
    assert first.text == second.text
    again = ph.Roofline.from_model(json.loads(json.dumps(first.model)))
    assert again.text == first.text
    assert again._repr_html_() == first._repr_html_()
    assert first.model["points"][0]["bound"] in first.text


def test_points_of_configurations_stand_side_by_side() -> None:
    """Three configurations are three numbered points, labelled, in html, picture and figure."""
    wanted = [{**TILES, "TILE_M": m} for m in (32, 64, 128)]
    found = GEMM.roofline(M=128, N=128, K=64, configurations=wanted)
    assert [p.label for p in found.points] == [f"TILE_K=8 TILE_M={m} TILE_N=32" for m in (32, 64, 128)]
    page = found._repr_html_()
    assert "<script" not in page
    picture = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    discs = [e for e in picture.iter() if e.tag.endswith("circle")]
    assert len(discs) == 3
    titles = [e.text for e in picture.iter() if e.tag.endswith("title")]
    assert any("TILE_M=64" in (t or "") and "not measured" in (t or "") for t in titles)
    labels = found.plot().axes[0].get_legend().get_texts()
    assert len(labels) == 3


def test_points_are_drawn_where_the_axes_put_them() -> None:
    """A hollow point at the roof of what binds it lies on that roof in the picture."""
    work = Counted({"f32 fma": 1e12}, 10**9, 0, 1e9, 0.0, 0.0, 1000, "by hand")
    view = RooflineView("t", roofs(), (point("x", work, roofs()),))
    page = view_page(view)
    picture = ElementTree.fromstring(page[page.index("<svg") : page.index("</svg>") + 6])
    (disc,) = [e for e in picture.iter() if e.tag.endswith("circle")]
    flat = [
        e for e in picture.iter()
        if e.tag.endswith("line") and e.get("stroke-width") == "1.6" and e.get("y1") == e.get("y2")
    ]  # fmt: skip
    assert disc.get("cy") in {e.get("y1") for e in flat}


def view_page(view: RooflineView) -> str:
    from phobos_nb.views.roofline_html import page

    return page(view)


def test_a_measured_time_is_taken_as_given() -> None:
    """time_us= gives the rate: flop over seconds, and the share of what binds it."""
    found = GEMM.specialize(**TILES).roofline(M=64, N=64, K=64, time_us=2.0).points[0]
    assert found.rate == pytest.approx(found.total_flops / 2e-6)
    assert found.fraction is not None
    assert any("Measured 2.00 us" in w for w in found.words)


def test_the_callers_arrays_stay_as_they_are() -> None:
    """C is written by the kernel, not by its roofline."""
    a, b, c = (np.ones((64, 64), np.float32) for _ in range(3))
    GEMM.specialize(**TILES).roofline(a, b, c, 1.0, 0.0)
    assert (c == 1).all()


def test_mistakes_are_reported() -> None:
    """A card nobody lists, an argument nobody has, arrays of two cards."""
    with pytest.raises(PhobosError, match="no card 'RTX 1'"):
        GEMM.roofline(M=64, N=64, K=64, card="RTX 1")
    with pytest.raises(PhobosError, match="no parameter Q"):
        GEMM.roofline(M=64, Q=3)
    small = GEMM.specialize(**TILES)
    with pytest.raises(ValueError, match="points of H200"):
        small.roofline(M=64, N=64, K=64) + small.roofline(M=64, N=64, K=64, card="H100")


def test_amounts_have_three_digits() -> None:
    """Decimal prefixes, three significant digits."""
    assert amount(52.83e12, "flop/s") == "52.8 Tflop/s"
    assert amount(1.5e3, "B") == "1.50 kB"
    assert amount(999.0, "B") == "999 B"
    assert amount(0.0, "B") == "0 B"


@pytest.mark.nvrtc
@pytest.mark.parametrize("chip", ["sm_80", "sm_90a"])
def test_the_probe_of_arithmetic_is_multiply_adds(chip: str) -> None:
    """In the loop of the FMA probe nine in ten machine instructions are FFMA."""
    from phobos_nb.cuda.sass import instructions

    probe = probes(get(chip)).multiply_add.compile()
    families = [i.family for i in instructions(probe.sass)]
    first, last = families.index("FFMA"), len(families) - families[::-1].index("FFMA")
    assert families[first:last].count("FFMA") > 0.9 * (last - first)
    assert not probe.resources.spills


def test_the_probes_do_what_their_rates_are_taken_from() -> None:
    """Simulated: 16 multiply-adds per turn and element, and whole rows read in each step of the walk."""
    kernels = probes(get("sm_80"))
    x = np.ones(2 * LINE, np.float32)
    found = kernels.multiply_add.simulate(x, x.copy(), np.float32(0.5), np.float32(0.25), 3)
    assert found.flops == {"f32 fma": 2 * UNROLLED * 3 * x.size}
    tall, few = np.ones((2 * READ_ROWS, ROW), np.float32), np.zeros((2, ROW), np.float32)
    added = kernels.read.simulate(tall, few, races=False)
    assert sum(a.bytes for a in added.global_accesses) == tall.nbytes + few.nbytes
    rows, out = np.ones((40, ROW), np.float32), np.zeros((2, ROW), np.float32)
    walked = kernels.walk.simulate(rows, out, 5, races=False)
    assert sum(a.bytes for a in walked.global_accesses if a.kind == "load") == 2 * 5 * ROW * 4
    assert (walked.outputs["Y"] == 5).all()


@pytest.mark.slow
def test_the_points_of_a_search_have_its_times() -> None:
    """The H200's recorded search: its six fastest, at the times and rates that were measured."""
    root = EXAMPLES.parent
    tuning = replay(read(root / "results" / "tune_seed.json"))
    found = GEMM.roofline(M=4096, N=4096, K=4096, tuning=tuning, card="H200")
    fastest = tuning.measured[:6]
    assert [p.label for p in found.points] == [m.label for m in fastest]
    for shown, measured in zip(found.points, fastest, strict=True):
        assert shown.microseconds == measured.median * 1e3
        assert shown.flops["f32 fma"] == 2 * 4096**3
        assert 0.5 < (shown.fraction or 0) < 1
    with pytest.raises(ValueError, match="the search was for"):
        GEMM.roofline(M=64, N=64, K=64, tuning=tuning)


def test_the_kept_results_of_an_h200_bear_the_model_out() -> None:
    """Roofs measured there are close below the promised ones; DRAM moved no less than the least bytes.

    And no more than warps asked for, but for a twentieth that stayed in the L2 cache.
    """
    data = json.loads((EXAMPLES.parent / "results" / "h200_roofline.json").read_text("utf-8"))
    measured, promised = (
        {r["name"]: r["rate"] for r in data[kind]["roofs"]} for kind in ("measured", "nominal")
    )
    assert 0.95 < measured[FMA] / promised[FMA] < 1.0
    assert 0.85 < measured[DRAM] / promised[DRAM] < 1.0
    assert measured["L2 cache"] > measured[DRAM]
    assert set(data["points"]) == {"saxpy", "softmax", "gemm"}
    for kept in data["points"].values():
        assert kept["least_bytes"] * 0.95 < kept["ncu_dram_bytes"] < kept["requested_bytes"] * 1.02
    tiles, side = (4096 // 128) * (4096 // 256), 4096
    gemm = data["points"]["gemm"]
    assert gemm["requested_bytes"] == 4 * (tiles * side * (128 + 256) + 2 * side**2)
    assert gemm["flops"] == {"f32 fma": 2 * side**3, "f32 mul": 2 * side**2, "f32 add": side**2}


def test_a_card_of_another_target_says_which() -> None:
    """Without a GPU a kernel is compiled for sm_80: the help says with which chip an H200 has a roof."""
    kernel = ph.load(EXAMPLES / "saxpy_fp32.ph", chip="sm_80").saxpy
    with pytest.raises(ph.PhobosError, match=r"H200 is a card of sm_90a: .* chip='sm_90a'"):
        kernel.roofline(N=4096, card="H200")
    with pytest.raises(ph.PhobosError, match="listed: A100"):
        kernel.roofline(N=4096, card="H900")
