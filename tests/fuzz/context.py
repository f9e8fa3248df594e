"""The program under construction: its text so far, what is in scope, its tensors and extents."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TypeVar

from tests.fuzz.arrays import ArrayRecipe, elements, kinds_of
from tests.fuzz.values import CTA, DTYPES, LANE, Shape, Unfit, Value, narrower

T = TypeVar("T")
EXTENTS = (0, 1, 2, 3, 5, 7, 8, 9, 13, 16, 17, 24, 31, 33, 40)


@dataclass
class TensorSpec:
    """A tensor parameter. tolerance: how far apart two right runs may leave its elements."""

    name: str
    dtype: str
    dims: list[str]
    extents: tuple[int, ...]
    kind: str
    layout: str
    seed: int
    written: bool = False
    tolerance: float = 0.0

    @property
    def recipe(self) -> ArrayRecipe:
        """How its array is made."""
        return ArrayRecipe(self.dtype, self.extents, self.kind, self.layout, self.seed)

    @property
    def element(self) -> Value:
        """What is known of its elements before the kernel runs."""
        return elements(self.name, self.dtype, self.kind)


@dataclass(frozen=True)
class Variable:
    """A name in scope. A mutable one keeps to `value`'s range whatever is assigned."""

    value: Value
    mutable: bool = False


@dataclass
class Context:
    """Everything a part of the generator reads and adds to."""

    rng: random.Random
    threads: int = 64
    grid: tuple[int, int, int] = (1, 1, 1)
    steps: tuple[int, int] = (8, 8)
    axes: int = 2
    layouts: bool = False
    marks: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    functions: list[str] = field(default_factory=list)
    indent: int = 1
    scopes: list[list[Variable]] = field(default_factory=lambda: [[]])
    tensors: list[TensorSpec] = field(default_factory=list)
    symbols: dict[str, int] = field(default_factory=dict)
    scalars: dict[str, tuple[str, float | int | bool]] = field(default_factory=dict)
    constants: dict[str, int] = field(default_factory=dict)
    generic: str = ""
    threaded: bool = False
    flow: int = CTA
    uses_blocks: bool = False
    nested: int = 0
    shared: list[Value] = field(default_factory=list)
    attributes: set[str] = field(default_factory=set)
    names: int = 0

    @property
    def sealed(self) -> bool:
        """Whether a function is being written, which sees its parameters only."""
        return self.nested > 0

    # Choices -------------------------------------------------------------------------------------

    def chance(self, probability: float) -> bool:
        """True with a probability."""
        return self.rng.random() < probability

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        if not options:
            raise Unfit
        return self.rng.choice(options)

    def weighted(self, options: Sequence[tuple[float, T]]) -> T:
        """One of the options by weight."""
        return self.rng.choices([o for _, o in options], [w for w, _ in options])[0]

    def mark(self, *features: str) -> None:
        """Note that the program contains these features."""
        self.marks += features

    def fresh(self, stem: str) -> str:
        """A name not used before."""
        self.names += 1
        return f"{stem}_{self.names}"

    # Text ----------------------------------------------------------------------------------------

    def emit(self, line: str) -> None:
        """Add a line."""
        self.lines.append("  " * self.indent + line)

    @contextmanager
    def block(self, header: str, flow: int = CTA) -> Iterator[None]:
        """A block in braces with a scope of its own, run by the threads of `flow`."""
        before = self.flow
        self.emit(header + " {")
        self.indent += 1
        self.flow = max(self.flow, flow)
        self.scopes.append([])
        yield
        self.scopes.pop()
        self.flow = before
        self.indent -= 1
        self.emit("}")

    @contextmanager
    def function_body(self, parameters: Sequence[Value]) -> Iterator[list[str]]:
        """The inside of a function, which sees its parameters and nothing of the kernel."""
        kept = (
            self.scopes, self.constants, self.symbols, self.generic, self.lines, self.indent,
            self.flow, self.nested, self.shared,
        )  # fmt: skip
        body: list[str] = []
        self.scopes = [[Variable(p) for p in parameters]]
        self.constants, self.symbols, self.generic, self.lines, self.indent = {}, {}, "", body, 1
        self.flow, self.nested, self.shared = LANE, self.nested + 1, []
        try:
            yield body
        finally:
            (
                self.scopes, self.constants, self.symbols, self.generic, self.lines, self.indent,
                self.flow, self.nested, self.shared,
            ) = kept  # fmt: skip

    # Names in scope ------------------------------------------------------------------------------

    def bind(self, value: Value, *, mutable: bool = False) -> None:
        """Put a named value in scope."""
        self.scopes[-1].append(Variable(value, mutable))

    def visible(self, dtype: str, shapes: Sequence[Shape], level: int) -> list[Variable]:
        """The variables of a type and one of the shapes that `level` can use."""
        found = [v for scope in self.scopes for v in scope]
        return [
            v
            for v in found
            if v.value.dtype == dtype and v.value.shape in shapes and v.value.level <= level
        ]

    def spell(self, dtype: str) -> str:
        """The type's name, sometimes by the kernel's generic."""
        if dtype == self.generic and self.chance(0.7):
            self.mark("generic:dtype used")
            return "T"
        return dtype

    def extent(self, number: int) -> str:
        """A compile-time number, sometimes by the name of a constant."""
        names = [n for n, v in self.constants.items() if v == number]
        if names and self.chance(0.7):
            return self.pick(names)
        return str(number)

    def tile_type(self, dtype: str, shape: Shape) -> str:
        """How a tile's type is written."""
        return f"tile<{self.spell(dtype)}>[{', '.join(self.extent(n) for n in shape)}]"

    # Tensors -------------------------------------------------------------------------------------

    def input(self, dtype: str, rank: int) -> TensorSpec:
        """A tensor of at least this rank that the kernel only reads."""
        if self.sealed:
            raise Unfit
        known = [t for t in self.tensors if t.dtype == dtype and len(t.dims) >= rank and not t.written]
        if known and (self.chance(0.8) or len(self.tensors) > 9):
            return self.pick(known)
        if len(self.tensors) > 14:
            raise Unfit
        rank = max(1, rank) + (self.chance(0.2) and rank < 3)
        return self.tensor("X", dtype, [self._dim() for _ in range(rank)], self.pick(kinds_of(dtype)))

    def _dim(self) -> str:
        if self.symbols and self.chance(0.6):
            return self.pick(list(self.symbols))
        extent = self.pick(EXTENTS)
        if extent and self.chance(0.3):
            self.mark("dim:constant")
            return self.extent(extent)
        name = f"N{len(self.symbols)}"
        self.symbols[name] = extent
        return name

    @property
    def extents(self) -> dict[str, int]:
        """The symbols that a tensor of the signature names, with their extents in this call."""
        named = {d for t in self.tensors for d in t.dims}
        return {n: v for n, v in self.symbols.items() if n in named and not self.sealed}

    def size(self, dim: str) -> int:
        """The extent that a dim has in the generated call."""
        if dim in self.symbols:
            return self.symbols[dim]
        return self.constants[dim] if dim in self.constants else int(dim)

    def tensor(
        self, stem: str, dtype: str, dims: list[str], kind: str, *, written: bool = False
    ) -> TensorSpec:
        """A new tensor parameter."""
        layouts = ["contiguous", "transposed", "strided", "reversed", "shifted"]
        layouts += [] if written else ["repeated"]
        layout = self.pick(layouts) if self.layouts and self.chance(0.6) else "contiguous"
        extents = tuple(self.size(d) for d in dims)
        seed = self.rng.randrange(2**31)
        name = self.fresh(stem)
        spec = TensorSpec(name, dtype, dims, extents, kind, layout, seed, written)
        self.tensors.append(spec)
        self.mark(f"dtype:{dtype}", f"layout:{layout}", f"values:{kind}", f"rank:{len(dims)}")
        for extent in extents:
            self.mark(f"extent:{extent}" if extent < 2 else "extent:more")
        return spec

    def scalar(self, dtype: str) -> Value:
        """A scalar parameter with a small value."""
        if self.sealed:
            raise Unfit
        known = [n for n, (d, _) in self.scalars.items() if d == dtype]
        name = self.pick(known) if known and self.chance(0.6) else self.fresh("s")
        if name not in self.scalars:
            if len(self.scalars) > 5:
                raise Unfit
            self.scalars[name] = dtype, self._scalar_value(dtype)
        number = self.scalars[name][1]
        self.mark(f"scalar argument:{dtype}")
        return replace(Value(name, dtype, low=number, high=number, grain=0.25))

    def _scalar_value(self, dtype: str) -> float | int | bool:
        if dtype == "bool":
            return self.chance(0.5)
        if dtype in DTYPES[:4]:
            return self.rng.randrange(-8, 9) * 0.25
        return self.rng.randrange(0 if dtype == "u8" else -5, 12)


def shapes_onto(shape: Shape) -> list[Shape]:
    """The shapes that stretch to `shape`, scalars included."""
    return [*narrower(shape), ()]
