"""A Dask cluster: its executor compiles, like any other of `concurrent.futures`; its workers measure."""

import sys
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.contract import Variant
from phobos_nb.options import CompileOptions
from phobos_nb.tune.cluster import RemoteBench, devices_of
from phobos_nb.tune.compile_job import Compiled, CompileJob, KernelText, compile_job
from phobos_nb.tune.devices import Device
from phobos_nb.tune.outcome import Failed, Kind
from phobos_nb.tune.worker import RemoteError, WorkerCrashError, WorkerTimeoutError
from tests.tune import faults

distributed = pytest.importorskip("distributed")
pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def client():
    """Two spawned workers; spawning asks `__main__` for a spec, and pytest-xdist gives it none."""
    if not hasattr(sys.modules["__main__"], "__spec__"):
        sys.modules["__main__"].__spec__ = None
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture
def executor(client):
    return client.get_executor()


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


def test_workers_measure_one_device_each(client, tmp_path, monkeypatch):
    """Two workers, two devices told apart; all configurations measured, the finals on both."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    saxpy = ph.load(EXAMPLES / "saxpy_fp32.ph").saxpy
    x, y = np.ones(4096, np.float32), np.ones(4096, np.float32)
    tuning = saxpy.tune(x, y, 0.5, executor=client.get_executor(), devices=client, rounds=10)
    assert len(tuning.measured) == 4
    assert tuning.winner is not None
    assert len(tuning.winner.rounds) % 10 == 0
    found = tuning.record.host["devices"].split(", ")
    assert len(set(found)) == 2
    assert np.all(y == 1)


def test_two_workers_with_one_device_are_one(client):
    """A device that two workers see is given to one; each of two devices to a worker of its own."""
    assert [d.uuid for d in devices_of(client, one_gpu, "a card").values()] == ["GPU-1"]
    both = devices_of(client, two_gpus, "a card")
    assert sorted(d.uuid for d in both.values()) == ["GPU-1", "GPU-2"]
    assert len(both) == 2
    with pytest.raises(ph.PhobosError, match="none is of the arrays' model another"):
        devices_of(client, one_gpu, "another")
    with pytest.raises(ph.PhobosError, match="no worker of the cluster"):
        devices_of(client, no_gpu, "a card")


def one_gpu():
    return [Device(0, "GPU-1", "a card")]


def two_gpus():
    return [Device(0, "GPU-1", "a card"), Device(1, "GPU-2", "a card")]


def no_gpu():
    raise ImportError("no CuPy")


def test_faults_on_a_worker_come_back(client):
    """Exceptions, hangs and crashes of the process that measures there; the worker lives on."""
    address = sorted(client.scheduler_info()["workers"])[0]
    bench = RemoteBench(client, address, faults.TaskCaller, "a task")
    assert bench.call("run", faults.add, (2, 3), {}) == 5
    with pytest.raises(RemoteError, match="ValueError: why"):
        bench.call("run", faults.raise_error, ("why",), {})
    with pytest.raises(WorkerTimeoutError, match=r"0\.5 s"):
        bench.call("run", faults.hang, (), {}, timeout=0.5)
    with pytest.raises(WorkerCrashError, match="SIGABRT"):
        bench.call("run", faults.abort, (), {})
    assert bench.call("run", faults.add, (1, 1), {}) == 2
    assert bench.generation == 3
    bench.close()
    assert client.submit(abs, -3, pure=False).result(30) == 3


def test_peers_are_not_timed_elsewhere(client):
    """What is timed in this process would be on another machine than the finalists."""
    saxpy = ph.load(EXAMPLES / "saxpy_fp32.ph").saxpy
    x, y = np.ones(64, np.float32), np.ones(64, np.float32)
    with pytest.raises(ph.PhobosError, match="not on a cluster"):
        saxpy.tune(x, y, 0.5, devices=client, against={"mine": lambda: None}, remember=False)
