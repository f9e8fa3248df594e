"""Random streams of bulk copies: in by stages, every word out and changed, out again by bulk stores.

The block's threads meet at a barrier per copy. A stage is filled anew once the store from it, or the one
before, has read it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

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
    draw_target,
    draw_tensor,
)
from tests.async_index import Index
from tests.async_text import (
    BARRIER,
    COMMIT,
    FENCE,
    NUMPY,
    PARITY,
    SIZES,
    TICKS,
    WAIT_ALL,
    WAIT_READ,
    Kernel,
    Tensors,
    bulk_load,
    bulk_store,
    expect_value,
    init,
    kernel,
    tensor_load,
    tensor_store,
    wait,
    when,
)


@dataclass(frozen=True)
class Place:
    """Values of one copy: its number in the CTA, its stage, where that begins, its number among all."""

    copy: str
    stage: str
    shift: str
    number: str


@dataclass
class Stream:
    """How many copies there are in how many stages, and which thread starts them."""

    ctas: int
    copies: int
    stages: int
    lag: int
    threads: int
    who: int
    added: int
    pitch: int = 0
    base: int = 0
    tensors: list[tuple[str, str, np.ndarray, bool]] = field(default_factory=list[Any])
    maps: list[TensorMap] = field(default_factory=list[TensorMap])

    @property
    @abstractmethod
    def most(self) -> int:
        """Bytes of the largest copy."""

    @abstractmethod
    def bytes(self, x: Index, place: Place) -> str:
        """The bytes of a copy."""

    @abstractmethod
    def load(self, x: Index, place: Place) -> None:
        """Start a copy to its stage, counted by the barrier of that number."""

    @abstractmethod
    def store(self, x: Index, place: Place) -> None:
        """Start to store what lies in its stage."""

    @property
    def shared(self) -> int:
        """Bytes of shared memory."""
        return self.base + self.stages * self.pitch

    def make(self) -> Kernel:
        """The kernel."""
        total = self.ctas * self.copies * self.most // 4
        out = np.full(total, -1, np.int32)
        shapes: Tensors = [(n, d, a.shape, w) for n, d, a, w in self.tensors]
        return kernel(
            self._body(),
            [*shapes, ("out", "i32", (total,), True)],
            threads=self.threads,
            shared=self.shared,
            maps=self.maps,
            grid=self.ctas,
            arguments={**{n: a for n, _, a, _ in self.tensors}, "out": out},
        )

    def _body(self) -> str:
        first = f"%first = arith.cmpi eq, %t, %c{self.who} : index\n"
        begun = min(self.stages, self.copies)
        begin = f"scf.for %j = %c0 to %c{begun} step %c1 {{\n{self._load('%j')}}}\n"
        return (
            PARITY + TICKS + first + init([1] * self.stages) + when("%first", begin)
            + f"scf.for %i = %c0 to %c{self.copies} step %c1 {{\n{self._take()}{self._give()}}}\n"
            + when("%first", WAIT_ALL)
        )  # fmt: skip

    def _place(self, x: Index, copy: str) -> Place:
        stage = x.remainder(copy, self.stages)
        shift = x.affine(self.base, self.pitch, stage)
        return Place(copy, stage, shift, x.add(x.multiply("%b", x.constant(self.copies)), copy))

    def _load(self, copy: str) -> str:
        x = Index()
        place = self._place(x, copy)
        x.line(expect_value(self.bytes(x, place), place.stage, self.stages))
        self.load(x, place)
        return x.take()

    def _take(self) -> str:
        """Wait for copy %i, write out its words and change them."""
        x = Index()
        place, most = self._place(x, "%i"), self.most // 4
        words = x.divide(self.bytes(x, place), 4)
        parity = x.compare("ne", x.remainder(x.divide("%i", self.stages), 2), "%c0")
        x.line(wait(place.stage, parity, self.stages))
        view, at = x.view(place.shift, [most], "i32", self.shared), x.affine(0, most, place.number)
        x.line(f"""
    %added = arith.constant {self.added} : i32
    scf.for %w = %t to {words} step %c{self.threads} {{
      %x = memref.load {view}[%w] : memref<{most}xi32, S>
      %p = arith.addi %w, {at} : index
      memref.store %x, %out[%p] : memref<?xi32>
      %y = arith.addi %x, %added : i32
      memref.store %y, {view}[%w] : memref<{most}xi32, S>
    }}
""")
        return x.take()

    def _give(self) -> str:
        """Store what copy %i has become, and start the copy that may follow now."""
        x = Index()
        self.store(x, self._place(x, "%i"))
        x.line(COMMIT)
        following = x.add("%i", x.constant(self.stages - self.lag))
        there = x.compare("ult", following, x.constant(self.copies))
        another = x.both(there, x.compare("uge", "%i", x.constant(self.lag)))
        read = WAIT_READ.replace("group = 0", f"group = {self.lag}")
        x.line(when(another, read + self._load(following)))
        return FENCE + BARRIER + when("%first", x.take())


@dataclass
class Boxes(Stream):
    """Boxes of one tensor in, boxes of another out."""

    box: Box = field(default_factory=lambda: Box("i32", (4,)))
    swizzles: tuple[int, int] = (0, 0)
    corners: tuple[list[int], list[int]] = ([], [])
    steps: tuple[list[int], list[int]] = ([], [])

    @property
    def most(self) -> int:
        return self.box.bytes

    def bytes(self, x: Index, place: Place) -> str:
        del place
        return x.constant(self.box.bytes)

    def load(self, x: Index, place: Place) -> None:
        box, tile = self.box, self._view(x, place)
        at, barriers = self._corner(x, place, 0), (place.stage, self.stages)
        x.line(tensor_load(tile, box.shape, box.dtype, self.swizzles[0], at, *barriers, map_="%from"))

    def store(self, x: Index, place: Place) -> None:
        box, tile = self.box, self._view(x, place)
        at = self._corner(x, place, 1)
        x.line(tensor_store(tile, box.shape, box.dtype, self.swizzles[1], at, "%to"))

    def _view(self, x: Index, place: Place) -> str:
        return x.view(place.shift, self.box.shape, self.box.dtype, self.shared)

    def _corner(self, x: Index, place: Place, which: int) -> list[str]:
        """Coordinates of a copy's box, innermost first."""
        axes = zip(self.corners[which], self.steps[which], strict=True)
        return [x.affine(first, step, place.number) for first, step in axes][::-1]


@dataclass
class Plain(Stream):
    """Runs of bytes of one tensor in, into another out; each copy is longer than the one before."""

    dtype: str = "i32"
    smallest: int = 16
    growth: int = 0
    starts: tuple[int, int] = (0, 0)
    apart: tuple[int, int] = (0, 0)

    @property
    def most(self) -> int:
        return self.smallest + self.growth * (self.copies - 1)

    def bytes(self, x: Index, place: Place) -> str:
        return x.affine(self.smallest, self.growth, place.copy)

    def load(self, x: Index, place: Place) -> None:
        tile, at = self._view(x, place), x.affine(self.starts[0], self.apart[0], place.number)
        bytes_, barrier = self.bytes(x, place), (place.stage, self.stages)
        x.line(bulk_load(tile, self._elements, "%src", at, bytes_, *barrier, dtype=self.dtype))

    def store(self, x: Index, place: Place) -> None:
        tile, at = self._view(x, place), x.affine(self.starts[1], self.apart[1], place.number)
        x.line(bulk_store("%dst", at, tile, self._elements, self.bytes(x, place), self.dtype))

    @property
    def _elements(self) -> int:
        return self.most // SIZES[self.dtype]

    def _view(self, x: Index, place: Place) -> str:
        return x.view(place.shift, [self._elements], self.dtype, self.shared)


def _common(rng: Generator) -> dict[str, Any]:
    stages, threads = int(rng.integers(1, 5)), 32 * int(draw(rng, (1, 2, 3, 4, 8)))
    return {
        "ctas": int(rng.integers(1, 4)),
        "copies": int(rng.integers(1, 7)),
        "stages": stages,
        "lag": int(rng.integers(0, 2)) if stages > 1 else 0,
        "threads": threads,
        "who": int(rng.integers(threads)),
        "added": int(rng.integers(1, 1 << 31)),
    }


def random_boxes(seed: int) -> Kernel:
    """A stream of boxes: 1 to 5 axes, all element types, swizzles and strides, inside and outside."""
    rng = np.random.default_rng([1, seed])
    common, box = _common(rng), draw_box(rng)
    times = common["ctas"] * common["copies"]
    src, (dst, target) = draw_tensor(rng, box, times), draw_target(rng, box, times)
    swizzles = draw_swizzle(rng, box), draw_swizzle(rng, box)
    # Loads may overlap or stand still; stores go on along the first axis, so that none meets another.
    onward = [box.shape[0]] + [0] * (len(box.shape) - 1)
    steps = draw_steps(rng, box), onward
    corners = draw_corner(rng, box, src.shape), target
    return Boxes(
        **common,
        pitch=-(-box.bytes // 128) * 128 + 128 * int(rng.integers(0, 3)),
        base=128 * int(rng.integers(0, 9)),
        tensors=[("src", box.dtype, src, False), ("dst", box.dtype, dst, True)],
        maps=[
            TensorMap("from", "src", box.shape, swizzles[0]),
            TensorMap("to", "dst", box.shape, swizzles[1]),
        ],
        box=box,
        swizzles=swizzles,
        corners=corners,
        steps=steps,
    ).make()


def random_plain(seed: int) -> Kernel:
    """A stream of runs of bytes, of sizes and places in multiples of 16."""
    rng = np.random.default_rng([2, seed])
    common, dtype = _common(rng), str(draw(rng, ("u8", "i32", "i64", "f16", "bf16", "f32", "f64")))
    per = 16 // SIZES[dtype]
    smallest, growth = 16 * int(rng.integers(1, 100)), 16 * int(rng.integers(0, 40))
    most = smallest + growth * (common["copies"] - 1)
    total = common["ctas"] * common["copies"]
    starts = int(rng.integers(0, 9)) * per, int(rng.integers(0, 9)) * per
    apart = int(rng.integers(0, 60)) * per, (most // 16 + int(rng.integers(0, 4))) * per
    lengths = [s + a * (total - 1) + most // SIZES[dtype] for s, a in zip(starts, apart, strict=True)]
    src, dst = (draw_bits(rng, n * SIZES[dtype]).view(NUMPY[dtype]) for n in lengths)
    return Plain(
        **common,
        pitch=most + 16 * int(rng.integers(0, 5)),
        base=16 * int(rng.integers(0, 9)),
        tensors=[("src", dtype, src, False), ("dst", dtype, dst, True)],
        dtype=dtype,
        smallest=smallest,
        growth=growth,
        starts=starts,
        apart=apart,
    ).make()
