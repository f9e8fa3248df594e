"""What a call must do at least, the card's peak, and values made of times."""

from pathlib import Path

import pytest

import phobos_nb as ph
from phobos_nb.target import get
from phobos_nb.tune.records import read
from phobos_nb.tune.space import space_of
from phobos_nb.tune.yardstick import Measure, counted_work, measures, measures_of
from tests.tune.recorded import record

ROOT = Path(__file__).parents[2]
SQUARE = {"M": 4096, "N": 4096, "K": 4096}


def kernel(name):
    (found,) = ph.load(ROOT / "examples" / f"{name}.ph").kernels.values()
    return found


def test_a_product_counts_as_people_count_it():
    """2 M N K whatever the tiles, also where they overhang; A, B once, C read and written."""
    gemm = kernel("gemm_fp32")
    work = counted_work(gemm, {"M": 1000, "N": 1000, "K": 1000}, space_of(gemm))
    assert work == {"flops": 2e9, "bytes": 16_000_000, "arithmetic": "f32"}


@pytest.mark.parametrize("name", ["grouped_gemm", "varlen_attention", "attention"])
def test_operations_that_data_decide_are_not_counted(name):
    """Groups, lengths, a bound in a variable: bytes, but neither throughput nor a share of a peak."""
    found = kernel(name)
    extents = {s: 64 for t in found.parameters for s in getattr(t, "dims", ()) if isinstance(s, str)}
    work = counted_work(found, extents, space_of(found))
    assert "flops" not in work
    assert [m.name for m in measures(work, get("sm_90a"), "NVIDIA H200")] == ["time", "bandwidth"]


def test_an_elementwise_kernel_has_bytes_and_no_flops():
    """Saxpy reads x and y and writes y."""
    work = counted_work(kernel("saxpy_fp32"), {"N": 1_000_000}, [{"TILE": 256}])
    assert (work["flops"], work["bytes"]) == (0.0, 12_000_000)


def test_dots_of_other_kernels_are_counted_from_the_text():
    """Attention: 4 H NQ NK D on tensor cores, as its file says, and each array once."""
    attention = kernel("flash_attention_fp16")
    work = counted_work(attention, {"H": 8, "NQ": 512, "NK": 1024}, space_of(attention))
    assert work["arithmetic"] == "tensor.f16"
    assert work["flops"] == 4 * 8 * 512 * 1024 * 64
    assert work["bytes"] == 2 * 8 * (512 + 1024) * 64 * 2


def test_the_measures_of_an_h200_product():
    """Nominal: 132 SMs x 128 multiply-adds x 1980 MHz = 66.9 TFLOP/s, which binds before DRAM."""
    work = {"flops": 2.0 * 4096**3, "bytes": 4 * 4 * 4096**2, "arithmetic": "f32"}
    found = {m.name: m for m in measures(work, get("sm_90a"), "NVIDIA H200")}
    assert found["throughput"].peak == pytest.approx(66.908, abs=1e-3)
    assert found["bandwidth"].peak == 4800
    assert found["time"].peak == pytest.approx(2 * 4096**3 / 66.908e12 * 1e3, rel=1e-4)
    assert found["share of peak"].of(found["time"].peak) == pytest.approx(100)
    assert found["throughput"].of(2.602) == pytest.approx(52.82, abs=0.01)


def test_the_memory_binds_a_kernel_of_few_operations():
    """A product with one column moves more than it computes: the share is of DRAM's peak."""
    work = {"flops": 2.0 * 4096 * 4096, "bytes": 4 * 4096 * 4098, "arithmetic": "f32"}
    share = measures(work, get("sm_90a"), "NVIDIA H200")[-1]
    assert share.name == "share of peak"
    assert share.meaning.endswith("DRAM")


def test_an_unknown_card_has_rates_and_no_peak():
    """Nothing is guessed."""
    found = measures({"flops": 1e9, "bytes": 1e6, "arithmetic": "f32"}, get("sm_90a"), "NVIDIA GH999")
    assert [m.name for m in found] == ["time", "throughput", "bandwidth"]
    assert all(m.peak is None for m in found)


def test_a_record_without_counted_work_takes_the_kernel_it_is_about():
    """The seed's record was written before work was kept; another kernel does not count for it."""
    seed = read(ROOT / "results" / "tune_seed.json")
    bare = type(seed)(**{**vars(seed), "work": {}})
    names = [m.name for m in measures_of(bare, kernel("gemm_fp32"))]
    assert names == ["time", "throughput", "bandwidth", "share of peak"]
    assert [m.name for m in measures_of(bare, kernel("saxpy_fp32"))] == ["time"]
    assert [m.name for m in measures_of(record())] == ["time"]


def test_a_tuned_call_keeps_its_counted_work(tmp_path, monkeypatch):
    """The record of a search says what it counted, and reads it back."""
    import numpy as np

    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    saxpy = kernel("saxpy_fp32")
    x, y = np.ones(512, np.float32), np.ones(512, np.float32)
    named = dict(zip([p.name for p in saxpy.parameters], (x, y, 2.0), strict=False))
    order = {p.name: (2.0 if not hasattr(p, "dims") else named.get(p.name, x)) for p in saxpy.parameters}
    saxpy.tune(**order, isolate=False, samples=2, rounds=2)
    (path,) = (tmp_path / "tuning").glob("saxpy*.json")
    assert read(path).work["bytes"] == 3 * 4 * 512


def test_a_measure_of_time_is_the_time():
    """Less is better; a rate is work over time."""
    assert Measure("time", "ms").of(2.0) == 2.0
    assert not Measure("time", "ms").more_is_better
    assert Measure("throughput", "TFLOP/s", 10.0).of(2.0) == 5.0
