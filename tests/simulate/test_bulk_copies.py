"""Bulk copies: which bytes go where, and what each barrier, fence, wait and count around them is for."""

from dataclasses import replace

import numpy as np
import pytest

from phobos_nb.arguments.tensor_maps import encoding
from phobos_nb.contract import TensorMap
from phobos_nb.diagnostics import PhobosError
from tests import async_kernels
from tests.async_faults import deleted
from tests.async_kernels import BOXES, KERNELS, STORED
from tests.async_pipelines import product, ring, ring_sums
from tests.async_text import SIZES


def box_of(tensor, box, corner):
    """A box of a tensor by NumPy, zeros outside it."""
    found = np.zeros(box, tensor.dtype)
    for place in np.ndindex(*box):
        index = [c + p for c, p in zip(corner, place, strict=True)]
        if all(0 <= i < n for i, n in zip(index, tensor.shape, strict=True)):
            found[place] = tensor[tuple(index)]
    return found


def landed(values, swizzle):
    """The bytes of a box in shared memory: within 128-byte rows, 16-byte pieces change places."""
    raw = np.frombuffer(values.tobytes(), np.uint8)
    out = np.zeros(-(-len(raw) // 128) * 128, np.uint8)
    for piece in range(len(raw) // 16):
        row, column = piece // 8, piece % 8
        exchanged = column ^ (row % max(1, swizzle // 16))
        place = (row * 8 + exchanged) * 16
        out[place : place + 16] = raw[16 * piece : 16 * piece + 16]
    return out


@pytest.mark.parametrize("name", BOXES)
def test_a_box_lands_as_its_map_says(name):
    """Every rank, swizzle and overhang: the bytes in shared memory are those of a loop over the box."""
    _, _, box, corner, swizzle = BOXES[name]
    made = KERNELS[f"load {name}"]()
    for seed in range(3):
        result = made.run(seed=seed)
        assert result.clean
        wanted = landed(box_of(made.arguments["src"], box, corner), swizzle)
        assert result.outputs["out"].view(np.uint8).tolist() == wanted.tolist()


@pytest.mark.parametrize("name", STORED)
def test_a_box_is_stored_where_it_belongs(name):
    """Stores undo the swizzle, and leave alone what lies outside the tensor."""
    dtype, shape, box, corner, swizzle = BOXES[name]
    made = KERNELS[f"store {name}"]()
    result = made.run()
    assert result.clean
    words = np.arange(np.prod(box) * SIZES[dtype] // 4, dtype=np.int32)
    raw = words.view(np.uint8)
    raw = np.concatenate([raw, np.zeros(-len(raw) % 128, np.uint8)])
    straight = landed(raw, swizzle)[: np.prod(box) * SIZES[dtype]]
    values = straight.view(made.arguments["dst"].dtype).reshape(box)
    wanted = made.arguments["dst"].copy()
    for place in np.ndindex(*box):
        index = tuple(c + p for c, p in zip(corner, place, strict=True))
        if all(0 <= i < n for i, n in zip(index, shape, strict=True)):
            wanted[index] = values[place]
    assert result.outputs["dst"].tobytes() == wanted.tobytes()


@pytest.mark.parametrize("way", ["load", "store"])
def test_a_box_at_an_odd_place(way):
    """The innermost coordinate lies at a multiple of 16 bytes; else a GPU finds it illegal."""
    build = async_kernels.box_load if way == "load" else async_kernels.box_store
    result = build("f16", (100, 72), (64, 64), (3, 7), 128).run()
    text = "needs a first coordinate at a multiple of 16 bytes, found byte 14"
    assert ("misaligned", text) in {(f.kind, f.message) for f in result.faults}


def test_counts_of_bulk_copies():
    """Elements that exist, the lines and sectors that they touch; twice the bytes for two CTAs."""
    (found,) = KERNELS["load 2d f16 128B ragged"]().run().global_accesses[:1]
    assert (found.kind, found.tensor, found.executions) == ("bulk_load", "src", 1)
    assert (found.elements, found.bytes) == (36 * 40, 36 * 40 * 2)
    assert (found.fewest_sectors, found.sectors) == (90, 36 * 3)
    sent = next(a for a in KERNELS["multicast"]().run().accesses if a.tensor == "src")
    assert (sent.kind, sent.executions, sent.elements) == ("bulk_load", 4, 2 * 61 * 64)


def test_plain_copies():
    """Bytes in, doubled, and out, at offsets of their own in each CTA."""
    made = KERNELS["plain copies"]()
    parts = made.arguments["src"].reshape(3, -1)[:, 64:]
    for seed in range(4):
        result = made.run(seed=seed)
        assert result.clean
        assert (result.outputs["dst"].reshape(3, -1) == 2 * parts).all()


@pytest.mark.parametrize("registers", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_a_ring_of_stages(seed, registers):
    """One warp loads, others sum, in any order of warps and copies; warpgroups with registers moved."""
    made = ring(registers=registers)
    result = made.run(seed=seed)
    assert result.clean
    assert (result.outputs["out"] == ring_sums(made)).all()


def test_multicast():
    """Each CTA of a pair loads half a tile for both; rows past the end are zeros."""
    made = KERNELS["multicast"]()
    src = np.zeros((64, 64), np.float16)
    src[:61] = made.arguments["src"]
    for seed in range(4):
        result = made.run(seed=seed)
        assert result.clean
        out = result.outputs["out"].view(np.uint8).reshape(4, -1)
        for block in range(4):
            tile = src[32 * (block // 2) : 32 * (block // 2) + 32]
            assert out[block].tolist() == landed(tile, 128).tolist()


def test_exchange():
    """A pair of CTAs reads each other's shared memory directly and by a bulk copy."""
    made = KERNELS["exchange"]()
    src = made.arguments["src"].reshape(2, 2, 128)
    for seed in range(4):
        result = made.run(seed=seed)
        assert result.clean
        other = src[:, ::-1]
        assert (result.outputs["out"].reshape(2, 2, 128) == other + other[:, :, ::-1]).all()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_a_product(seed):
    """Tiles by bulk copies, products by wgmma, four stages in dynamic memory: right, and clean."""
    made = KERNELS["product"]()
    result = made.run(seed=seed)
    assert result.clean
    a, b = (made.arguments[x].astype(np.float64) for x in "AB")
    wanted = np.zeros(made.arguments["out"].shape)
    wanted[: len(a), : b.shape[1]] = a @ b
    assert np.abs(result.outputs["out"] - wanted).max() < 2e-5 * np.abs(wanted).max()


def test_named_barriers():
    """Two warps fill a buffer that two others empty, eight times."""
    made = KERNELS["named barriers"]()
    parts = made.arguments["src"].reshape(3, 8, 64)[:, :, ::-1]
    for seed in range(4):
        result = made.run(seed=seed)
        assert result.clean
        assert (result.outputs["out"].reshape(3, 64) == parts.sum(1)).all()


def test_polling():
    """A loop that asks a memory barrier ends when the phase does."""
    made = KERNELS["polled"]()
    for seed in range(4):
        result = made.run(seed=seed)
        assert result.clean
        assert (result.outputs["out"] == made.arguments["src"][::-1]).all()


# What each of them is for ------------------------------------------------------------------------

SYNCHRONISATION = (
    "gpu.barrier",
    "nvvm.barrier",
    "nvvm.barrier.arrive",
    "nvvm.cluster.arrive",
    "nvvm.cluster.wait",
    "nvvm.fence.proxy",
    "nvvm.fence.mbarrier.init",
    "nvvm.setmaxregister",
    "nvvm.cp.async.bulk.commit.group",
    "nvvm.cp.async.bulk.wait_group",
    "nvgpu.mbarrier.init",
    "nvgpu.mbarrier.arrive",
    "nvgpu.mbarrier.arrive.expect_tx",
    "nvgpu.mbarrier.try_wait.parity",
    "phobos.mbarrier.arrive.peer",
    "nvvm.wgmma.commit.group.sync.aligned",
    "phobos.wgmma.fence",
    "phobos.wgmma.wait",
)
WHOLE = (
    "load 2d f16 128B ragged",
    "store 2d f16 128B ragged",
    "plain copies",
    "ring",
    "ring of warpgroups",
    "multicast",
    "exchange",
    "named barriers",
)
MUTATED = {**{name: KERNELS[name] for name in WHOLE}, "product": lambda: product(64, 64, 456)}
NEEDLESS = {
    ("ring of warpgroups", "nvvm.setmaxregister", 1): "fewer registers than there could be, no fault",
    ("exchange", "nvvm.fence.mbarrier.init", 0): "the proxy fence after it hands over the barriers too",
}
"""What may be deleted, and why."""


def mutants():
    """Every operation that synchronises, of every kernel above."""
    for name in MUTATED:
        made = MUTATED[name]()
        ops = [o.name for o in made.module.walk() if o.name in SYNCHRONISATION]
        for op in sorted(set(ops)):
            yield from ((name, op, k) for k in range(ops.count(op)))


@pytest.mark.parametrize(("name", "op", "which"), list(mutants()))
def test_each_of_them_is_needed(name, op, which):
    """With one deleted, a race, deadlock or misuse is reported whatever the order; else it is listed."""
    mutant = deleted(MUTATED[name](), op, which)
    for seed in (0, 1):
        assert mutant.run(seed=seed, banks=False).clean == ((name, op, which) in NEEDLESS)


# Rules -------------------------------------------------------------------------------------------

GOOD = {"map_": TensorMap("m", "A", (8, 16)), "dtype": "f32", "shape": (64, 64), "strides": (64, 1)}
BROKEN = {
    "address": ({"address": 8}, "its address is not a multiple of 16 bytes"),
    "stride": ({"strides": (65, 1)}, "axis 0 has a stride of 260 bytes, not a positive multiple of 16"),
    "transposed": ({"strides": (1, 64)}, "its innermost stride is 64 elements, not 1"),
    "long box": ({"map_": TensorMap("m", "A", (8, 512))}, "the box [8, 512] is longer than 256"),
    "narrow box": (
        {"map_": TensorMap("m", "A", (8, 3))},
        "rows of the box have 12 bytes, not a multiple",
    ),
    "wide for the swizzle": (
        {"map_": TensorMap("m", "A", (8, 64), 128)},
        "rows of the box have 256 bytes, more than the swizzle, 128",
    ),
    "narrow for the swizzle": (
        {"map_": TensorMap("m", "A", (8, 16), 128)},
        "rows of the box have 64 bytes, narrower than the swizzle: "
        "they would lie 128 bytes apart, outside the box's array",
    ),
    "rank": ({"map_": TensorMap("m", "A", (8,))}, "a box of 1 axes for an array of 2"),
    "empty": ({"shape": (0, 64)}, "its extents [0, 64] are not from 1 to 2^32"),
}


def test_an_array_that_can_be_copied():
    """Axes are turned round, strides are bytes, the innermost has none."""
    found = encoding(address=4096, **GOOD)
    assert (found.extents, found.strides, found.box) == ((64, 64), (256,), (16, 8))


@pytest.mark.parametrize("name", BROKEN)
def test_arrays_and_boxes_that_cannot(name):
    """Each rule of tensor maps is told by its numbers."""
    change, message = BROKEN[name]
    with pytest.raises(PhobosError) as caught:
        encoding(**{"address": 4096, **GOOD, **change})
    (found,) = caught.value.diagnostics
    assert found.code == "PH713"
    assert message in found.message


def test_the_simulator_asks_the_same_of_arrays():
    """A launch over an array that no map can describe says so before it starts."""
    made = KERNELS["load 2d f16 128B"]()
    wide = np.zeros((100, 73), np.float16)[:, :72]
    with pytest.raises(PhobosError, match="axis 0 has a stride of 146 bytes"):
        replace(made, arguments={**made.arguments, "src": wide}).run()
