"""The whole path of one kernel: every stage, kept with its time, for targets and options."""

import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.contract import Variant, from_plain, to_plain
from phobos_nb.target import names

EXAMPLES = Path(__file__).parents[2] / "examples"


def gemm(**options):
    return ph.load(EXAMPLES / "gemm_fp32.ph", **options).gemm


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path / "cache"))


@pytest.mark.nvrtc
def test_every_stage_of_the_seed_gemm():
    """One compilation gives tile and thread MLIR, CUDA, PTX, cubin, resources and the contract."""
    c = ph.compile((EXAMPLES / "gemm_fp32.ph").read_text(), TILE_M=64, TILE_N=64).gemm.compile(
        chip="sm_90a"
    )
    assert "tile.dot" in c.tile_mlir
    assert "gpu.func" in c.thread_mlir
    assert "__global__" in c.cuda
    assert ".target sm_90a" in c.ptx
    assert c.cubin[:4] == b"\x7fELF"
    assert 16 < c.resources.registers <= 255
    assert c.resources.spill_stores == 0
    assert c.occupancy.ctas >= 1
    assert c.contract.entry in c.ptx
    assert c.contract.shared_bytes == c.shared_memory.total >= 2 * 64 * 4 * 4
    assert all(b.reason for b in c.barriers)
    assert any(b.kept for b in c.barriers)


@pytest.mark.nvrtc
def test_stages_run_when_read_and_are_kept():
    """Reading the tile MLIR lowers nothing; a second reading computes nothing."""
    c = ph.compile((EXAMPLES / "saxpy_fp32.ph").read_text(), name="lazy").saxpy.compile()
    _ = c.tile_mlir
    assert {"parse", "check", "tile"} <= set(c.timings)
    assert "thread" not in c.timings
    assert c.cubin is c.cubin
    assert list(c.timings)[-1] == "nvrtc"


def test_equal_compilations_are_one():
    """First values written out or left open are the same configuration."""
    kernel = gemm()
    first = kernel.compile(chip="sm_80")
    assert kernel.compile(chip="sm_80", TILE_M=32, TILE_N=32, TILE_K=4) is first
    assert kernel.compile(chip="sm_80", TILE_M=64) is not first
    assert kernel.compile(chip="sm_75") is not first


def test_target_and_index_width_come_from_caller_environment_and_defaults(monkeypatch):
    """The caller's beats PHOBOS_CHIP and PHOBOS_INDEX_BITS, which beat the defaults of the target."""
    monkeypatch.delenv("PHOBOS_CHIP", raising=False)
    assert gemm().compile(chip="sm_75").contract.variant.index_bits == 32
    assert gemm().compile(chip="sm_86").contract.variant.index_bits == 64
    monkeypatch.setenv("PHOBOS_CHIP", "sm_89")
    monkeypatch.setenv("PHOBOS_INDEX_BITS", "32")
    c = gemm().compile()
    assert (c.configuration.target.name, c.contract.variant.index_bits) == ("sm_89", 32)
    assert gemm().compile(index_bits=64).contract.variant.index_bits == 64
    monkeypatch.setenv("PHOBOS_INDEX_BITS", "48")
    with pytest.raises(ph.PhobosError, match="wanted 32 or 64, got 48"):
        gemm().compile(chip="sm_80", TILE_M=64)


def test_unknown_constants_and_chips_are_errors():
    """Misspelt options are never ignored."""
    with pytest.raises(ph.PhobosError, match="TILE_X"):
        gemm().compile(TILE_X=1)
    with pytest.raises(ph.PhobosError, match="sm_42"):
        gemm().compile(chip="sm_42")


@pytest.mark.parametrize("variant", [Variant(True, False, 64), Variant(False, False, 32)])
def test_variants_have_their_own_entry(variant):
    """Without unit strides the entry takes every stride; the contract says which variant it is."""
    c = gemm().compile_variant(variant)
    strides = [a for a in c.contract.arguments if a.kind == "stride"]
    assert len(strides) == (3 if variant.unit_stride else 6)
    assert c.contract.variant == variant


def test_contract_survives_json():
    """What is stored beside code comes back equal."""
    contract = gemm().compile().contract
    assert from_plain(to_plain(contract)) == contract


def test_simulation_equals_the_meaning():
    """The compiled seed GEMM on NumPy lanes gives what the CPU gives, and nothing is reported."""
    rng = np.random.default_rng(0)
    a, b, c = (rng.standard_normal(s, dtype=np.float32) for s in ((64, 32), (32, 96), (64, 96)))
    kept = c.copy()
    result = gemm().simulate(a, b, c, 1.25, beta=-0.5)
    np.testing.assert_array_equal(c, kept)
    assert result.clean
    gemm()(a, b, c, 1.25, -0.5)
    np.testing.assert_allclose(result.outputs["C"], c, atol=1e-4)


def test_a_dropped_barrier_is_a_race():
    """`drop_barrier` leaves out one kept barrier, and the simulator names the race."""
    kernel = gemm()
    kept = [b.number for b in kernel.compile().barriers if b.kept]
    assert [b.kept for b in kernel.compile(drop_barrier=1).barriers if b.number == 1] == [False]
    a = np.ones((32, 32), np.float32)
    for number in kept:
        races = kernel.simulate(a, a, a.copy(), 1.0, 0.0, drop_barrier=number).races
        assert {r.first.line for r in races} <= {22, 23, 24, 25}
        assert races


def test_a_race_names_the_tile_and_both_threads():
    """Buffer, stage and element of the operand tile, its byte, and CTA, warp and lane of both."""
    a = np.ones((32, 40), np.float32)
    races = gemm().simulate(a, a.T.copy(), np.ones((32, 32), np.float32), 1.0, 0.0, drop_barrier=1).races
    first = next(r for r in races if r.kind == "read after write" and r.name.startswith("a for dot"))
    assert re.fullmatch(r"a for dot\[stage \d\]\[\d+, \d+\]", first.name)
    thread = r"thread \d+ \(warp \d+ lane \d+\)"
    assert re.search(
        r"read after write on a for dot\[stage \d\]\[\d+, \d+\] \(shared\[\d+\]\): "
        rf"vector.load at line 25:12 by {thread} and nvgpu.device_async_copy at line 23:13 by {thread}, "
        r"both of CTA \(\d, \d, 0\) "
        r"\([\d,]+ times, by \d+ pairs of operations of these lines in stages 0, 1, 2, 3\)",
        str(first),
    )


def test_bank_conflicts_name_the_tile():
    """A transpose through unpadded rows of 32: conflicts on the author's array `s`."""
    text = EXAMPLES.joinpath("transpose_shared.ph").read_text("utf-8").replace("[32, 33]", "[32, 32]")
    (kernel,) = ph.compile(text, chip="sm_80")
    x = np.ones((32, 32), np.float32)
    worst = kernel.simulate(x, x.copy()).bank_conflicts[0]
    assert worst.name == "s"
    assert worst.conflicts == 32 * 31


def test_a_barrier_that_is_not_there_cannot_be_dropped():
    """PH516, at once: which are kept, before which lines, which are elided, and how to list them."""
    with pytest.raises(ph.PhobosError, match=r"PH516.*no barrier 9") as caught:
        gemm().compile(drop_barrier=9)
    assert caught.value.diagnostics[0].help == (
        "1 is kept: 1 before line 25; 1 elided (before line 29); "
        "`.compile().barriers` lists all with their reasons"
    )


@pytest.mark.parametrize("number", [0, -1, True, "1", 1.0])
def test_what_is_no_number_of_a_barrier_is_refused(number):
    """Barriers are numbered from 1 by integers."""
    with pytest.raises(ph.PhobosError, match=r"PH516.*drop_barrier"):
        gemm().compile(drop_barrier=number)


@pytest.mark.nvrtc
@pytest.mark.slow
@pytest.mark.parametrize("example", sorted(p.stem for p in EXAMPLES.glob("*.ph")))
def test_ptx_for_every_target(example):
    """All seven targets take every example."""
    (kernel,) = ph.load(EXAMPLES / f"{example}.ph")
    for chip in names():
        assert f".target {chip}" in kernel.compile(chip=chip).ptx


@pytest.mark.mlir
@pytest.mark.parametrize("example", sorted(p.stem for p in EXAMPLES.glob("*.ph")))
def test_emitted_thread_mlir_is_verified_by_upstream(example):
    """What `emit` prints is read and verified by upstream's own tool."""
    (kernel,) = ph.load(EXAMPLES / f"{example}.ph")
    text = kernel.compile(chip="sm_80", index_bits=64).thread_generic
    tool = shutil.which("mlir-opt-22")
    assert tool is not None
    done = subprocess.run([tool], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.nvrtc
@pytest.mark.parametrize("kind", ["file", "cell"])
def test_machine_code_names_no_folder_of_this_machine(kind, tmp_path, monkeypatch):
    """Cubin and PTX go to other machines: no folder of the source, of the process or of its owner."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "some folder" / "mine.ph"
    path.parent.mkdir()
    path.write_text(EXAMPLES.joinpath("saxpy_fp32.ph").read_text("utf-8"), "utf-8")
    (kernel,) = ph.load(path) if kind == "file" else ph.compile(path.read_text("utf-8"))
    compilation = kernel.compile(chip="sm_90a", TILE=512)
    here = [str(tmp_path), "some folder", str(Path.home()), str(Path(ph.__file__).parent)]
    for folder in here:
        assert folder.encode() not in compilation.cubin
        assert folder not in compilation.ptx
    assert b"/phobos" in compilation.cubin
