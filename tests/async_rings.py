"""Random rings: one warp loads into stages that memory barriers guard, other warps read all of each."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from phobos_nb.contract import TensorMap
from tests.async_boxes import (
    Box,
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
    NUMPY,
    START,
    Kernel,
    arrive,
    bulk_load,
    expect_value,
    filled,
    init,
    kernel,
    tensor_load,
    wait,
    when,
)


def consumer(begin: str, turns: int, text: str, readers: int, others: int) -> str:
    """Of the threads behind the first ones, each sums up what it reads in its turns: %sum of %acc.

    Text ends a turn with the new sum. `begin` comes before the turns.
    """
    return (
        f"{begin}%me = arith.remui %t, %c32 : index\n"
        f"%total = scf.for %i = %c0 to %c{turns} step %c1 iter_args(%acc = %zero) -> (i32) {{\n"
        f"{text}}}\n%p0 = arith.muli %b, %c{readers} : index\n"
        f"%p1 = arith.addi %p0, %t : index\n%p = arith.subi %p1, %c{others} : index\n"
        "memref.store %total, %out[%p] : memref<?xi32>\n"
    )


def mixed(view: str, words: int) -> str:
    """Every lane takes words of a view in order, so that its result %next tells the order."""
    return f"""%next = scf.for %q = %c0 to %c{words} step %c32 iter_args(%sum = %acc) -> (i32) {{
      %o = arith.addi %q, %me : index
      %x = memref.load {view}[%o] : memref<{words}xi32, S>
      %three = arith.constant 3 : i32
      %old = arith.muli %sum, %three : i32
      %m = arith.addi %old, %x : i32
      scf.yield %m : i32
    }}
"""


@dataclass
class Ring:
    """Tiles of a tensor through stages; boxes of it if it has a map, plain bytes if not."""

    stages: int
    tiles: int
    readers: int
    grid: int
    box: Box
    src: np.ndarray
    maps: list[TensorMap]
    steps: list[int]
    first: list[int]

    @property
    def pitch(self) -> int:
        """Bytes from stage to stage."""
        return -(-self.box.bytes // 128) * 128

    def make(self) -> Kernel:
        """The kernel."""
        size, readers, counts = self.stages * self.pitch, self.readers, [1] * self.stages
        loads = f"scf.for %i = %c0 to %c{self.tiles} step %c1 {{\n{self._produce()}}}\n"
        body = (
            START + "%zero = arith.constant 0 : i32\n"
            + filled(size, 32 + readers) + FENCE + init([*counts, *[readers] * self.stages])
            + "%producer = arith.cmpi ult, %t, %c32 : index\nscf.if %producer {\n"
            + when("%first", loads) + "} else {\n"
            + consumer("", self.tiles, self._consume(), readers, 32) + "}\n"
        )  # fmt: skip
        total = self.grid * readers
        return kernel(
            body,
            [("src", self.box.dtype, self.src.shape, False), ("out", "i32", (total,), True)],
            threads=32 + readers,
            shared=size,
            maps=self.maps,
            grid=self.grid,
            arguments={"src": self.src, "out": np.full(total, -1, np.int32)},
        )

    def _turn(self, x: Index, odd: str) -> tuple[str, str, str]:
        """The stage of tile %i, where it begins, and whether its round is an odd (or even) one."""
        stage, round_ = x.remainder("%i", self.stages), x.remainder(x.divide("%i", self.stages), 2)
        return stage, x.affine(0, self.pitch, stage), x.compare(odd, round_, "%c0")

    def _produce(self) -> str:
        box, number, x = self.box, 2 * self.stages, Index()
        stage, shift, parity = self._turn(x, "eq")
        x.line(wait(x.affine(self.stages, 1, stage), parity, number))
        x.line(expect_value(f"%c{box.bytes}", stage, number))
        tile = x.view(shift, box.shape, box.dtype, self.stages * self.pitch)
        which = x.add(x.affine(0, self.tiles, "%b"), "%i")
        if self.maps:
            at = [x.affine(c, s, which) for c, s in zip(self.first, self.steps, strict=True)][::-1]
            x.line(tensor_load(tile, box.shape, box.dtype, self.maps[0].swizzle, at, stage, number))
        else:
            at = x.affine(0, box.shape[0], which)
            x.line(bulk_load(tile, box.shape[0], "%src", at, f"%c{box.bytes}", stage, number))
        return x.take()

    def _consume(self) -> str:
        number, words, x = 2 * self.stages, self.pitch // 4, Index()
        stage, shift, parity = self._turn(x, "ne")
        x.line(wait(stage, parity, number))
        x.line(mixed(x.view(shift, [words], "i32", self.stages * self.pitch), words))
        x.line(arrive(x.affine(self.stages, 1, stage), number, "k"))
        return x.take() + "scf.yield %next : i32\n"


def random_ring(seed: int) -> Kernel:
    """Boxes for even seeds, plain bytes for odd ones."""
    rng = np.random.default_rng([5, seed])
    stages, tiles, warps = (int(rng.integers(1, n)) for n in (6, 13, 5))
    boxes = seed % 2 == 0
    box = draw_box(rng) if boxes else Box("i32", (4 * int(rng.integers(1, 200)),))
    swizzle = draw_swizzle(rng, box) if boxes else 0
    grid = int(rng.integers(1, 4))
    if not boxes:
        src = draw_bits(rng, box.bytes * tiles * grid).view(NUMPY["i32"])
        return Ring(stages, tiles, 32 * warps, grid, box, src, [], [], []).make()
    src = draw_tensor(rng, box, tiles)
    maps = [TensorMap("map", "src", box.shape, swizzle)]
    steps, first = draw_steps(rng, box), draw_corner(rng, box, src.shape)
    return Ring(stages, tiles, 32 * warps, grid, box, src, maps, steps, first).make()
