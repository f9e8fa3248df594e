"""Hand-written kernels of bulk copies, memory barriers and clusters, with their arguments.

Each is simulated by tests/simulate and run on a GPU by tests/gpu/async_copies.py: the outputs of the two
are the same bits.
"""

from __future__ import annotations

import numpy as np

from phobos_nb.contract import TensorMap
from tests.async_boxes import Box, with_gaps
from tests.async_pipelines import product, ring
from tests.async_text import (
    BARRIER,
    CLUSTER_SYNC,
    COMMIT,
    FENCE,
    FIRST,
    NUMPY,
    RANK,
    SIZES,
    START,
    WAIT_ALL,
    WAIT_READ,
    Kernel,
    arrive,
    bulk_load,
    bulk_send,
    bulk_store,
    dump,
    expect,
    filled,
    init,
    kernel,
    op,
    peer,
    poll,
    shared_view,
    tensor_load,
    tensor_store,
    wait,
    when,
)


def _coordinates(corner: tuple[int, ...]) -> tuple[list[str], str]:
    """Names of a corner's coordinates, innermost first, and the text that makes them."""
    names = [f"%k{a}" for a in range(len(corner))]
    made = zip(names, reversed(corner), strict=True)
    return names, "".join(f"{n} = arith.constant {c} : index\n" for n, c in made)


def box_load(
    dtype: str,
    shape: tuple[int, ...],
    box: tuple[int, ...],
    corner: tuple[int, ...],
    swizzle: int = 0,
    at: int = 0,
) -> Kernel:
    """One box of a tensor as it lies in shared memory, out as raw words; `corner` is outermost first.

    `at` is the box's first byte in shared memory.
    """
    count = int(np.prod(box)) * SIZES[dtype]
    size = -(-(at + Box(dtype, box).placed(swizzle)) // 128) * 128
    names, constants = _coordinates(corner)
    start = shared_view("box", f"%c{at}", box, dtype, size)
    load = expect("%c0", count, 1) + tensor_load("%box", box, dtype, swizzle, names, "%c0", 1)
    body = (
        START + constants + start + filled(size, 128) + FENCE
        + init([1]) + when("%first", load) + wait("%c0", "%even", 1) + dump(size, "out", 128)
    )  # fmt: skip
    tensors = [("src", dtype, shape, False), ("out", "i32", (size // 4,), True)]
    rng = np.random.default_rng(0)
    src = rng.integers(1, 100, shape).astype(NUMPY[dtype])
    return kernel(
        body,
        tensors,
        shared=size,
        maps=[TensorMap("map", "src", box, swizzle)],
        arguments={"src": src, "out": np.full(size // 4, -1, np.int32)},
    )


def box_store(
    dtype: str,
    shape: tuple[int, ...],
    box: tuple[int, ...],
    corner: tuple[int, ...],
    swizzle: int = 0,
    at: int = 0,
    gap: int = 0,
) -> Kernel:
    """Shared words 0, 1, 2 .. stored, from a byte on, as one box of a tensor that holds ones.

    `gap` is the number of bytes behind each of its rows.
    """
    size = at + Box(dtype, box).placed(swizzle)
    names, constants = _coordinates(corner)
    store = tensor_store("%box", box, dtype, swizzle, names) + COMMIT + WAIT_READ
    body = (
        FIRST + constants + shared_view("box", f"%c{at}", box, dtype, size)
        + filled(size, 128) + FENCE + BARRIER
        + when("%first", store)
    )  # fmt: skip
    return kernel(
        body,
        [("dst", dtype, shape, True)],
        shared=size,
        maps=[TensorMap("map", "dst", box, swizzle)],
        arguments={"dst": with_gaps(shape, dtype, gap)},
    )


def plain_copies(bytes_: int = 1024, shift: int = 64) -> Kernel:
    """Bytes of each block's part in, doubled by all threads, and out again."""
    words, per = bytes_ // 4, bytes_ // 4 + shift
    load = bulk_load("%s", words, "%src", "%from", f"%c{bytes_}", "%c0", 1)
    store = bulk_store("%dst", "%to", "%s", words, f"%c{bytes_}")
    work = f"""
  scf.for %w = %t to %c{words} step %c128 {{
    %x = memref.load %s[%w] : memref<{words}xi32, S>
    %y = arith.addi %x, %x : i32
    memref.store %y, %s[%w] : memref<{words}xi32, S>
  }}
"""
    places = f"%from0 = arith.muli %b, %c{per} : index\n%from = arith.addi %from0, %c{shift} : index\n"
    places += f"%to = arith.muli %b, %c{words} : index\n"
    types = "memref<?xi32>, index, index"
    prefetch = op("phobos.bulk.prefetch", f"%src, %from, %c{bytes_}", types, (1, 1, 1))
    body = (
        START + places + shared_view("s", "%c0", [words], "i32", bytes_)
        + when("%first", prefetch + "\n") + init([1]) + when("%first", expect("%c0", bytes_, 1) + load)
        + wait("%c0", "%even", 1) + work + FENCE + BARRIER
        + when("%first", store + COMMIT + WAIT_ALL)
    )  # fmt: skip
    src = np.random.default_rng(1).integers(0, 1000, 3 * per).astype(np.int32)
    return kernel(
        body,
        [("src", "i32", (3 * per,), False), ("dst", "i32", (3 * words,), True)],
        shared=bytes_,
        grid=3,
        arguments={"src": src, "dst": np.full(3 * words, -1, np.int32)},
    )


def multicast() -> Kernel:
    """Two CTAs of a cluster load half a tile each and send it to both; each writes out the tile."""
    box, swizzle = (16, 64), 128
    half = 16 * 64 * 2
    load = expect("%c0", 2 * half, 1) + tensor_load(
        "%mine", box, "f16", swizzle, ["%c0", "%row"], "%c0", 1, "%both"
    )
    body = (
        START
        + '%rank = "gpu.cluster_block_id"() <{dimension = #gpu<dim x>}> : () -> index\n'
        + "%both = arith.constant 3 : i16\n"
        + f"%shift = arith.muli %rank, %c{half} : index\n%row = arith.muli %b, %c16 : index\n"
        + shared_view("mine", "%shift", box, "f16", 2 * half)
        + init([1], cluster=True) + when("%first", load) + wait("%c0", "%even", 1)
        + f"%base = arith.muli %b, %c{2 * half // 4} : index\n"
        + dump(2 * half, "out", 128, "%base")
    )  # fmt: skip
    src = np.random.default_rng(3).integers(0, 100, (16 * 4 - 3, 64)).astype(np.float16)
    return kernel(
        body,
        [("src", "f16", src.shape, False), ("out", "i32", (4 * half // 2,), True)],
        shared=2 * half,
        cluster=2,
        maps=[TensorMap("map", "src", box, swizzle)],
        grid=4,
        arguments={"src": src, "out": np.full(4 * half // 2, -1, np.int32)},
    )


def exchange() -> Kernel:
    """Each CTA of a pair sends the other 512 bytes by a bulk copy, and reads a word of it directly."""
    put = "memref.store %mine, %own[%t] : memref<128xi32, S>\n"
    send = expect("%c0", 512, 2) + bulk_send("%there", "%own", "%c0", 128, 512, 2, "%other")
    done = op("phobos.mbarrier.arrive.peer", "%bar, %c1, %other", "G<2>, index, index")
    body = (
        START + RANK + "%other = arith.subi %c1, %rank : index\n"
        + shared_view("own", "%c0", [128], "i32", 1024) + shared_view("got", "%c512", [128], "i32", 1024)
        + peer("there", "got", 128, "%other") + peer("away", "own", 128, "%other")
        + "%p0 = arith.muli %b, %c128 : index\n%p = arith.addi %p0, %t : index\n"
        + "%mine = memref.load %src[%p] : memref<?xi32>\n"
        + init([1, 128], cluster=True) + put + FENCE + CLUSTER_SYNC
        + when("%first", send)
        + "%q = arith.subi %c127, %t : index\n"
        + "%direct = memref.load %away[%q] : memref<128xi32, 7 : i64>\n"
        + wait("%c0", "%even", 2) + "%sent = memref.load %got[%t] : memref<128xi32, S>\n"
        + done + "\n" + wait("%c1", "%even", 2)
        + "%sum = arith.addi %direct, %sent : i32\nmemref.store %sum, %out[%p] : memref<?xi32>\n"
    )  # fmt: skip
    src = np.random.default_rng(4).integers(0, 1000, 512).astype(np.int32)
    return kernel(
        body,
        [("src", "i32", (512,), False), ("out", "i32", (512,), True)],
        shared=1024,
        cluster=2,
        grid=4,
        arguments={"src": src, "out": np.full(512, -1, np.int32)},
    )


def named_barriers() -> Kernel:
    """Two producer warps and two consumer warps hand over one buffer by two named barriers."""
    n, k = "%count = arith.constant 128 : i32\n", "%full = arith.constant 1 : i32\n"
    k += "%free = arith.constant 2 : i32\n"

    def sync(which: str) -> str:
        return op("nvvm.barrier", f"{which}, %count", "i32, i32", (1, 1, 0)) + "\n"

    def come(which: str) -> str:
        return f'"nvvm.barrier.arrive"({which}, %count) : (i32, i32) -> ()\n'

    body = (
        n + k + "%zero = arith.constant 0 : i32\n" + shared_view("s", "%c0", [64], "i32", 256)
        + "%producer = arith.cmpi ult, %t, %c64 : index\n"
        + "%at = arith.muli %b, %c512 : index\n"
        + "scf.if %producer {\n  scf.for %i = %c0 to %c8 step %c1 {\n"
        + "  %o0 = arith.muli %i, %c64 : index\n  %o1 = arith.addi %o0, %t : index\n"
        + "  %o = arith.addi %o1, %at : index\n  %x = memref.load %src[%o] : memref<?xi32>\n"
        + sync("%free") + "  memref.store %x, %s[%t] : memref<64xi32, S>\n" + come("%full")
        + "  }\n} else {\n  %me = arith.subi %t, %c64 : index\n  %q = arith.subi %c63, %me : index\n"
        + come("%free")
        + "  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (i32) {\n"
        + sync("%full") + "  %x = memref.load %s[%q] : memref<64xi32, S>\n"
        + "  %n = arith.addi %acc, %x : i32\n  %last = arith.cmpi eq, %i, %c7 : index\n"
        + "  %again = arith.cmpi ne, %i, %c7 : index\n" + when("%again", come("%free"))
        + "  scf.yield %n : i32\n  }\n"
        + "  %p0 = arith.muli %b, %c64 : index\n  %p = arith.addi %p0, %me : index\n"
        + "  memref.store %sum, %out[%p] : memref<?xi32>\n}\n"
    )  # fmt: skip
    src = np.random.default_rng(5).integers(0, 1000, 3 * 512).astype(np.int32)
    return kernel(
        body,
        [("src", "i32", (3 * 512,), False), ("out", "i32", (192,), True)],
        shared=256,
        grid=3,
        arguments={"src": src, "out": np.full(192, -1, np.int32)},
    )


def polled() -> Kernel:
    """A thread asks again and again whether a phase is over, then everybody reads what it waited for."""
    load = expect("%c0", 512, 2) + bulk_load("%s", 128, "%src", "%c0", "%c512", "%c0", 2)
    ask = arrive("%c1", 2, "token") + poll(1, "%token")
    body = (
        START + shared_view("s", "%c0", [128], "i32", 512)
        + init([1, 128]) + when("%first", load) + wait("%c0", "%even", 2) + ask
        + "%q = arith.subi %c127, %t : index\n%x = memref.load %s[%q] : memref<128xi32, S>\n"
        + "memref.store %x, %out[%t] : memref<?xi32>\n"
    )  # fmt: skip
    src = np.random.default_rng(6).integers(0, 1000, 128).astype(np.int32)
    return kernel(
        body,
        [("src", "i32", (128,), False), ("out", "i32", (128,), True)],
        shared=512,
        arguments={"src": src, "out": np.full(128, -1, np.int32)},
    )


BOXES = {
    "2d f32 none": ("f32", (40, 36), (16, 32), (0, 0), 0),
    "2d f32 ragged": ("f32", (40, 36), (16, 32), (32, 16), 0),
    "2d f16 128B": ("f16", (100, 72), (64, 64), (0, 0), 128),
    "2d f16 128B ragged": ("f16", (100, 72), (64, 64), (64, 32), 128),
    "2d f16 128B before": ("f16", (100, 72), (64, 64), (-3, -8), 128),
    "2d f16 64B": ("f16", (100, 72), (64, 32), (50, 56), 64),
    "2d f16 32B": ("f16", (100, 72), (64, 16), (50, 64), 32),
    "2d f32 32B": ("f32", (20, 8), (24, 8), (0, 0), 32),
    "2d i8 128B": ("i8", (64, 160), (32, 128), (40, 48), 128),
    "1d i32": ("i32", (1000,), (256,), (900,), 0),
    "3d f16": ("f16", (5, 20, 40), (2, 8, 32), (4, 14, 24), 0),
    "4d f32": ("f32", (3, 4, 5, 8), (2, 2, 3, 8), (2, 3, 3, 4), 32),
    "5d f32": ("f32", (2, 3, 2, 5, 8), (2, 2, 2, 3, 4), (1, 2, 0, 4, 4), 0),
    "2d f32 128B tall": ("f32", (300, 36), (250, 32), (1, 4), 128),
}
"""dtype, tensor, box, corner (outermost first), swizzle."""
STORED = {name: case for name, case in BOXES.items() if min(case[3]) >= 0}
"""Those that may be stored: none begins before the tensor."""

KERNELS = {
    **{f"load {name}": lambda c=case: box_load(*c) for name, case in BOXES.items()},
    **{f"store {name}": lambda c=case: box_store(*c) for name, case in STORED.items()},
    "plain copies": plain_copies,
    "ring": ring,
    "ring of warpgroups": lambda: ring(registers=True),
    "multicast": multicast,
    "exchange": exchange,
    "named barriers": named_barriers,
    "polled": polled,
    "product": product,
}
"""What is run in both places."""
