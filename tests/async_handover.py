"""Random kernels of warps with roles: rings of memory barriers, and of named barriers."""

from __future__ import annotations

import numpy as np

from phobos_nb.contract import TensorMap
from tests.async_boxes import (
    Box,
    draw,
    draw_bits,
    draw_box,
    draw_corner,
    draw_steps,
    draw_swizzle,
    draw_tensor,
)
from tests.async_index import Index
from tests.async_text import (
    FENCE,
    FIRST,
    NUMPY,
    PARITY,
    TICKS,
    Kernel,
    arrive,
    expect_value,
    filled,
    init,
    kernel,
    op,
    tensor_load,
    wait,
    when,
)

MIX = """
      %o = arith.addi %q, %me : index
      %x = memref.load {view}[%o] : memref<{words}xi32, S>
      %three = arith.constant 3 : i32
      %old = arith.muli %sum, %three : i32
      %m = arith.addi %old, %x : i32
      scf.yield %m : i32
"""
"""A consumer takes a word: the result tells the order."""


def random_ring(seed: int) -> Kernel:
    """One warp loads boxes, or plain bytes, into a ring of stages; other warps read all of each."""
    rng = np.random.default_rng([5, seed])
    stages, tiles, warps = (int(rng.integers(1, n)) for n in (6, 13, 5))
    box = draw_box(rng) if seed % 2 == 0 else Box("i32", (4 * int(rng.integers(1, 200)),))
    swizzle = draw_swizzle(rng, box) if seed % 2 == 0 else 0
    pitch = -(-box.bytes // 128) * 128
    grid, readers = int(rng.integers(1, 4)), 32 * warps
    size, number, x = stages * pitch, 2 * stages, Index()
    if seed % 2 == 0:
        src = draw_tensor(rng, box, tiles)
        maps = [TensorMap("map", "src", box.shape, swizzle)]
        steps, first = draw_steps(rng, box), draw_corner(rng, box, src.shape)
    else:
        src = draw_bits(rng, box.bytes * tiles * grid).view(NUMPY["i32"])
        maps, steps, first = [], [], []

    def turn(odd: str) -> tuple[str, str, str]:
        """The stage of tile %i, where it begins, and whether its round is an odd (or even) one."""
        stage, round_ = x.remainder("%i", stages), x.remainder(x.divide("%i", stages), 2)
        return stage, x.affine(0, pitch, stage), x.compare(odd, round_, "%c0")

    stage, shift, parity = turn("eq")
    x.line(wait(x.affine(stages, 1, stage), parity, number))
    x.line(expect_value(f"%c{box.bytes}", stage, number))
    tile = x.view(shift, box.shape, box.dtype, size)
    which = x.affine(0, tiles, "%b")
    which = x.add(which, "%i")
    if maps:
        at = [x.affine(c, s, which) for c, s in zip(first, steps, strict=True)][::-1]
        x.line(tensor_load(tile, box.shape, box.dtype, swizzle, at, stage, number))
    else:
        x.line(_plain(tile, box, x.affine(0, box.shape[0], which), stage, number))
    produce = x.take()
    stage, shift, parity = turn("ne")
    x.line(wait(stage, parity, number))
    words = x.view(shift, [pitch // 4], "i32", size)
    mix = MIX.format(view=words, words=pitch // 4)
    x.line(
        f"%next = scf.for %q = %c0 to %c{pitch // 4} step %c32 iter_args(%sum = %acc) -> (i32) {{{mix}}}"
    )
    back = x.affine(stages, 1, stage)
    consume = x.take() + arrive(back, number, "k") + "scf.yield %next : i32\n"
    body = (
        PARITY + TICKS + FIRST + "%zero = arith.constant 0 : i32\n"
        + filled(size, 32 + readers) + FENCE + init([1] * stages + [readers] * stages)
        + "%producer = arith.cmpi ult, %t, %c32 : index\nscf.if %producer {\n"
        + when("%first", f"scf.for %i = %c0 to %c{tiles} step %c1 {{\n{produce}}}\n")
        + "} else {\n%me = arith.remui %t, %c32 : index\n"
        + f"%total = scf.for %i = %c0 to %c{tiles} step %c1 iter_args(%acc = %zero) -> (i32) {{\n"
        + consume + f"}}\n%p0 = arith.muli %b, %c{readers} : index\n"
        + "%p1 = arith.addi %p0, %t : index\n%p = arith.subi %p1, %c32 : index\n"
        + "memref.store %total, %out[%p] : memref<?xi32>\n}\n"
    )  # fmt: skip
    return kernel(
        body,
        [("src", box.dtype, src.shape, False), ("out", "i32", (grid * readers,), True)],
        threads=32 + readers,
        shared=size,
        maps=maps,
        grid=grid,
        arguments={"src": src, "out": np.full(grid * readers, -1, np.int32)},
    )


def _plain(tile: str, box: Box, at: str, stage: str, number: int) -> str:
    places = f"{tile}, %c0, %src, {at}, %c{box.bytes}, %bar, {stage}"
    types = f"memref<{box.shape[0]}xi32, S>, index, memref<?xi32>, index, index, G<{number}>, index"
    return op("phobos.bulk.load", places, types, (1, 1, 1, 1, 1, 1, 1, 0, 0)) + "\n"


def random_named(seed: int) -> Kernel:
    """Producer warps hand buffers to consumer warps, and back, by a named barrier each way."""
    rng = np.random.default_rng([6, seed])
    makers, takers = (32 * int(rng.integers(1, 5)) for _ in range(2))
    buffers, turns, grid = (int(rng.integers(1, n)) for n in (4, 10, 4))
    ids = (rng.permutation(15)[: 2 * buffers] + 1).tolist()
    full, free = ids[:buffers], ids[buffers:]
    each = 32 * int(draw(rng, (1, 2, 4, 8)))
    x = Index()

    def meet(which: list[int], sync: bool, buffer: str) -> None:
        barrier = x.choose(buffer, which, "i32")
        if sync:
            x.line(op("nvvm.barrier", f"{barrier}, %count", "i32, i32", (1, 1, 0)))
        else:
            x.line(f'"nvvm.barrier.arrive"({barrier}, %count) : (i32, i32) -> ()')

    def view(buffer: str) -> str:
        return x.view(x.affine(0, 4 * each, buffer), [each], "i32", 4 * each * buffers)

    buffer = x.remainder("%i", buffers)
    meet(free, True, buffer)
    place = x.affine(0, each, x.add("%i", x.affine(0, turns, "%b")))
    x.line(f"""scf.for %w = %t to %c{each} step %c{makers} {{
      %p = arith.addi %w, {place} : index
      %x = memref.load %src[%p] : memref<?xi32>
      memref.store %x, {view(buffer)}[%w] : memref<{each}xi32, S>
    }}""")
    meet(full, False, buffer)
    produce = x.take()
    for k in range(min(buffers, turns)):
        meet(free, False, f"%c{k}")
    offer = x.take()
    buffer = x.remainder("%i", buffers)
    meet(full, True, buffer)
    mix = MIX.format(view=view(buffer), words=each)
    x.line(f"%next = scf.for %q = %c0 to %c{each} step %c32 iter_args(%sum = %acc) -> (i32) {{{mix}}}")
    more = x.compare("ult", x.affine(buffers, 1, "%i"), f"%c{turns}")
    before = x.take()
    meet(free, False, buffer)
    consume = before + when(more, x.take()) + "scf.yield %next : i32\n"
    body = (
        f"%count = arith.constant {makers + takers} : i32\n%zero = arith.constant 0 : i32\n"
        + f"%maker = arith.cmpi ult, %t, %c{makers} : index\nscf.if %maker {{\n"
        + f"scf.for %i = %c0 to %c{turns} step %c1 {{\n{produce}}}\n}} else {{\n{offer}"
        + "%me = arith.remui %t, %c32 : index\n"
        + f"%total = scf.for %i = %c0 to %c{turns} step %c1 iter_args(%acc = %zero) -> (i32) {{\n"
        + consume + f"}}\n%p0 = arith.muli %b, %c{takers} : index\n"
        + f"%p1 = arith.addi %p0, %t : index\n%p = arith.subi %p1, %c{makers} : index\n"
        + "memref.store %total, %out[%p] : memref<?xi32>\n}\n"
    )  # fmt: skip
    src = draw_bits(rng, 4 * each * turns * grid).view(NUMPY["i32"])
    return kernel(
        body,
        [("src", "i32", src.shape, False), ("out", "i32", (grid * takers,), True)],
        threads=makers + takers,
        shared=4 * each * buffers,
        grid=grid,
        arguments={"src": src, "out": np.full(grid * takers, -1, np.int32)},
    )
