"""Compiling on a cluster: Dask's executor like any other of `concurrent.futures`."""

import sys
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.contract import Variant
from phobos_nb.options import CompileOptions
from phobos_nb.tune.compile_job import Compiled, CompileJob, KernelText, compile_job
from phobos_nb.tune.outcome import Failed, Kind

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def executor():
    """Two spawned workers; spawning asks `__main__` for a spec, and pytest-xdist gives it none."""
    if not hasattr(sys.modules["__main__"], "__spec__"):
        sys.modules["__main__"].__spec__ = None
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client.get_executor()


@pytest.mark.nvrtc
def test_jobs_compile_on_the_workers(executor):
    """Plain data goes there, cubins and refusals come back."""
    kernel = ph.load(EXAMPLES / "gemm_fp32.ph").gemm
    text = KernelText(kernel.source, kernel.name, CompileOptions("sm_80"))
    tiles = [(32, 32, 4), (64, 32, 8), (256, 256, 8)]
    jobs = [CompileJob(text, Variant(), {"TILE_M": m, "TILE_N": n, "TILE_K": k}) for m, n, k in tiles]
    first, second, third = [executor.submit(compile_job, job).result(120) for job in jobs]
    assert isinstance(first, Compiled)
    assert isinstance(second, Compiled)
    assert all(c.cubins[0].startswith(b"\x7fELF") for c in (first, second))
    assert isinstance(third, Failed)
    assert third.kind is Kind.CONSTRAINT


def test_a_search_takes_the_executor(executor, tmp_path, monkeypatch):
    """`executor=` in place of processes of our own; it is left open."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    saxpy = ph.load(EXAMPLES / "saxpy_fp32.ph").saxpy
    x, y = np.ones(4096, np.float32), np.ones(4096, np.float32)
    tuning = saxpy.tune(x, y, 0.5, executor=executor, isolate=False, rounds=9)
    assert len(tuning.measured) == 4
    assert executor.submit(abs, -1).result(60) == 1
