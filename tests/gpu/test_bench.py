"""Benchmarks on a GPU: peers compute the same, callables join, baselines hold in another process."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from phobos_nb.bench.measure import measure
from phobos_nb.bench.row import OURS
from phobos_nb.bench.table import WORKLOADS
from phobos_nb.cuda import peers
from phobos_nb.options import child_environment

pytestmark = pytest.mark.gpu

ROOT = Path(__file__).parents[2]
QUICK = {"examples": ROOT / "examples", "rounds": 9, "warm": 0.0}


@pytest.fixture(autouse=True)
def own_records(tmp_path, monkeypatch):
    pytest.importorskip("cupy")
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))


@pytest.mark.parametrize("name", WORKLOADS)
@pytest.mark.parametrize("with_torch", [True, False])
def test_peers_of_the_same_precision_compute_the_same(monkeypatch, name, with_torch):
    """Ours within the tolerance, every peer close to it: cuBLAS, torch, and CuPy where torch is not."""
    if not with_torch:
        monkeypatch.setattr(peers, "torch", lambda: None)
    rows = measure(name, sizes=[512], **QUICK)
    assert rows[0].contender == OURS
    assert len(rows) > 1
    assert all(row.passed for row in rows if row.ours)
    limit = 10 * WORKLOADS[name].tolerance + 1e-6
    assert {row.contender: row.error for row in rows if row.same_precision and row.error > limit} == {}
    assert all(row.times for row in rows)


def test_any_callable_is_timed_on_the_same_stream():
    """A user's CuPy expression, verified and in the same rounds."""

    def mine(values):
        values["Y"] += values["a"] * values["X"]

    rows = {
        r.contender: r for r in measure("saxpy_fp32", sizes=[1 << 20], peers={"mine": mine}, **QUICK)
    }
    assert rows["mine"].passed
    assert len(rows["mine"].times) == len(rows[OURS].times)


def test_two_processes_agree_on_an_unchanged_kernel(tmp_path):
    """The command against its own baseline: exit code 0, and the same card's name on both."""

    def bench(*options):
        code = "import sys; from phobos_nb.cli import main; sys.exit(main(sys.argv[1:]))"
        command = [sys.executable, "-c", code, "bench", "--bench", "softmax", *options]
        environment = child_environment({"PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])})
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)

    baseline = tmp_path / "baseline.json"
    assert bench("--json", str(baseline)).returncode == 0
    again = bench("--against", str(baseline))
    assert again.returncode == 0, again.stdout + again.stderr
    assert "same" in again.stdout
