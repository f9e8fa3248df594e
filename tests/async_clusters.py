"""Random kernels of clusters: copies to several CTAs at once, words and copies to one another."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.random import Generator

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
    CLUSTER_SYNC,
    FENCE,
    NUMPY,
    RANK,
    START,
    Kernel,
    bulk_load,
    bulk_send,
    expect_value,
    filled,
    init,
    kernel,
    peer,
    shared_view,
    tensor_load,
    wait,
    when,
)

THREADS = 96


@dataclass
class Multicast:
    """Every CTA of a cluster loads a part of a tile for the CTAs that its mask names, some rounds long.

    corner, steps: of the box in the first round of all, and from round to round; none for plain bytes.
    """

    masks: list[int]
    rounds: int
    grid: int
    box: Box
    src: np.ndarray
    swizzle: int = 0
    corner: list[int] = field(default_factory=list[int])
    steps: list[int] = field(default_factory=list[int])

    @property
    def pitch(self) -> int:
        """Bytes from one CTA's part to the next one's."""
        return -(-self.box.bytes // 128) * 128

    @property
    def shared(self) -> int:
        """Bytes of shared memory: a part of each CTA."""
        return len(self.masks) * self.pitch

    def make(self) -> Kernel:
        """The kernel."""
        x, words = Index(), self.shared // 4
        mask = x.choose("%rank", [m - (m >> 15 << 16) for m in self.masks], "i16")
        x.line(f"%shift = arith.muli %rank, %c{self.pitch} : index")
        tile = x.view("%shift", self.box.shape, self.box.dtype, self.shared)
        load = _expected(self.masks, self.box.bytes) + self._load(tile, mask)
        body = (
            START + RANK + x.take()
            + filled(self.shared, THREADS) + FENCE + init([1], cluster=True)
            + f"scf.for %i = %c0 to %c{self.rounds} step %c1 {{\n" + CLUSTER_SYNC
            + when("%first", load) + _out(words, self.rounds) + "}\n"
        )  # fmt: skip
        total = self.grid * self.rounds * words
        return kernel(
            body,
            [("src", self.box.dtype, self.src.shape, False), ("out", "i32", (total,), True)],
            threads=THREADS,
            shared=self.shared,
            cluster=len(self.masks),
            maps=[TensorMap("map", "src", self.box.shape, self.swizzle)] if self.corner else [],
            grid=self.grid,
            arguments={"src": self.src, "out": np.full(total, -1, np.int32)},
        )

    def _load(self, tile: str, mask: str) -> str:
        box, x = self.box, Index()
        number = _round_number(x, self.rounds)
        if self.corner:
            at = [x.affine(c, s, number) for c, s in zip(self.corner, self.steps, strict=True)][::-1]
            x.line(tensor_load(tile, box.shape, box.dtype, self.swizzle, at, "%c0", 1, mask))
        else:
            at = x.affine(0, box.shape[0], number)
            x.line(bulk_load(tile, box.shape[0], "%src", at, f"%c{box.bytes}", "%c0", 1, mask))
        return x.take()


def random_multicast(seed: int) -> Kernel:
    """Boxes of tensors for even seeds, plain bytes for odd ones."""
    rng = np.random.default_rng([3, seed])
    ctas, rounds = int(draw(rng, (2, 3, 4, 8))), int(rng.integers(1, 4))
    grid = ctas * int(rng.integers(1, 3))
    masks = [int(rng.integers(1, 1 << ctas)) for _ in range(ctas)]
    if seed % 2:
        box = Box("i32", (4 * int(rng.integers(1, 150)),))
        return Multicast(masks, rounds, grid, box, _words(rng, box.shape[0] * grid * rounds)).make()
    box = draw_box(rng)
    swizzle, src = draw_swizzle(rng, box), draw_tensor(rng, box, 2)
    first, steps = draw_corner(rng, box, src.shape), draw_steps(rng, box)
    return Multicast(masks, rounds, grid, box, src, swizzle, first, steps).make()


def _round_number(x: Index, rounds: int) -> str:
    """The number of round %i among those of all CTAs."""
    return x.add(x.multiply("%b", x.constant(rounds)), "%i")


def _words(rng: Generator, number: int) -> np.ndarray:
    return draw_bits(rng, 4 * number).view(NUMPY["i32"])


def _expected(masks: list[int], bytes_: int) -> str:
    """The own barrier expects what the CTAs whose masks name this one send it."""
    x = Index()
    coming = [bytes_ * sum(m >> r & 1 for m in masks) for r in range(len(masks))]
    total = x.choose("%rank", coming)
    return x.take() + expect_value(total, "%c0", 1)


def _out(words: int, rounds: int) -> str:
    """Wait for the round's copies and write out the CTA's shared words."""
    x = Index()
    parity = x.compare("ne", x.remainder("%i", 2), "%c0")
    x.line(wait("%c0", parity, 1))
    at = x.affine(0, words, _round_number(x, rounds))
    x.line(f"""
    scf.for %w = %t to %c{words} step %c{THREADS} {{
      %x = memref.load %whole[%w] : memref<{words}xi32, S>
      %p = arith.addi %w, {at} : index
      memref.store %x, %out[%p] : memref<?xi32>
    }}
""")
    return x.take()


def random_exchange(seed: int) -> Kernel:
    """The CTAs of a cluster send each other pieces by bulk copies, read and write each other's words."""
    rng = np.random.default_rng([4, seed])
    ctas, grid = (n := int(draw(rng, (2, 3, 4, 8)))), n * int(rng.integers(1, 3))
    sizes = [4 * int(rng.integers(1, 50)) for _ in range(int(rng.integers(1, 4)))]
    words = sum(sizes)
    x = Index()
    x.line(expect_value(f"%c{4 * words}", "%c0", 1))
    for k, size in enumerate(sizes):
        x.line(_send(x, ctas, words, sum(sizes[:k]), size, int(rng.integers(ctas))))
    sends = x.take()
    near, far = (_other(x, ctas, int(rng.integers(ctas))) for _ in range(2))
    flipped = x.remainder(x.affine(int(rng.integers(words)) + THREADS, -1, "%t"), words)
    direct = x.take() + (
        peer("away", "own", words, near) + peer("there", "left", THREADS, far)
        + f"%read = memref.load %away[{flipped}] : memref<{words}xi32, 7 : i64>\n"
        + f"memref.store %mine, %there[%t] : memref<{THREADS}xi32, 7 : i64>\n"
    )  # fmt: skip
    shared = -(-(8 * words + 4 * THREADS) // 128) * 128
    body = (
        START + RANK
        + shared_view("own", "%c0", [words], "i32", shared)
        + shared_view("got", f"%c{4 * words}", [words], "i32", shared)
        + shared_view("left", f"%c{8 * words}", [THREADS], "i32", shared)
        + _own(words) + FENCE + init([1], cluster=True) + when("%first", sends) + direct
        + wait("%c0", "%even", 1) + CLUSTER_SYNC + _received(words)
    )  # fmt: skip
    outputs = [("out", words), ("met", THREADS)]
    return kernel(
        body,
        [("src", "i32", (grid * words,), False), *((o, "i32", (grid * k,), True) for o, k in outputs)],
        threads=THREADS,
        shared=shared,
        cluster=ctas,
        grid=grid,
        arguments={
            "src": _words(rng, grid * words),
            **{o: np.full(grid * k, -1, np.int32) for o, k in outputs},
        },
    )


def _other(x: Index, ctas: int, further: int) -> str:
    return x.remainder(x.affine(further, 1, "%rank"), ctas)


def _send(x: Index, ctas: int, words: int, first: int, size: int, further: int) -> str:
    """A piece to the same place of another CTA, or of this one."""
    rank, name = _other(x, ctas, further), f"far{first}"
    send = bulk_send(f"%{name}", "%own", f"%c{first}", words, 4 * size, 1, rank)
    return peer(name, "got", words, rank) + send


def _own(words: int) -> str:
    return f"""
  %base = arith.muli %b, %c{words} : index
  scf.for %w = %t to %c{words} step %c{THREADS} {{
    %p = arith.addi %w, %base : index
    %x = memref.load %src[%p] : memref<?xi32>
    memref.store %x, %own[%w] : memref<{words}xi32, S>
  }}
  %number = arith.muli %b, %c{THREADS} : index
  %place = arith.addi %number, %t : index
  %mine = arith.index_cast %place : index to i32
"""


def _received(words: int) -> str:
    return f"""
  scf.for %w = %t to %c{words} step %c{THREADS} {{
    %x = memref.load %got[%w] : memref<{words}xi32, S>
    %p = arith.addi %w, %base : index
    memref.store %x, %out[%p] : memref<?xi32>
  }}
  %came = memref.load %left[%t] : memref<{THREADS}xi32, S>
  %both = arith.addi %came, %read : i32
  memref.store %both, %met[%place] : memref<?xi32>
"""
