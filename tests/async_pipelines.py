"""Pipelines by hand: a producer's bulk copies in a ring of stages, and consumers of what they bring."""

from __future__ import annotations

import numpy as np

from phobos_nb.contract import TensorMap
from tests.async_text import (
    START,
    Kernel,
    arrive,
    expect,
    init,
    kernel,
    registers_per_thread,
    shared_view,
    tensor_load,
    wait,
    when,
)

RING_STAGES, RING_TILES = 4, 11


def turn(stages: int) -> str:
    """Of tile %i: its stage, the number of the barrier that frees it, and the parity of its round."""
    return f"""
    %stage = arith.remui %i, %c{stages} : index
    %back = arith.addi %stage, %c{stages} : index
    %round = arith.divui %i, %c{stages} : index
    %r2 = arith.remui %round, %c2 : index
    %odd_round = arith.cmpi ne, %r2, %c0 : index
    %even_round = arith.cmpi eq, %r2, %c0 : index
"""


def ring(*, registers: bool = False, tiles: int = RING_TILES) -> Kernel:
    """A producer warp loads tiles of 16 x 32 f32 into a ring of 4 stages, two consumer warps sum them.

    With `registers` they are warpgroups, of which the producer gives registers to the consumers.
    """
    group, stages = (128 if registers else 32), RING_STAGES
    threads, box, size = 3 * group, (16, 32), 16 * 32 * 4
    consumers = 2 * group
    number = 2 * stages
    full, empty = "%stage", "%back"
    common = turn(stages) + f"%shift = arith.muli %stage, %c{size} : index\n"
    view = shared_view("tile", "%shift", box, "f32", stages * size)
    produce = (
        common + view + "%row = arith.muli %i, %c16 : index\n"
        + wait(empty, "%even_round", number) + expect(full, size, number)
        + tensor_load("%tile", box, "f32", 0, ["%column", "%row"], full, number)
    )  # fmt: skip
    consume = (
        common + view + wait(full, "%odd_round", number)
        + f"""
    %n = scf.for %q = %c0 to %c8 step %c1 iter_args(%sum = %acc) -> (f32) {{
      %o0 = arith.muli %q, %c{consumers} : index
      %o1 = arith.addi %o0, %me : index
      %o = arith.remui %o1, %c512 : index
      %y = arith.divui %o, %c32 : index
      %z = arith.remui %o, %c32 : index
      %x = memref.load %tile[%y, %z] : memref<16x32xf32, S>
      %m = arith.addf %sum, %x : f32
      scf.yield %m : f32
    }}
"""
        + arrive(empty, number, "k") + "scf.yield %n : f32\n"
    )  # fmt: skip
    less, more = registers_per_thread("decrease", 40), registers_per_thread("increase", 232)
    body = (
        START + "%zero = arith.constant 0.0 : f32\n"
        + "%column = arith.muli %b, %c32 : index\n"
        + init([1] * stages + [consumers] * stages)
        + f"%producer = arith.cmpi ult, %t, %c{group} : index\n"
        + "scf.if %producer {\n" + (less if registers else "")
        + when("%first", f"scf.for %i = %c0 to %c{tiles} step %c1 {{\n{produce}}}\n")
        + "} else {\n" + (more if registers else "")
        + f"%me = arith.subi %t, %c{group} : index\n"
        + f"%total = scf.for %i = %c0 to %c{tiles} step %c1 iter_args(%acc = %zero) -> (f32) {{\n"
        + consume + "}\n"
        + f"%p0 = arith.muli %b, %c{consumers} : index\n%p = arith.addi %p0, %me : index\n"
        + "memref.store %total, %out[%p] : memref<?xf32>\n}\n"
    )  # fmt: skip
    rows = 16 * tiles - 5
    src = np.random.default_rng(2).integers(-9, 9, (rows, 92)).astype(np.float32)
    return kernel(
        body,
        [("src", "f32", (rows, 92), False), ("out", "f32", (3 * consumers,), True)],
        threads=threads,
        shared=stages * size,
        maps=[TensorMap("map", "src", box)],
        grid=3,
        arguments={"src": src, "out": np.zeros(3 * consumers, np.float32)},
    )


def ring_sums(made: Kernel) -> np.ndarray:
    """What a ring computes, by NumPy."""
    src, out = made.arguments["src"], made.arguments["out"]
    consumers = len(out) // 3
    tiles = -(-src.shape[0] // 16)
    padded = np.zeros((16 * tiles, 96), np.float32)
    padded[: src.shape[0], :92] = src
    wanted = np.zeros((3, consumers), np.float32)
    for block in range(3):
        for i in range(tiles):
            tile = padded[16 * i : 16 * i + 16, 32 * block : 32 * block + 32].reshape(-1)
            for q in range(8):
                wanted[block] += tile[(q * consumers + np.arange(consumers)) % 512]
    return wanted.reshape(-1)


def product(m: int = 100, n: int = 136, k: int = 456) -> Kernel:
    """A GEMM f16 x f16 -> f32 of 64 x 64 x 64 tiles: a producer loads, a warpgroup multiplies by wgmma.

    Stages are released one product late, as soon as the one before is over. The output has whole tiles.
    """
    box, stages, tile = (64, 64), 4, 64 * 64 * 2
    rows, columns, depth = (-(-x // 64) for x in (m, n, k))
    number, threads = 2 * stages, 256
    planned = 2 * stages * tile + 8 * number
    acc = "vector<8x2x2xf32>"
    common = (
        turn(stages)
        + f"""
    %shift_a = arith.muli %stage, %c{2 * tile} : index
    %shift_b = arith.addi %shift_a, %c{tile} : index
"""
        + shared_view("tile_a", "%shift_a", box, "f16", "?")
        + shared_view("tile_b", "%shift_b", box, "f16", "?")
    )

    def load(name: str, x: str, y: str) -> str:
        moved = tensor_load(f"%tile_{name}", box, "f16", 128, [x, y], "%stage", number)
        return moved.replace("%map", f"%map_{name}")

    produce = (
        common + "%k = arith.muli %i, %c64 : index\n" + wait("%back", "%even_round", number)
        + expect("%stage", 2 * tile, number) + load("a", "%k", "%row") + load("b", "%column", "%k")
    )  # fmt: skip
    steps = "".join(
        f"""
    %da{q} = "phobos.wgmma.descriptor"(%tile_a, %c0, %c{16 * q}) {PLACE_A} : (memref<64x64xf16, S>, index, index) -> i64
    %db{q} = "phobos.wgmma.descriptor"(%tile_b, %c{16 * q}, %c0) {PLACE_B} : (memref<64x64xf16, S>, index, index) -> i64
    %s{q + 1} = "phobos.wgmma"(%s{q}, %da{q}, %db{q}) {PRODUCT} : ({acc}, i64, i64) -> {acc}
"""  # noqa: E501
        for q in range(4)
    )
    release = f"%last = arith.addi %before, %c{stages} : index\n" + arrive("%last", number, "freed")
    consume = (
        common + wait("%stage", "%odd_round", number)
        + f'%s0 = "phobos.wgmma.fence"(%sum) : ({acc}) -> {acc}\n' + steps
        + '"nvvm.wgmma.commit.group.sync.aligned"() : () -> ()\n'
        + f'%next = "phobos.wgmma.wait"(%s4) <{{groups = 1 : i64}}> : ({acc}) -> {acc}\n'
        + f"%i3 = arith.addi %i, %c{stages - 1} : index\n"
        + f"%before = arith.remui %i3, %c{stages} : index\n"
        + "%later = arith.cmpi ne, %i, %c0 : index\n%frees = arith.andi %later, %leader : i1\n"
        + when("%frees", release) + f"scf.yield %next : {acc}\n"
    )  # fmt: skip
    store = "".join(
        f"""
  %e{j}{h}{w} = vector.extract %whole[{j}, {h}, {w}] : f32 from {acc}
  %at{j}{h}{w} = arith.addi %place, %c{8 * h * 64 * columns + 8 * j + w} : index
  memref.store %e{j}{h}{w}, %out[%at{j}{h}{w}] : memref<?xf32>
"""
        for j in range(8)
        for h in range(2)
        for w in range(2)
    )
    places = f"""
  %ty = arith.divui %b, %c{columns} : index
  %tx = arith.remui %b, %c{columns} : index
  %row = arith.muli %ty, %c64 : index
  %column = arith.muli %tx, %c64 : index
  %leader = arith.cmpi eq, %t, %c128 : index
  %zeros = arith.constant dense<0.0> : {acc}
"""
    out_place = f"""
  %me = arith.subi %t, %c128 : index
  %warp = arith.divui %me, %c32 : index
  %lane = arith.remui %me, %c32 : index
  %y0 = arith.divui %lane, %c4 : index
  %x0 = arith.remui %lane, %c4 : index
  %x1 = arith.muli %x0, %c2 : index
  %w16 = arith.muli %warp, %c16 : index
  %y1 = arith.addi %w16, %y0 : index
  %y2 = arith.addi %y1, %row : index
  %y3 = arith.muli %y2, %c{64 * columns} : index
  %z = arith.addi %y3, %column : index
  %place = arith.addi %z, %x1 : index
"""
    body = (
        START + places + init([1] * number)
        + "%producer = arith.cmpi ult, %t, %c128 : index\nscf.if %producer {\n"
        + when("%first", f"scf.for %i = %c0 to %c{depth} step %c1 {{\n{produce}}}\n")
        + f"}} else {{\n%sums = scf.for %i = %c0 to %c{depth} step %c1 "
        + f"iter_args(%sum = %zeros) -> ({acc}) {{\n"
        + consume + "}\n"
        + f'%whole = "phobos.wgmma.wait"(%sums) <{{groups = 0 : i64}}> : ({acc}) -> {acc}\n'
        + out_place + store + "}\n"
    )  # fmt: skip
    rng = np.random.default_rng(7)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((m, k), (k, n)))
    out = np.full((64 * rows, 64 * columns), -1, np.float32)
    return kernel(
        body,
        [("A", "f16", a.shape, False), ("B", "f16", b.shape, False), ("out", "f32", out.shape, True)],
        threads=threads,
        shared=planned,
        dynamic=True,
        maps=[TensorMap("map_a", "A", box, 128), TensorMap("map_b", "B", box, 128)],
        grid=rows * columns,
        arguments={"A": a, "B": b, "out": out},
    )


PLACE_A = "<{leading = 16 : i64, stride = 1024 : i64, swizzle = 128 : i64}>"
PLACE_B = "<{leading = 8192 : i64, stride = 1024 : i64, swizzle = 128 : i64}>"
PRODUCT = (
    "<{shape = [64 : i64, 64 : i64, 16 : i64], operand = f16, mn_major_a = false, mn_major_b = true, "
    "negate_a = false, negate_b = false}>"
)
