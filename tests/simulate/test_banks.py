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
KINDS = sorted({(c["kind"], c["size"]) for c in COUNTS})
ALL = np.ones((1, 32), bool)


def test_the_fixture_has_every_visible_count():
    """371 counts: 53 patterns (two are alike) for each of 7 kinds, with more than 5 results."""
    assert len(COUNTS) == 371
    for kind, size in KINDS:
        chosen = [c for c in COUNTS if (c["kind"], c["size"]) == (kind, size)]
        assert len({c["pattern"] for c in chosen}) == len(chosen) == 53
        assert len({tuple(c["index"]) for c in chosen}) == 52
        assert len({c["wavefronts"] for c in chosen}) > 5


def cases(kind, size):
    """The address patterns of one kind of access, [patterns, 32], and ncu's counts."""
    chosen = [c for c in COUNTS if (c["kind"], c["size"]) == (kind, size)]
    addresses = np.array([c["index"] for c in chosen]) * size
    return addresses, np.array([c["wavefronts"] for c in chosen])


@pytest.mark.parametrize(("kind", "size"), KINDS)
def test_wavefronts_equal_ncu(kind, size):
    """For every address pattern the rule gives the wavefronts that ncu counted."""
    addresses, counted = cases(kind, size)
    got = wavefronts(addresses, np.ones(addresses.shape, bool), size, kind)
    assert got.tolist() == counted.tolist()


ACCESS = {
    "load": (
        "%x = vector.load %s[%e] {{alignment = {size} : i64}} : {memory}, {vector}\n"
        "vector.store %x, %out[%o] {{alignment = {size} : i64}} : memref<?xf32>, {vector}"
    ),
    "store": (
        "%x = vector.load %out[%o] {{alignment = {size} : i64}} : memref<?xf32>, {vector}\n"
        "vector.store %x, %s[%e] {{alignment = {size} : i64}} : {memory}, {vector}"
    ),
    "async": (
        '%k = "nvgpu.device_async_copy"(%s, %e, %out, %o) '
        "<{{dstElements = {lanes} : index, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}}> "
        ": ({memory}, index, memref<?xf32>, index) -> !nvgpu.device.async.token"
    ),
}
POINTER = """
  %c0 = arith.constant 0 : index %n = arith.constant {lanes} : index
  %s = memref.view %smem[%c0][] : memref<49152xi8, S> to {memory}
  %i = memref.load %index[%t] : memref<?xi32>
  %j = arith.index_cast %i : i32 to index
  %e = arith.muli %j, %n : index %o = arith.muli %t, %n : index
"""


@pytest.mark.parametrize(("kind", "size"), KINDS)
def test_a_kernels_wavefronts_equal_ncu(make, kind, size):
    """Kernels that access shared memory at the 53 patterns are counted as ncu counted them."""
    words = {"memory": f"memref<{49152 // 4}xf32, S>", "vector": f"vector<{size // 4}xf32>"}
    body = (POINTER + ACCESS[kind]).format(lanes=size // 4, size=size, **words)
    k = make(body, [("index", "i32", False), ("out", "f32", True)], threads=32, shared=49152)
    for count in (c for c in COUNTS if (c["kind"], c["size"]) == (kind, size)):
        arrays = {"index": np.array(count["index"], np.int32), "out": np.zeros(128, np.float32)}
        result = k.run(races=False, **arrays)
        (access,) = [a for a in result.accesses if a.space == "shared"]
        assert access.kind == kind
        assert (access.bytes_per_lane, access.wavefronts) == (size, count["wavefronts"])


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
