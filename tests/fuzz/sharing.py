"""Programs in which threads hand elements to each other, for the mutation of their barriers.

They are denser in what makes barriers interesting than those of `generate.py`: tiles that go through
shared memory again and again in loops, reductions along both axes, transposes, gathers, dots of computed
and of streamed operands, tensors that a CTA reads again after it wrote them, loops and branches whose
conditions are uniform or not, early ends, small tiles. Values do not matter and are not tracked: a
program is compared with itself.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

Shape = tuple[int, int]

THREADS = (32, 64, 64, 96, 128, 128, 256)
SHAPES: tuple[Shape, ...] = (
    (1, 1), (1, 8), (1, 40), (1, 64), (2, 64), (3, 5), (4, 16), (6, 8), (8, 8), (8, 32), (16, 4),
    (16, 16), (32, 2), (33, 3), (40, 1), (64, 8), (16, 48), (32, 32), (64, 64),
)  # fmt: skip
SCALARS = ("n", "p", "q", "flag")

TRIPS = ((3, 2, 3), (0, 0, 0), (1, 1, 1), (3, 0, 2), (2, 3, 0), (0, 2, 2))
"""What the scalars `n`, `p` and `q` are in the launches, which count iterations: several, none, one."""

MORE = 40
"""Further launches, for what these do not exercise."""

Launch = dict[str, Any]
"""The arguments of a launch by name."""


@dataclass(frozen=True)
class SharingProgram:
    """A kernel `k` and what its launches are made of.

    tensors: the box that a CTA has of each. tables: vectors of an element for each thread. rough: some
    launches have extents that are no multiples of anything.
    """

    seed: int
    text: str
    grid: tuple[int, int, int]
    threads: int
    tensors: Mapping[str, Shape]
    tables: tuple[str, ...]
    rough: bool

    @cached_property
    def launches(self) -> tuple[Launch, ...]:
        """Launches that exercise most programs."""
        return tuple(self._launch(i, (*trips, i // 2 % 2)) for i, trips in enumerate(TRIPS))

    def more(self) -> Iterator[Launch]:
        """Launches with all sorts of scalars."""
        rng = random.Random(f"more {self.seed}")
        for number in range(MORE):
            trips = (rng.randrange(-1, 5), rng.randrange(-1, 6), rng.randrange(-1, 6))
            yield self._launch(len(TRIPS) + number, (*trips, rng.randrange(2)))

    def _launch(self, number: int, scalars: Sequence[int]) -> Launch:
        rng = np.random.default_rng([self.seed, number])
        ragged = number % 2 if self.rough else 0
        made: Launch = {}
        for name, (rows, columns) in self.tensors.items():
            extents = (max(1, self.grid[0] * rows - ragged), max(1, columns - ragged))
            made[name] = rng.integers(-3, 4, extents).astype(np.float32)
        for name in self.tables:
            made[name] = rng.integers(-3, 4, self.threads - ragged).astype(np.float32)
        return made | dict(zip(SCALARS, scalars, strict=True))


@dataclass
class _Tile:
    """A tile in scope."""

    name: str
    shape: Shape
    mutable: bool = False


@dataclass
class _Writer:
    rng: random.Random
    threads: int
    shape: Shape
    lines: list[str] = field(default_factory=list[str])
    scopes: list[list[_Tile]] = field(default_factory=lambda: [[]])
    inputs: dict[str, Shape] = field(default_factory=dict[str, Shape])
    outputs: dict[str, Shape] = field(default_factory=dict[str, Shape])
    tables: set[str] = field(default_factory=set[str])
    names: int = 0
    loops: int = 0

    def chance(self, probability: float) -> bool:
        return self.rng.random() < probability

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}{self.names}"

    def emit(self, line: str) -> None:
        self.lines.append("  " * len(self.scopes) + line)

    @contextmanager
    def block(self, header: str) -> Generator[None]:
        self.emit(header + " {")
        self.scopes.append([])
        yield
        self.scopes.pop()
        self.emit("}")

    def tiles(self, shape: Shape | None = None, *, mutable: bool = False) -> list[_Tile]:
        found = [t for scope in self.scopes for t in scope]
        return [t for t in found if shape in (None, t.shape) and (t.mutable or not mutable)]

    def bind(self, tile: _Tile) -> None:
        self.scopes[-1].append(tile)


def sharing_program(seed: int) -> SharingProgram:
    """The program of a seed; the same one in every process."""
    rng = random.Random(f"sharing {seed}")
    w = _Writer(rng, rng.choice(THREADS), rng.choice(SHAPES))
    _input(w, w.shape)
    if w.chance(0.15):
        with w.block("if n > 4"):
            w.emit("return")
    for _ in range(rng.randrange(2, 6)):
        _statement(w, 2)
    for tile in w.tiles()[-3:]:
        _keep(w, tile)
    if not w.outputs:
        _keep(w, _Tile(_expression(w, w.shape, 2), w.shape))
    return _program(w, seed)


# Statements --------------------------------------------------------------------------------------


def _statement(w: _Writer, depth: int) -> None:
    options: list[tuple[float, Callable[[], None]]] = [
        (4, lambda: _declare(w)),
        (2, lambda: _assign(w)),
        (1, lambda: _keep(w, _Tile(_expression(w, s := _shape(w), 2), s))),
        (1.5, lambda: _read_back(w)),
        (1, lambda: _threads_between(w)),
        (0.7, lambda: _sum_of_threads(w)),
        (0.6, lambda: _atomics(w)),
        (0.4, lambda: _shared_array(w)),
        (0.6, lambda: _moving_window(w)),
    ]
    if depth > 0:
        options += [
            (2.5, lambda: _loop(w, depth)),
            (0.8, lambda: _while(w, depth)),
            (1, lambda: _branch(w, depth)),
            (0.8, lambda: _product(w)),
        ]
    weights, writes = zip(*options, strict=True)
    w.rng.choices(writes, weights)[0]()


def _turned(shape: Shape) -> Shape:
    return shape[1], shape[0]


def _shape(w: _Writer) -> Shape:
    held = [t.shape for t in w.tiles()]
    return w.rng.choice(held) if held and w.chance(0.7) else w.rng.choice([w.shape, _turned(w.shape)])


def _declare(w: _Writer) -> None:
    if w.chance(0.3):
        _input(w, w.rng.choice([w.shape, _turned(w.shape)]))
        return
    shape = _shape(w)
    mutable = w.chance(0.7)
    name, text = w.fresh("t"), _expression(w, shape, 2)
    w.emit(f"{'var' if mutable else 'let'} {name}: tile<f32>[{shape[0]}, {shape[1]}] = {text}")
    w.bind(_Tile(name, shape, mutable))


def _input(w: _Writer, shape: Shape) -> None:
    """A copy of a box of a tensor that nobody writes."""
    name, tile = _tensor(w, shape), w.fresh("c")
    w.emit(f"var {tile} = {name}[ctx.block.x * {shape[0]} :+ {shape[0]}, 0 :+ {shape[1]}]")
    w.bind(_Tile(tile, shape))


def _tensor(w: _Writer, shape: Shape) -> str:
    known = [n for n, s in w.inputs.items() if s == shape]
    if known and w.chance(0.7):
        return w.rng.choice(known)
    name = w.fresh("X")
    w.inputs[name] = shape
    return name


def _assign(w: _Writer) -> None:
    targets = w.tiles(mutable=True)
    if not targets:
        _declare(w)
        return
    target = w.rng.choice(targets)
    operator = w.rng.choice(["=", "=", "+="])
    w.emit(f"{target.name} {operator} {_expression(w, target.shape, 2)}")


def _output(w: _Writer, shape: Shape) -> str:
    name = w.fresh("O")
    w.outputs[name] = shape
    return name


def _own(w: _Writer, name: str, rows: int, columns: int) -> str:
    """The CTA's own box of an output."""
    return f"{name}[ctx.block.x * {w.outputs[name][0]} :+ {rows}, 0 :+ {columns}]"


def _keep(w: _Writer, tile: _Tile) -> None:
    w.emit(f"{_own(w, _output(w, tile.shape), *tile.shape)} = {tile.name}")


def _read_back(w: _Writer) -> None:
    """The CTA reads what it wrote, as it lies, turned or one column further, and may write again."""
    shape = _shape(w)
    name = _output(w, (max(shape), max(shape)))
    w.emit(f"{_own(w, name, *shape)} = {_expression(w, shape, 1)}")
    first = w.rng.choice([0, 0, 1])
    other = shape if w.chance(0.6) else _turned(shape)
    place = f"{name}[ctx.block.x * {max(shape)} :+ {other[0]}, {first} :+ {other[1]}]"
    tile = w.fresh("r")
    w.emit(f"{w.rng.choice(['let', 'var'])} {tile} = {place}")
    w.bind(_Tile(tile, other))
    if w.chance(0.5):
        w.emit(f"{_own(w, name, *other)} = {_expression(w, other, 1)}")


def _threads_between(w: _Writer) -> None:
    """Each thread reads elements of what tiles wrote, or writes some that a tile then reads."""
    name = _output(w, (1, w.threads))
    own = f"{name}[ctx.block.x, "
    limit = w.rng.choice([w.threads, w.threads - 1, 7, 33])
    w.emit(f"{own}0 :+ {w.threads}] = {w.rng.choice(['1.5', 'f32(n)'])}")
    other, value = _output(w, (1, w.threads)), w.fresh("e")
    with w.block(f"if ctx.thread < {limit}"):
        w.emit(f"let {value} = {own}{w.threads - 1} - ctx.thread]")
        w.emit(f"{other}[ctx.block.x, ctx.thread] = {value} + f32(ctx.thread)")
    tile = w.fresh("r")
    w.emit(f"let {tile} = {other}[ctx.block.x * 1 :+ 1, 0 :+ {w.threads}]")
    w.bind(_Tile(tile, (1, w.threads)))


def _sum_of_threads(w: _Writer) -> None:
    kind, name = w.rng.choice(["block_sum", "block_max", "block_min"]), w.fresh("s")
    table = _table(w)
    w.emit(f"let {name} = {kind}({table}[ctx.thread])")
    shape = _shape(w)
    tile = w.fresh("t")
    w.emit(f"var {tile}: tile<f32>[{shape[0]}, {shape[1]}] = {name}")
    w.bind(_Tile(tile, shape, mutable=True))


def _table(w: _Writer) -> str:
    name = w.rng.choice(["V0", "V1"])
    w.tables.add(name)
    return name


def _atomics(w: _Writer) -> None:
    """Exact sums, read back as a tile."""
    shape = _shape(w)
    name = _output(w, shape)
    w.emit(f"atomic_add({name}, ctx.block.x * {shape[0]}, 0, {_integers(w, shape)})")
    tile = w.fresh("r")
    w.emit(f"let {tile} = {_own(w, name, *shape)}")
    w.bind(_Tile(tile, shape))


def _integers(w: _Writer, shape: Shape) -> str:
    """A tile whose sums are exact: ones and zeros."""
    return f"where({_expression(w, shape, 1)} > 0.5, 1.0, 0.0)"


def _shared_array(w: _Writer) -> None:
    """A shared array ordered by the author's own barriers, between tile statements."""
    name, value = w.fresh("sh"), w.fresh("v")
    w.emit(f"var {name}: shared<f32>[{w.threads}]")
    w.emit(f"{name}[ctx.thread] = {_table(w)}[ctx.thread]")
    w.emit("barrier()")
    w.emit(f"let {value} = {name}[{w.threads - 1} - ctx.thread]")
    w.emit(f"{_output(w, (1, w.threads))}[ctx.block.x, ctx.thread] = {value}")
    if w.loops:
        w.emit("barrier()")


def _moving_window(w: _Writer) -> None:
    """Boxes of a tensor that overlap, touch or lie apart from one iteration to the next."""
    rows, width = w.rng.choice([(2, 16), (4, 16), (1, 64), (8, 8)])
    step = w.rng.choice([width // 2, width, width, width + 4, 1])
    name, column, tile = _output(w, (rows, 96)), w.fresh("k"), w.fresh("w")
    with w.block(f"for {column} in range(0, {_count(w)} * {step}, {step})"):
        box = f"{name}[ctx.block.x * {rows} :+ {rows}, {column} :+ {width}]"
        w.emit(f"var {tile} = {box}")
        w.emit(f"{box} = {tile} * 0.5 + {w.rng.choice([f'rowsum({tile})', '1.0', f'f32({column})'])}")


# Control flow ------------------------------------------------------------------------------------


def _body(w: _Writer, depth: int) -> None:
    for _ in range(w.rng.randrange(1, 4)):
        _statement(w, depth - 1)


def _loop(w: _Writer, depth: int) -> None:
    name = w.fresh("i")
    count = _count(w)
    stop = w.rng.choice([count, count, "3", f"{count} + 1"])
    w.loops += 1
    with w.block(f"for {name} in range({w.rng.choice(['0', '0', '1'])}, {stop})"):
        if w.chance(0.15):
            with w.block(f"if {name} == {w.rng.choice('pq')}"):
                w.emit(w.rng.choice(["break", "continue"]))
        _body(w, depth)
    w.loops -= 1


def _count(w: _Writer) -> str:
    return w.rng.choice("nnpq")


def _while(w: _Writer, depth: int) -> None:
    """A loop that ends by a count, or by what the threads find together."""
    count = w.fresh("m")
    w.emit(f"var {count}: i32 = 0")
    test = f"{count} < {_count(w)}"
    if w.chance(0.3):
        test += f" && block_max({_table(w)}[ctx.thread]) > -99.0"
    w.loops += 1
    with w.block(f"while {test}"):
        _body(w, depth)
        w.emit(f"{count} += 1")
    w.loops -= 1


def _branch(w: _Writer, depth: int) -> None:
    test = w.rng.choice(["n > 2", "p == 2", "ctx.block.x == 0", "flag > 0"])
    with w.block(f"if {test}"):
        _body(w, depth)
    if w.chance(0.6):
        w.lines[-1] += " else {"
        w.scopes.append([])
        _body(w, depth)
        w.scopes.pop()
        w.emit("}")


def _product(w: _Writer) -> None:
    """A sum of products over slices, streamed or with one operand that stays."""
    rows, columns = w.rng.choice([(16, 16), (32, 16), (8, 32)])
    step = w.rng.choice([4, 8, 16])
    acc, k, a, b = (w.fresh(stem) for stem in ("acc", "k", "a", "b"))
    left, right = _tensor(w, (rows, 64)), _tensor(w, (64, columns))
    own = f"ctx.block.x * {rows} :+ {rows}"
    stays = w.chance(0.3)
    if stays:
        w.emit(f"var {a} = {left}[{own}, 0 :+ {step}]")
    w.emit(f"var {acc}: tile<f32>[{rows}, {columns}] = 0.0")
    with w.block(f"for {k} in range(0, {_count(w)} * {step}, {step})"):
        if not stays:
            w.emit(f"let {a} = {left}[{own}, {k} :+ {step}]")
        w.emit(f"let {b} = {right}[{k} :+ {step}, 0 :+ {columns}]")
        w.emit(f"{acc} += dot({a}, {b})")
        if w.chance(0.2):
            w.emit(f"{acc} = {acc} * 0.5")
    w.bind(_Tile(acc, (rows, columns), mutable=True))


# Expressions -------------------------------------------------------------------------------------


def _expression(w: _Writer, shape: Shape, depth: int) -> str:
    """A tile of a shape in which lanes may need what others hold."""
    leaves = [t.name for t in w.tiles(shape)]
    if depth == 0:
        return (
            w.rng.choice(leaves) if leaves else f"where(iota({shape[1]}) >= 0, {_rows(w, shape)}, 1.0)"
        )
    options = _ways(w, shape, depth)
    weights, writes = zip(*options, strict=True)
    return w.rng.choices(writes, weights)[0]()


def _rows(w: _Writer, shape: Shape) -> str:
    """A tile of one value for each row."""
    return f"transpose(f32(iota({shape[0]})))" if shape[0] > 1 else "f32(n)"


def _ways(w: _Writer, shape: Shape, depth: int) -> Sequence[tuple[float, Callable[[], str]]]:
    rows, columns = shape

    def inner(of: Shape) -> str:
        return _expression(w, of, depth - 1)

    def reduced(axis: str) -> str:
        of = w.rng.choice(
            [t.shape for t in w.tiles() if t.shape[axis == "col"] == shape[axis == "col"]] or [shape]
        )
        of = (rows, of[1]) if axis == "row" else (of[0], columns)
        value = inner(of)
        kinds = ["sum", "max", "min", *(["argmax"] if axis == "row" else [])]
        kind = w.rng.choice(kinds)
        call = f"{axis}{kind}({value})"
        return f"f32({call})" if kind == "argmax" else call

    def stretched() -> str:
        whole = inner(shape)
        return f"({whole} {w.rng.choice('+-')} {reduced(w.rng.choice(['row', 'col']))})"

    def gathered() -> str:
        return f"gather({_table(w)}, i32({inner(shape)}))"

    def product() -> str:
        depth_ = w.rng.choice([1, 4, 8, 16])
        if w.chance(0.5):
            return f"dot({inner((rows, depth_))}, {inner((depth_, columns))})"
        return f"dot_t({inner((rows, depth_))}, {inner((columns, depth_))})"

    return [
        (1.5, lambda: inner(shape)),
        (1, lambda: f"({inner(shape)} {w.rng.choice('+-*')} {inner(shape)})"),
        (0.5, lambda: f"abs({inner(shape)})"),
        (2, lambda: f"transpose({inner((columns, rows))})"),
        (1.5, lambda: f"cumsum({inner(shape)})"),
        (3, stretched),
        (2 if columns == 1 else 0, lambda: reduced("row")),
        (2 if rows == 1 else 0, lambda: reduced("col")),
        (0.7, gathered),
        (1 if rows * columns <= 1024 else 0, product),
        (0.5 if rows == columns else 0, lambda: f"{w.rng.choice(['tril', 'triu'])}({inner(shape)})"),
    ]


# Around the body ---------------------------------------------------------------------------------


def _program(w: _Writer, seed: int) -> SharingProgram:
    grid = w.rng.choice([(1, 1, 1), (2, 1, 1), (3, 1, 1)])
    tensors = w.inputs | w.outputs
    parameters = [f"{n}: tensor<f32>[M{i}, N{i}]" for i, n in enumerate(tensors)]
    parameters += [f"{n}: tensor<f32>[L{n}]" for n in sorted(w.tables)]
    parameters += [f"{n}: i32" for n in SCALARS]
    head = f"@launch({w.threads})\nkernel k({', '.join(parameters)}) {{"
    text = "\n".join([head, *w.lines, "}"]) + "\n"
    tables = tuple(sorted(w.tables))
    return SharingProgram(seed, text, grid, w.threads, tensors, tables, w.chance(0.5))
