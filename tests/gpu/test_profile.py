"""`Kernel.profile` on a GPU with Nsight Compute."""

import shutil
import subprocess

import numpy as np
import pytest

import phobos_nb as ph
from tests.examples_cases import CASES

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(shutil.which("ncu") is None, reason="Nsight Compute is not installed"),
]


def gemm():
    cupy = pytest.importorskip("cupy")
    kernel = CASES["gemm_fp32"].load().specialize(TILE_M=128, TILE_N=128, TILE_K=8)
    arrays = CASES["gemm_fp32"].arrays({"M": 256, "N": 128, "K": 64}, np.random.default_rng(3))
    return kernel, [cupy.asarray(v) if isinstance(v, np.ndarray) else v for v in arrays.values()]


def test_counts_stand_beside_the_simulators(tmp_path):
    """Loads from shared memory and stores to global memory cost on the GPU what was simulated."""
    kernel, arguments = gemm()
    before = [a.copy() for a in arguments[:3]]
    profile = kernel.profile(*arguments, report=tmp_path / "gemm")
    frame = profile.frame()
    print(frame.to_string())
    print(dict(profile.counts))
    assert all(bool((a == b).all()) for a, b in zip(arguments, before, strict=False))
    accesses = profile.simulation.accesses
    stores = sum(a.sectors for a in accesses if a.space == "global" and a.kind == "store")
    # Per line: the whole launch's counter also has what copies in flight cost loads, which varies.
    dot = frame[frame["text"].str.contains("dot(", regex=False)]
    assert len(dot) == 1
    assert (dot["shared_wavefronts"] == dot["simulated shared_wavefronts"]).all()
    assert profile.counts["global_store_sectors"] == stores
    assert frame["instructions"].sum() == profile.counts["instructions"]
    assert set(frame["line"]) > set(profile.simulation.line_frame()["line"]) - {0}


def test_nsight_shows_the_kernels_text(tmp_path):
    """The source page of the kept report has the lines of a kernel that came from no file."""
    text = CASES["gemm_fp32"].path.read_text("utf-8")
    kernel = ph.compile(text).gemm
    _, arguments = gemm()
    profile = kernel.profile(*arguments, report=tmp_path / "gemm", simulated=False)
    command = ["ncu", "--import", str(profile.report), "--page", "source", "--csv"]
    shown = subprocess.run(
        [*command, "--print-source", "cuda,sass"], capture_output=True, text=True, check=True
    ).stdout
    print(shown[:3000])
    line = next(x.strip() for x in text.splitlines() if "dot(" in x)
    assert line.replace('"', '""') in shown
