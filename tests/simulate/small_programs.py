"""Small thread-level kernels in an assembler of one operation a line, kept in `programs/*.txt`.

In a file, `== name | option | ...` begins a program. Options: `finds KIND or KIND` (what has to be said
of it; nothing where it is missing), `threads 32` (64), `grid 2` (1), `alias a out` (tensors that are
one array), `shifted a` (a tensor that begins 4 bytes behind a boundary), `refused` (by the compiler; of
kernels in the language). Lines:

    shared s f32 64          a shared array (also 4x16; `at 128`: its byte; `at x`: from a thread's byte)
    tensor h f16 256         a tensor that is written and read; `a` and `out` (f32), `n` (i32) are there
    i = t + 1                index, integer and float arithmetic by the type of the operands
    one = f32 1.0            a constant; f32x4 for a vector; `x = float i`, `x = int i` of an index
    x = s[i]  s[i] = x       scalars; `v = vec4 s[i]`, `vec s[i] = v` vectors; `vec4/4`: 4 bytes aligned
    y = add s[i] x           an atomic: add, max, assign
    copy s[i] a[j] 4         cp.async of elements; `commit`; `wait 1`
    m = ldmatrix2 s[i, j]    matrices
    if p .. else .. end      branches; `for k = lo hi step .. end`
    barrier, named 1 64, arrived 1 64, warp (bar.warp.sync of the whole warp), warp 15

A line with " : " is MLIR as it stands. Lines that end in ! are those that a finding has to name:
the two of a race, the one of a fault.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from tests.async_text import kernel, op

PROGRAMS = Path(__file__).parent / "programs"
PRELUDE = [
    *("lane = t % 32", "warpid = t / 32", "t4 = t * 4", "ti = int t", "f = float ti", "bi = int b"),
    *("fb = float bi", "o = t ^ 63", "next = t + 1", "one = f32 1.0", "zero = f32 0.0"),
    *("bt = b * 64", "g = bt + t"),
]
"""What every program may use: `o` is a thread of the other warp, `g` the thread in the grid."""
GROUP = '"nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token'
SIZES = {"i8": 1, "f16": 2, "f32": 4, "i32": 4, "f64": 8, "i64": 8}
NUMPY = {"i8": "int8", "f16": "float16", "f32": "float32", "i32": "int32"}
TENSORS = {"a": ("f32", 256), "out": ("f32", 256), "n": ("i32", 256)}
INDEX = {"+": "addi", "-": "subi", "*": "muli", "/": "divui", "%": "remui", "&": "andi", "^": "xori"}
INDEX |= {"<<": "shli", ">>": "shrui"}
INTEGER = {**INDEX, "/": "divsi", "%": "remsi", ">>": "shrsi"}
FLOAT = {"+": "addf", "-": "subf", "*": "mulf", "/": "divf"}
COMPARE = {"<": "ult", ">=": "uge", ">": "ugt", "<=": "ule", "==": "eq", "!=": "ne"}
ATOMICS = {"add": {"f32": 0, "i32": 1}, "max": {"f32": 4, "i32": 6}, "assign": {"f32": 3, "i32": 3}}


@dataclass(frozen=True)
class Buffer:
    """A named array: where it is and its type."""

    dtype: str
    shape: tuple[int, ...] | None

    @property
    def type(self) -> str:
        """Its memref."""
        if self.shape is None:
            return f"memref<?x{self.dtype}>"
        return f"memref<{'x'.join(map(str, self.shape))}x{self.dtype}, S>"


@dataclass
class Assembler:
    """Turns lines into the text of a body; knows the types of names."""

    buffers: dict[str, Buffer] = field(default_factory=dict[str, Buffer])
    tensors: dict[str, tuple[str, int]] = field(default_factory=lambda: dict(TENSORS))
    types: dict[str, str] = field(default_factory=lambda: {"t": "index", "b": "index"})
    shared: int = 0
    made: int = 0
    views: list[str] = field(default_factory=list[str])

    def body(self, text: str) -> str:
        """The MLIR of all lines."""
        self.buffers.update({n: Buffer(d, None) for n, (d, _) in self.tensors.items()})
        start = [self._op(x).replace("@@", "") for x in PRELUDE]
        if "wait" in text:
            start.append(f"%group0 = {GROUP}")
        lines = [self._located(n, x) for n, x in enumerate(text.strip("\n").splitlines(), 1)]
        views = "".join(v.replace("SIZE", str(self.shared)) for v in self.views)
        return views + "\n".join([*start, *lines])

    def _located(self, number: int, line: str) -> str:
        line = line.rstrip(" !").strip()
        if not line:
            return ""
        if " : " in line:
            return f'{line} loc("p":{number}:1)'
        return self._op(line).replace("@@", f' loc("p":{number}:1)')

    def _op(self, line: str) -> str:
        words = line.split()
        rule = getattr(self, f"_{words[0]}_", None)
        if rule and words[1:2] != ["="]:
            return rule(*words[1:])
        if found := re.fullmatch(r"vec(?:/(\d+))? (\w+)\[(.*)\] = (\w+)", line):
            align, name, index, value = found.groups()
            return self._vector_store(name, index, value, align)
        if found := re.fullmatch(r"(\w+)\[(.*)\] = (\w+)", line):
            name, index, value = found.groups()
            place = f"%{name}[{self._indices(index)}] : {self.buffers[name].type}"
            return f"memref.store %{value}, {place}@@"
        name, expression = line.split(" = ", 1)
        return self._assign(name, expression)

    def _vector_store(self, name: str, index: str, value: str, align: str | None) -> str:
        buffer = self.buffers[name]
        type_ = self.types[value]
        count = int(re.match(r"vector<(\d+)", type_)[1])  # pyright: ignore[reportOptionalSubscript]
        promised = align or count * SIZES[buffer.dtype]
        place = f"%{name}[{self._indices(index)}] {{alignment = {promised} : i64}}"
        return f"vector.store %{value}, {place} : {buffer.type}, {type_}@@"

    def _assign(self, name: str, text: str) -> str:
        for pattern, rule in RULES:
            if found := re.fullmatch(pattern, text):
                made, self.types[name] = rule(self, *found.groups())
                return f"%{name} = {made}@@"
        raise ValueError(text)

    def _value(self, word: str) -> str:
        return f"%c{word}" if word.isdigit() else f"%{word}"

    def _indices(self, text: str) -> str:
        return ", ".join(self._value(x.strip()) for x in text.split(","))

    def _shared_(self, name: str, dtype: str, dims: str, *more: str) -> str:
        shape = tuple(map(int, dims.split("x")))
        size = int(np.prod(shape)) * SIZES[dtype]
        at = more[1] if more else str(-(-self.shared // 16) * 16)
        if at.isdigit():
            self.shared = max(self.shared, int(at) + size)
        self.buffers[name] = Buffer(dtype, shape)
        types = f"memref<SIZExi8, S> to {self.buffers[name].type}"
        view = f"%{name} = memref.view %smem[{self._value(at)}][] : {types}\n"
        if at.isdigit():
            self.views.append(view)
            return ""
        return view.replace("SIZE", str(self.shared))

    def _tensor_(self, name: str, dtype: str, extent: str) -> str:
        self.tensors[name] = dtype, int(extent)
        self.buffers[name] = Buffer(dtype, None)
        return ""

    def _barrier_(self) -> str:
        return '"gpu.barrier"() : () -> ()@@'

    def _warp_(self, mask: str = "-1") -> str:
        self.made += 1
        mask = f"%mask{self.made} = arith.constant {mask} : i32\n"
        return mask + f'"nvvm.bar.warp.sync"(%mask{self.made}) : (i32) -> ()@@'

    def _named_(self, number: str, count: str) -> str:
        return self._meeting("nvvm.barrier", number, count, (1, 1, 0))

    def _arrived_(self, number: str, count: str) -> str:
        return self._meeting("nvvm.barrier.arrive", number, count, ())

    def _meeting(self, name: str, number: str, count: str, segments: tuple[int, ...]) -> str:
        self.made += 1
        k = self.made
        values = f"%number{k} = arith.constant {number} : i32\n"
        values += f"%count{k} = arith.constant {count} : i32\n"
        return values + op(name, f"%number{k}, %count{k}", "i32, i32", segments) + "@@"

    def _copy_(self, *words: str) -> str:
        self.made += 1
        (dst, di), (src, si) = re.findall(r"(\w+)\[(.*?)\]", " ".join(words))
        count = words[-1]
        d, s = self._indices(di), self._indices(si)
        there, here = self.buffers[dst].type, self.buffers[src].type
        types = ", ".join([there, _inside(d), here, _inside(s)])
        sizes = f"1, {len(d.split(','))}, 1, {len(s.split(','))}, 0"
        properties = f"<{{dstElements = {count} : index, operandSegmentSizes = array<i32: {sizes}>}}>"
        return (
            f'%copy{self.made} = "nvgpu.device_async_copy"(%{dst}, {d}, %{src}, {s}) {properties} : '
            f"({types}) -> !nvgpu.device.async.token@@"
        )

    def _commit_(self) -> str:
        self.made += 1
        return f"%group{self.made} = {GROUP}@@"

    def _wait_(self, count: str) -> str:
        properties = f"<{{numGroups = {count} : i32}}>"
        return f'"nvgpu.device_async_wait"(%group0) {properties} : (!nvgpu.device.async.token) -> ()@@'

    def _if_(self, condition: str) -> str:
        return f"scf.if %{condition} {{"

    def _else_(self) -> str:
        return "} else {"

    def _for_(self, name: str, _: str, low: str, high: str, step: str) -> str:
        self.types[name] = "index"
        low, high, step = map(self._value, (low, high, step))
        return f"scf.for %{name} = {low} to {high} step {step} {{"

    def _end_(self) -> str:
        return "}"


def _inside(indices: str) -> str:
    """The types of some indices."""
    return ", ".join(["index"] * len(indices.split(",")))


def _constant(self: Assembler, dtype: str, count: str | None, value: str) -> tuple[str, str]:
    if count:
        type_ = f"vector<{count}x{dtype}>"
        return f"arith.constant dense<{value}> : {type_}", type_
    return f"arith.constant {value} : {dtype}", dtype


def _infix(self: Assembler, left: str, sign: str, right: str) -> tuple[str, str]:
    type_ = self.types.get(left) or self.types.get(right, "index")
    rows = FLOAT if type_.startswith(("f", "vector")) else INDEX if type_ == "index" else INTEGER
    first, second = self._value(left), self._value(right)
    if sign in COMPARE:
        return f"arith.cmpi {COMPARE[sign]}, {first}, {second} : {type_}", "i1"
    return f"arith.{rows[sign]} {first}, {second} : {type_}", type_


def _load(self: Assembler, name: str, index: str) -> tuple[str, str]:
    buffer = self.buffers[name]
    return f"memref.load %{name}[{self._indices(index)}] : {buffer.type}", buffer.dtype


def _vector(self: Assembler, count: str, align: str | None, name: str, index: str) -> tuple[str, str]:
    buffer = self.buffers[name]
    type_ = f"vector<{count}x{buffer.dtype}>"
    promised = align or int(count) * SIZES[buffer.dtype]
    place = f"%{name}[{self._indices(index)}] {{alignment = {promised} : i64}}"
    return f"vector.load {place} : {buffer.type}, {type_}", type_


def _atomic(self: Assembler, kind: str, name: str, index: str, value: str) -> tuple[str, str]:
    buffer = self.buffers[name]
    number = ATOMICS[kind][buffer.dtype]
    return (
        f'"memref.atomic_rmw"(%{value}, %{name}, {self._indices(index)}) <{{kind = {number} : i64}}> : '
        f"({buffer.dtype}, {buffer.type}, {_inside(index)}) -> {buffer.dtype}",
        buffer.dtype,
    )


def _matrix(self: Assembler, count: str, name: str, index: str) -> tuple[str, str]:
    buffer = self.buffers[name]
    type_ = f"vector<{count}x2xf16>"
    return (
        f'"nvgpu.ldmatrix"(%{name}, {self._indices(index)}) '
        f"<{{transpose = false, numTiles = {count} : i32}}> : "
        f"({buffer.type}, {_inside(index)}) -> {type_}",
        type_,
    )


RULES = [
    (r"([a-z]\d+)(?:x(\d+))? (-?[\d.e+]+|0x\w+|true|false)", _constant),
    (r"(\w+) ([-+*/%&^<>=!]+) (\w+)", _infix),
    (r"int (\w+)", lambda self, x: (f"arith.index_cast %{x} : index to i32", "i32")),
    (r"index (\w+)", lambda self, x: (f"arith.index_cast %{x} : i32 to index", "index")),
    (r"float (\w+)", lambda self, x: (f"arith.sitofp %{x} : i32 to f32", "f32")),
    (r"half (\w+)", lambda self, x: (f"arith.truncf %{x} : f32 to f16", "f16")),
    (r"byte (\w+)", lambda self, x: (f"arith.trunci %{x} : i32 to i8", "i8")),
    (r"widen (\w+)", lambda self, x: (f"arith.extf %{x} : f16 to f32", "f32")),
    (r"vec(\d+)(?:/(\d+))? (\w+)\[(.*)\]", _vector),
    (r"ldmatrix(\d) (\w+)\[(.*)\]", _matrix),
    (r"(add|max|assign) (\w+)\[(.*)\] (\w+)", _atomic),
    (r"(\w+)\[(.*)\]", _load),
]


@dataclass(frozen=True)
class Small:
    """A small program; `kinds`: one of them has to be found, with the marked lines."""

    name: str
    text: str
    kinds: tuple[str, ...] = ()
    threads: int = 64
    grid: int = 1
    alias: tuple[str, ...] = ()
    shifted: tuple[str, ...] = ()
    refused: bool = False

    @property
    def marked(self) -> set[int]:
        """The lines that a finding must name."""
        lines = enumerate(self.text.strip("\n").splitlines(), 1)
        return {n for n, line in lines if line.rstrip().endswith("!")}

    def run(self, seed: int = 0, **options: Any):
        """Simulate it."""
        assembler = Assembler()
        body = assembler.body(self.text)
        tensors = [(n, d, (e,), True) for n, (d, e) in assembler.tensors.items()]
        arguments = {n: np.arange(e).astype(NUMPY[d]) for n, (d, e) in assembler.tensors.items()}
        arguments.update(dict.fromkeys(self.alias, arguments["a"]))
        arguments.update({n: np.arange(257, dtype="float32")[1:] for n in self.shifted})
        shared = -(-assembler.shared // 16) * 16
        body = body.replace(f"memref<{assembler.shared}xi8", f"memref<{shared}xi8")
        made = kernel(
            body, tensors, threads=self.threads, shared=shared, grid=self.grid, arguments=arguments
        )
        return made.run(seed=seed, **options)


def programs(*names: str) -> list[Small]:
    """The programs of some files."""
    texts = [(PROGRAMS / f"{name}.txt").read_text("utf-8") for name in names]
    return [_small(part) for text in texts for part in text.split("\n== ")[1:]]


def _small(text: str) -> Small:
    head, body = text.split("\n", 1)
    name, *options = head.split(" | ")
    given = dict(f"{option} ".split(" ", 1) for option in options)
    return Small(
        name,
        body,
        tuple(given["finds"].strip().split(" or ")) if "finds" in given else (),
        int(given.get("threads", 64)),
        int(given.get("grid", 1)),
        tuple(given.get("alias", "").split()),
        tuple(given.get("shifted", "").split()),
        "refused" in text.split("\n", 1)[0],
    )
