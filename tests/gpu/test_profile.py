"""`Kernel.profile` on a GPU with Nsight Compute."""

import shutil
import subprocess

import numpy as np
import pytest

import phobos_nb as ph
from tests.examples_cases import CASES
from tests.gpu.source_page import source_pages, without_quotes

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


@pytest.mark.parametrize("written", [False, True])
def test_nsight_shows_the_kernels_text(tmp_path, written):
    """Nsight's own source page opens the files, with the text and the instructions of every line.

    Of a kernel from a file that file, of a kernel from a cell its text written beside the report; the
    CUDA of helpers too. Its sums per line are those of `Profile`, but for helpers, which it shows under
    their own lines and `Profile` under the lines that call them.
    """
    case = CASES["gemm_fp32"]
    text = case.path.read_text("utf-8")
    kernel = ph.compile(text).gemm if written else ph.load(case.path).gemm
    _, arguments = gemm()
    profile = kernel.profile(*arguments, report=tmp_path / "gemm", simulated=False)
    command = ["ncu", "--import", str(profile.report), "--page", "source", "--csv"]
    command += ["--print-source", "cuda,sass"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "Unable to open" not in shown
    pages = source_pages(shown)
    own = str(tmp_path / "gemm.ph" if written else case.path)
    assert set(pages) == {own, str(tmp_path / "gemm.cu")}
    lines = text.splitlines()
    (counts,) = [launch.lines for launch in profile.launches]
    assert len(pages[own]) > 4
    for number, (line, instructions) in pages[own].items():
        print(number, line, instructions, counts[number]["instructions"])
        assert without_quotes(line) == without_quotes(lines[number - 1].strip())
        assert instructions <= counts[number]["instructions"]
    dot = next(n for n, line in enumerate(lines, 1) if "dot(" in line)
    assert pages[own][dot][1] == counts[dot]["instructions"]
    helpers = (tmp_path / "gemm.cu").read_text("utf-8").splitlines()
    for number, (line, _) in pages[str(tmp_path / "gemm.cu")].items():
        assert without_quotes(line) == without_quotes(helpers[number - 1].strip())
