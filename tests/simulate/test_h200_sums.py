"""The simulator against what an H200 wrote: by the hashes of `results/h200_tensor_cores.json`."""

import json
from pathlib import Path

import pytest

from tests.gpu.tensor_core_jobs import layout_jobs, mma_jobs, move_jobs, wgmma_jobs, wmma_jobs
from tests.gpu.tensor_cores import digest, simulated

RESULTS = Path(__file__).parents[2] / "results" / "h200_tensor_cores.json"
REPORT = json.loads(RESULTS.read_text())
MAKERS = {
    "mma.sync": lambda: mma_jobs(48),
    "wmma": lambda: wmma_jobs(12),
    "wgmma": lambda: wgmma_jobs(12),
    "descriptors": layout_jobs,
    "moves": move_jobs,
}
STEPS = {"mma.sync": 1, "wmma": 4, "wgmma": 5, "descriptors": 23, "moves": 1}
"""Every how many launches one is simulated here; the script on a GPU takes all."""


@pytest.mark.parametrize("kind", MAKERS)
def test_the_bits_of_an_h200(kind):
    """Inputs are those that the GPU had, and the outputs are its outputs, bit for bit."""
    for job in list(MAKERS[kind]())[:: STEPS[kind]]:
        row = REPORT["launches"][job.name]
        assert digest(*job.tensors.values()) == row["inputs"], job.name
        assert digest(simulated(job)) == row["outputs"], job.name


def test_everything_was_equal():
    """No launch differed, whole GEMMs included, and WMMA's fragments lie as the docs say."""
    assert REPORT["different"] == []
    assert all(k["launches"] == k["launches_equal"] for k in REPORT["kinds"].values())
    assert all(g["same"] == g["runs"] == 20 for g in REPORT["gemms"].values())
    assert all(REPORT["wmma_fragments_as_expected"].values())
