"""Random kernels of memory barriers without copies: threads hand words over by their phases."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.async_boxes import draw, draw_bits
from tests.async_index import Index
from tests.async_text import (
    NUMPY,
    START,
    Kernel,
    init,
    kernel,
    poll,
    shared_view,
    wait,
    when,
)

ODD = 2654435761 - (1 << 32)
"""An odd number, by which words are multiplied: Knuth's, as a signed one."""


@dataclass(frozen=True)
class Arrival:
    """How threads arrive at one of two barriers: each a number of times ahead, then once more.

    few: every how many threads one arrives. ahead: arrivals that may not complete a phase, before the
    last. polled: whether threads ask for the phase of their own arrival, instead of waiting by parity.
    """

    barrier: int
    few: int
    ahead: int
    polled: bool

    def count(self, threads: int) -> int:
        """Arrivals that complete a phase."""
        return threads // self.few * (1 + self.ahead)

    def text(self) -> str:
        """Arrive and wait."""
        b, token = self.barrier, f"%token{self.barrier}"
        before = ""
        if self.ahead:
            types = "(G<2>, index, index) -> !nvgpu.mbarrier.token"
            name = f"%ahead{b}"
            before = (
                f'{name} = "nvgpu.mbarrier.arrive.nocomplete"(%bar, %c{b}, %c{self.ahead}) : {types}\n'
            )
        arrive = f'{before}{token} = "nvgpu.mbarrier.arrive"(%bar, %c{b}) : (G<2>, index) -> '
        arrive += "!nvgpu.mbarrier.token\n"
        if self.polled:
            return arrive + poll(b, token)
        x = Index()
        here = x.compare("eq", x.remainder("%t", self.few), "%c0")
        return x.take() + when(here, arrive) + wait(f"%c{b}", "%parity", 2)


def random_phases(seed: int) -> Kernel:
    """Rounds in which threads write a word each, meet, and take another thread's: two barriers."""
    rng = np.random.default_rng([7, seed])
    threads, rounds, grid = (
        32 * int(draw(rng, (1, 2, 4, 8))),
        int(rng.integers(1, 9)),
        int(rng.integers(1, 4)),
    )
    met, free = (_arrival(rng, barrier) for barrier in (0, 1))
    x = Index()
    # Only words of threads that arrive are handed over.
    turn = int(rng.integers(threads))
    across = x.remainder(x.affine(turn, 1, "%t"), threads // met.few)
    across = x.multiply(across, x.constant(met.few))
    pick = x.take()
    body = (
        START + shared_view("s", "%c0", [threads], "i32", 4 * threads)
        + init([met.count(threads), free.count(threads)]) + pick
        + f"%p0 = arith.muli %b, %c{threads} : index\n%p = arith.addi %p0, %t : index\n"
        + "%start = memref.load %src[%p] : memref<?xi32>\n"
        + f"%factor = arith.constant {ODD} : i32\n"
        + f"%end = scf.for %i = %c0 to %c{rounds} step %c1 iter_args(%mine = %start) -> (i32) {{\n"
        + "%half = arith.remui %i, %c2 : index\n%parity = arith.cmpi ne, %half, %c0 : index\n"
        + f"memref.store %mine, %s[%t] : memref<{threads}xi32, S>\n" + met.text()
        + f"%other = memref.load %s[{across}] : memref<{threads}xi32, S>\n"
        + ("" if free.few == 1 else '"gpu.barrier"() : () -> ()\n') + free.text()
        + "%mixed = arith.muli %mine, %factor : i32\n%next = arith.addi %mixed, %other : i32\n"
        + "scf.yield %next : i32\n}\nmemref.store %end, %out[%p] : memref<?xi32>\n"
    )  # fmt: skip
    total = grid * threads
    return kernel(
        body,
        [("src", "i32", (total,), False), ("out", "i32", (total,), True)],
        threads=threads,
        shared=4 * threads,
        grid=grid,
        arguments={
            "src": draw_bits(rng, 4 * total).view(NUMPY["i32"]),
            "out": np.full(total, -1, np.int32),
        },
    )


def _arrival(rng: np.random.Generator, barrier: int) -> Arrival:
    polled = bool(rng.integers(2))
    few = 1 if polled else int(draw(rng, (1, 1, 2, 4)))
    return Arrival(barrier, few, int(draw(rng, (0, 0, 1, 3))), polled)
