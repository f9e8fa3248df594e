"""Random kernels of named barriers: producer warps hand buffers to consumer warps, and get them back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.async_boxes import draw, draw_bits
from tests.async_index import Index
from tests.async_rings import consumer, mixed
from tests.async_text import NUMPY, Kernel, kernel, op, when


@dataclass
class Handover:
    """Threads that make and take buffers of so many words each, and the barriers of each buffer."""

    makers: int
    takers: int
    turns: int
    grid: int
    words: int
    full: list[int]
    free: list[int]

    @property
    def buffers(self) -> int:
        """How many there are."""
        return len(self.full)

    def make(self, src: np.ndarray) -> Kernel:
        """The kernel."""
        makes = f"scf.for %i = %c0 to %c{self.turns} step %c1 {{\n{self._produce()}}}\n"
        body = (
            f"%count = arith.constant {self.makers + self.takers} : i32\n"
            + "%zero = arith.constant 0 : i32\n"
            + f"%maker = arith.cmpi ult, %t, %c{self.makers} : index\n"
            + f"scf.if %maker {{\n{makes}}} else {{\n"
            + consumer(self._offer(), self.turns, self._consume(), self.takers, self.makers) + "}\n"
        )  # fmt: skip
        total = self.grid * self.takers
        return kernel(
            body,
            [("src", "i32", src.shape, False), ("out", "i32", (total,), True)],
            threads=self.makers + self.takers,
            shared=4 * self.words * self.buffers,
            grid=self.grid,
            arguments={"src": src, "out": np.full(total, -1, np.int32)},
        )

    def _sync(self, x: Index, ids: list[int], buffer: str) -> None:
        barrier = x.choose(buffer, ids, "i32")
        x.line(op("nvvm.barrier", f"{barrier}, %count", "i32, i32", (1, 1, 0)))

    def _arrive(self, x: Index, ids: list[int], buffer: str) -> None:
        barrier = x.choose(buffer, ids, "i32")
        x.line(f'"nvvm.barrier.arrive"({barrier}, %count) : (i32, i32) -> ()')

    def _view(self, x: Index, buffer: str) -> str:
        shift = x.affine(0, 4 * self.words, buffer)
        return x.view(shift, [self.words], "i32", 4 * self.words * self.buffers)

    def _produce(self) -> str:
        x = Index()
        buffer = x.remainder("%i", self.buffers)
        self._sync(x, self.free, buffer)
        place = x.affine(0, self.words, x.add("%i", x.affine(0, self.turns, "%b")))
        x.line(f"""scf.for %w = %t to %c{self.words} step %c{self.makers} {{
      %p = arith.addi %w, {place} : index
      %x = memref.load %src[%p] : memref<?xi32>
      memref.store %x, {self._view(x, buffer)}[%w] : memref<{self.words}xi32, S>
    }}""")
        self._arrive(x, self.full, buffer)
        return x.take()

    def _offer(self) -> str:
        """All buffers are free at first."""
        x = Index()
        for k in range(min(self.buffers, self.turns)):
            self._arrive(x, self.free, f"%c{k}")
        return x.take()

    def _consume(self) -> str:
        x = Index()
        buffer = x.remainder("%i", self.buffers)
        self._sync(x, self.full, buffer)
        x.line(mixed(self._view(x, buffer), self.words))
        more = x.compare("ult", x.affine(self.buffers, 1, "%i"), f"%c{self.turns}")
        before = x.take()
        self._arrive(x, self.free, buffer)
        return before + when(more, x.take()) + "scf.yield %next : i32\n"


def random_named(seed: int) -> Kernel:
    """1 to 4 warps a side, 1 to 3 buffers, any two barriers for each."""
    rng = np.random.default_rng([6, seed])
    makers, takers = (32 * int(rng.integers(1, 5)) for _ in range(2))
    buffers, turns, grid = (int(rng.integers(1, n)) for n in (4, 10, 4))
    ids = (rng.permutation(15)[: 2 * buffers] + 1).tolist()
    words = 32 * int(draw(rng, (1, 2, 4, 8)))
    made = Handover(makers, takers, turns, grid, words, ids[:buffers], ids[buffers:])
    return made.make(draw_bits(rng, 4 * words * turns * grid).view(NUMPY["i32"]))
