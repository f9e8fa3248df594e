"""Bulk copies as an H200 made them: `results/h200_async.json` against today's simulator."""

import json
from pathlib import Path

import pytest

from phobos_nb.diagnostics import PhobosError
from tests.async_bytes import bytes_of, digest, simulated
from tests.async_kernels import KERNELS
from tests.async_probes import PROBES
from tests.async_random import RANDOM

MEASURED = json.loads((Path(__file__).parents[2] / "results" / "h200_async.json").read_text())
ENDS = {
    "cudaErrorIllegalInstruction": ("a first coordinate at a multiple of 16 bytes", "before the tensor"),
    "cudaErrorMisalignedAddress": ("a box at a multiple of 128 bytes",),
}
"""How a launch ends on the GPU, and what the fault says then."""


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_give_the_gpus_bytes(name):
    """All bytes of all tensors that a kernel writes are those of the GPU."""
    _, _, after = simulated(KERNELS[name]())
    assert digest(after) == MEASURED["kernel"][name]


@pytest.mark.parametrize("name", list(RANDOM)[::6])
def test_random_kernels_give_the_gpus_bytes(name):
    """So are those of random kernels: every sixth here, all of them when they were measured."""
    _, _, after = simulated(RANDOM[name]())
    assert digest(after) == MEASURED["random"][name]


def test_everything_was_measured():
    """Each kernel that is run in both places has been, and none gave other bytes."""
    assert set(MEASURED["kernel"]) == set(KERNELS)
    assert set(MEASURED["random"]) == set(RANDOM)
    assert set(MEASURED["probes"]) == set(PROBES)
    assert MEASURED["different"] == []


@pytest.mark.parametrize("name", PROBES)
def test_boxes_at_the_edge(name):
    """What ends a launch on the GPU is a fault of that kind, what does not is copied as there.

    Boxes narrower than their swizzle are refused, which a GPU spreads over more bytes than theirs; what
    it writes behind the ends of rows is a fault.
    """
    outcome, probe = MEASURED["probes"][name], PROBES[name]
    made = probe.kernel()
    if probe.narrow:
        with pytest.raises(PhobosError, match="narrower than the swizzle"):
            made.run()
        return
    result, _, after = simulated(made)
    messages = [f.message for f in result.faults]
    if probe.spills and outcome == "equal":
        assert any("behind the ends of rows" in m for m in messages)
    elif outcome == "equal":
        assert result.clean
        assert digest(after) == digest({n: bytes_of(a) for n, a in probe.wanted(made).items()})
    else:
        assert any(text in m for text in ENDS[outcome] for m in messages)
