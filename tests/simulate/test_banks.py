"""Shared-memory wavefronts against counts that ncu took on an H200, and worked cases."""

import json
import re
from pathlib import Path

import numpy as np
import pytest

from phobos_nb.simulate.banks import NOT_KNOWN, fewest_wavefronts, wavefronts
from tests.simulate.test_wgmma import Operands
from tests.tensor_core_kernels import Wgmma, wgmma_kernel

COUNTS = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "wavefronts_h200.jsonl").read_text().splitlines()
]
ALL = np.ones((1, 32), bool)


def test_the_fixture_has_every_visible_count():
    """All 371 counts that ncu can see are checked."""
    assert len(COUNTS) == 371


def cases(kind, size):
    """The address patterns of one kind of access, [patterns, 32], and ncu's counts."""
    chosen = [c for c in COUNTS if (c["kind"], c["size"]) == (kind, size)]
    addresses = np.array([c["index"] for c in chosen]) * size
    return addresses, np.array([c["wavefronts"] for c in chosen])


@pytest.mark.parametrize(("kind", "size"), sorted({(c["kind"], c["size"]) for c in COUNTS}))
def test_wavefronts_equal_ncu(kind, size):
    """For every address pattern the rule gives the wavefronts that ncu counted."""
    addresses, counted = cases(kind, size)
    got = wavefronts(addresses, np.ones(addresses.shape, bool), size, kind)
    assert got.tolist() == counted.tolist()


@pytest.mark.parametrize("kind", ["load", "store"])
@pytest.mark.parametrize("size", [4, 8, 16])
def test_no_access_beats_the_fewest(kind, size):
    """The fewest possible wavefronts never exceed what ncu counted."""
    addresses, counted = cases(kind, size)
    bound = fewest_wavefronts(addresses, np.ones(addresses.shape, bool), size, kind)
    assert (bound <= counted).all()


def test_wide_asynchronous_copies_are_not_known():
    """The counter of ncu reads 0 for every 16-byte cp.async, so no number is claimed."""
    assert wavefronts(np.arange(32)[None] * 16, ALL, 16, "async").tolist() == [NOT_KNOWN]


@pytest.mark.parametrize(
    ("itemsize", "pitch", "ways"), [(4, 32, 32), (4, 33, 1), (2, 64, 32), (2, 72, 4), (2, 66, 1)]
)
def test_column_read(itemsize, pitch, ways):
    """A 32-row column read conflicts as its pitch says: 32 f32 words 32-way, 72 f16 4-way, odd none."""
    addresses = np.arange(32)[None] * pitch * itemsize
    assert wavefronts(addresses, ALL, itemsize, "load").tolist() == [ways]


def test_inactive_lanes_cost_nothing():
    """Lanes that are masked out take no wavefront, and a warp without an active lane none."""
    addresses = np.arange(32)[None] * 128
    active = np.arange(32)[None] < 3
    assert wavefronts(addresses, active, 4, "store").tolist() == [3]
    assert wavefronts(addresses, ~ALL, 16, "load").tolist() == [0]


MATRIX = [
    json.loads(line)
    for line in (Path(__file__).parent / "data" / "matrix_wavefronts_h200.jsonl")
    .read_text()
    .splitlines()
]
MOVES = [c for c in MATRIX if "rows" in c]


@pytest.mark.parametrize("kernel", sorted({c["kernel"] for c in MOVES}))
def test_moves_of_tiles_equal_ncu(kernel):
    """For every pattern of row addresses the rule gives what ncu counted of ldmatrix and stmatrix."""
    chosen = [c for c in MOVES if c["kernel"] == kernel]
    tiles = int(kernel.split("_x")[1][0])
    active = np.broadcast_to(np.arange(32) < 8 * tiles, (len(chosen), 32))
    kind = "matrix" if kernel.startswith("ld") else "matrix_store"
    got = wavefronts(16 * np.array([c["rows"] for c in chosen]), active, 16, kind)
    assert got.tolist() == [c["wavefronts"] for c in chosen]


def test_products_of_warpgroups_equal_ncu():
    """What a wgmma adds to the shared wavefronts of its kernel is its bytes by 128, in 25 layouts."""
    rest = set()
    for count in MATRIX[len(MOVES) :]:
        columns = int(re.search(r"n(\d+)", count["kernel"]).group(1))
        case = Wgmma(columns, "f16", "f32", in_registers="registers" in count["kernel"])
        operands = Operands(case)
        result = wgmma_kernel(case, len(operands.image)).run(**operands.arguments(case))
        (access,) = [a for a in result.accesses if a.kind == "wgmma"]
        rest.add(count["all_shared_wavefronts"] - access.wavefronts)
        assert access.wavefronts == access.fewest_wavefronts == access.bytes // 128
    assert len(MATRIX) - len(MOVES) == 25
    assert rest == {334}
