"""Hand-written thread modules of bulk copies, memory barriers and clusters, with their arguments.

Each is simulated by tests/simulate and run on a GPU by tests/gpu/async_copies.py: the outputs of the two
are the same bits.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from xdsl.dialects.builtin import ModuleOp, StringAttr

from phobos_nb.contract import (
    GridRule,
    LaunchContract,
    TensorMap,
    TensorParameter,
    Variant,
    entry_arguments,
)
from phobos_nb.ir.text import parse
from phobos_nb.simulate.launch import simulate

WORKGROUP = "#gpu.address_space<workgroup>"
MLIR = {"u8": "i8", "i8": "i8", "i32": "i32", "f16": "f16", "f32": "f32"}
NUMPY = {"u8": np.uint8, "i8": np.int8, "i32": np.int32, "f16": np.float16, "f32": np.float32}
SIZES = {"u8": 1, "i8": 1, "i32": 4, "f16": 2, "f32": 4}
Tensors = Sequence[tuple[str, str, tuple[int, ...], bool]]
"""Name, dtype, extents, and whether it is written."""


@dataclass(frozen=True)
class Kernel:
    """A module, its contract, its grid and arguments."""

    module: ModuleOp
    contract: LaunchContract
    grid: tuple[int, int, int] = (1, 1, 1)
    arguments: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def run(self, **options: Any):
        """Simulate it."""
        return simulate(self.module, self.contract, self.arguments, grid=self.grid, **options)


def map_type(box: Sequence[int], dtype: str, swizzle: int) -> str:
    """The type of a tensor map."""
    name = f"swizzle_{swizzle}b" if swizzle else "none"
    tensor = f"memref<{'x'.join(map(str, box))}x{MLIR[dtype]}, {WORKGROUP}>"
    fields = f"swizzle = {name}, l2promo = l2promo_128b, oob = zero, interleave = none"
    return f"!nvgpu.tensormap.descriptor<tensor = {tensor}, {fields}>"


def group_type(number: int) -> str:
    """The type of some memory barriers."""
    more = f", num_barriers = {number}" if number != 1 else ""
    return f"!nvgpu.mbarrier.group<memorySpace = {WORKGROUP}{more}>"


def kernel(
    body: str,
    tensors: Tensors,
    *,
    threads: int = 128,
    shared: int = 0,
    dynamic: bool = False,
    cluster: int = 1,
    maps: Sequence[TensorMap] = (),
    grid: int = 1,
    arguments: Mapping[str, Any] | None = None,
) -> Kernel:
    """A kernel from the text of its body.

    In the body `S>` ends a type in shared memory, `G<n>` is the type of n memory barriers, `%t` and `%b`
    are the thread's and block's id, `%c5` stands for a constant index wherever it is used, and `%smem`
    for the shared bytes. Strides of tensors are not used.
    """
    parameters = tuple(TensorParameter(n, d, dims, True, writes) for n, d, dims, writes in tensors)
    dtypes = {n: d for n, d, _, _ in tensors}
    variant = Variant()
    entry = entry_arguments(parameters, variant, tuple(maps))
    described = {x.name: map_type(x.box, dtypes[x.tensor], x.swizzle) for x in maps}
    types = [_entry_type(a, described) for a in entry]
    names = [a.name if a.kind in ("pointer", "map") else f"{a.name}_{a.kind}{a.axis}" for a in entry]
    declared = ", ".join(f"%{n}: {t}" for n, t in zip(names, types, strict=True))
    text = TEXT.format(
        types=", ".join(types),
        declared=declared,
        memory=f"memref<{max(shared, 16)}xi8, {WORKGROUP}>",
        get=_shared(shared, dynamic),
        body=_constants(body) + _written(body),
        threads=threads,
        shared=shared,
        cluster=f", phobos.cluster = array<i64: {cluster}, 1, 1>" if cluster > 1 else "",
    )
    contract = LaunchContract(
        kernel="k",
        entry="kern",
        parameters=parameters,
        arguments=entry,
        grid=GridRule(),
        threads=threads,
        body_threads=threads,
        shared_bytes=shared,
        dynamic_shared=dynamic,
        variant=variant,
        target="sm_90a",
        cluster=(cluster, 1, 1),
        maps=tuple(maps),
    )
    return Kernel(parse(text), contract, (grid, 1, 1), arguments or {})


TEXT = """
builtin.module attributes {{gpu.container_module}} {{ "gpu.module"() <{{sym_name = "k"}}> ({{
  "memref.global"() <{{sym_name = "smem", type = {memory}, initial_value, sym_visibility = "private",
    alignment = 1024 : i64}}> : () -> ()
  "gpu.func"() <{{function_type = ({types}) -> ()}}> ({{
  ^bb0({declared}):
    %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
    %b = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
    {get}
    {body}
    "gpu.return"() : () -> ()
  }}) {{sym_name = "kern", gpu.kernel, phobos.threads = {threads} : i64,
      phobos.shared_bytes = {shared} : i64, phobos.index_bits = 64 : i64{cluster}}} : () -> ()
}}) : () -> () }}"""


def _entry_type(argument: Any, described: Mapping[str, str]) -> str:
    if argument.kind == "pointer":
        return f"memref<?x{MLIR[argument.dtype]}>"
    return described[argument.name] if argument.kind == "map" else "index"


def _shared(shared: int, dynamic: bool) -> str:
    if not shared:
        return ""
    if dynamic:
        return f'%smem = "gpu.dynamic_shared_memory"() : () -> memref<?xi8, {WORKGROUP}>'
    return f"%smem = memref.get_global @smem : memref<{shared}xi8, {WORKGROUP}>"


def _constants(body: str) -> str:
    numbers = sorted({int(x) for x in re.findall(r"%c(\d+)\b", body)})
    return "\n".join(f"%c{n} = arith.constant {n} : index" for n in numbers) + "\n"


def _written(body: str) -> str:
    body = re.sub(r"G<(\d+)>", lambda found: group_type(int(found[1])), body)
    return body.replace(" S>", f" {WORKGROUP}>")


# Pieces ------------------------------------------------------------------------------------------


def op(name: str, operands: str, types: str, segments: Sequence[int] = (), result: str = "") -> str:
    """An operation in generic form."""
    sizes = ", ".join(map(str, segments))
    properties = f" <{{operandSegmentSizes = array<i32: {sizes}>}}>" if segments else ""
    return f'"{name}"({operands}){properties} : ({types}) -> {result or "()"}'


def barriers(counts: Sequence[int], name: str = "bar") -> str:
    """Make memory barriers with these counts, by thread 0, and let everybody see them."""
    made = f'%{name} = "nvgpu.mbarrier.create"() : () -> G<{len(counts)}>\n'
    inits = "\n".join(
        f'"nvgpu.mbarrier.init"(%{name}, %c{n}, %c{k}) : (G<{len(counts)}>, index, index) -> ()'
        for k, n in enumerate(counts)
    )
    return made + inits + "\n"


FIRST = "%first = arith.cmpi eq, %t, %c0 : index\n"
BARRIER = '"gpu.barrier"() : () -> ()\n'
FENCE = (
    '"nvvm.fence.proxy"() <{kind = #nvvm.proxy_kind<async.shared>, '
    "space = #nvvm.shared_space<cta>}> : () -> ()\n"
)
FENCE_INIT = '"nvvm.fence.mbarrier.init"() : () -> ()\n'
CLUSTER_SYNC = '"nvvm.cluster.arrive"() : () -> ()\n"nvvm.cluster.wait"() : () -> ()\n'
COMMIT = '"nvvm.cp.async.bulk.commit.group"() : () -> ()\n'
WAIT_READ = '"nvvm.cp.async.bulk.wait_group"() <{group = 0 : i32, read}> : () -> ()\n'
WAIT_ALL = '"nvvm.cp.async.bulk.wait_group"() <{group = 0 : i32}> : () -> ()\n'
TICKS = "%ticks = arith.constant 10000000 : index\n"
PARITY = "%even = arith.constant false\n%odd = arith.constant true\n"


def when(condition: str, body: str) -> str:
    """A branch."""
    return f"scf.if {condition} {{\n{body}}}\n"


def init(counts: Sequence[int], *, cluster: bool = False, name: str = "bar") -> str:
    """Barriers made by thread 0, fenced and seen by all."""
    made, inits = barriers(counts, name).split("\n", 1)
    return made + "\n" + when("%first", inits + FENCE_INIT) + (CLUSTER_SYNC if cluster else BARRIER)


def expect(index: str, bytes_: int, number: int, name: str = "bar") -> str:
    """Arrive and expect bytes."""
    return (
        f'"nvgpu.mbarrier.arrive.expect_tx"(%{name}, %c{bytes_}, {index}) : '
        f"(G<{number}>, index, index) -> ()\n"
    )


def wait(index: str, parity: str, number: int, name: str = "bar") -> str:
    """Wait for a phase."""
    return (
        f'"nvgpu.mbarrier.try_wait.parity"(%{name}, {parity}, %ticks, {index}) : '
        f"(G<{number}>, i1, index, index) -> ()\n"
    )


def arrive(index: str, number: int, token: str, name: str = "bar") -> str:
    """Arrive, with a name for the token."""
    return (
        f'%{token} = "nvgpu.mbarrier.arrive"(%{name}, {index}) : (G<{number}>, index) -> '
        "!nvgpu.mbarrier.token\n"
    )


def registers_per_thread(action: str, count: int) -> str:
    """Give back registers, or ask for some."""
    return (
        f'"nvvm.setmaxregister"() <{{action = #nvvm<action {action}>, regCount = {count} : i32}}> '
        ": () -> ()\n"
    )


def shared_view(name: str, shift: str, shape: Sequence[int], dtype: str, size: int | str) -> str:
    """A view of the shared bytes."""
    type_ = f"memref<{'x'.join(map(str, shape))}x{MLIR[dtype]}, S>"
    return f"%{name} = memref.view %smem[{shift}][] : memref<{size}xi8, S> to {type_}\n"


def tensor_load(
    dst: str,
    box: Sequence[int],
    dtype: str,
    swizzle: int,
    coordinates: Sequence[str],
    index: str,
    number: int,
    mask: str = "",
) -> str:
    """A box to shared memory; coordinates innermost first."""
    types = [f"memref<{'x'.join(map(str, box))}x{MLIR[dtype]}, S>", f"G<{number}>"]
    types += [map_type(box, dtype, swizzle), *["index"] * len(coordinates), "index"]
    operands = [dst, "%bar", "%map", *coordinates, index]
    if mask:
        operands.append(mask)
        types.append("i16")
    segments = (1, 1, 1, len(coordinates), 1, int(bool(mask)), 0)
    return op("nvgpu.tma.async.load", ", ".join(operands), ", ".join(types), segments) + "\n"


def tensor_store(
    src: str, box: Sequence[int], dtype: str, swizzle: int, coordinates: Sequence[str]
) -> str:
    """A box from shared memory."""
    types = [f"memref<{'x'.join(map(str, box))}x{MLIR[dtype]}, S>", map_type(box, dtype, swizzle)]
    types += ["index"] * len(coordinates)
    segments = (1, 1, len(coordinates), 0)
    operands = ", ".join([src, "%map", *coordinates])
    return op("nvgpu.tma.async.store", operands, ", ".join(types), segments) + "\n"


def dump(shared: int, out: str, threads: int, base: str = "%c0") -> str:
    """Copy the shared bytes to an i32 tensor, word by word."""
    words = shared // 4
    return f"""
  %words = memref.view %smem[%c0][] : memref<{shared}xi8, S> to memref<{words}xi32, S>
  scf.for %w = %t to %c{words} step %c{threads} {{
    %x = memref.load %words[%w] : memref<{words}xi32, S>
    %p = arith.addi %w, {base} : index
    memref.store %x, %{out}[%p] : memref<?xi32>
  }}
"""


# Kernels -----------------------------------------------------------------------------------------


def box_load(
    dtype: str,
    shape: tuple[int, ...],
    box: tuple[int, ...],
    corner: tuple[int, ...],
    swizzle: int = 0,
    seed: int = 0,
) -> Kernel:
    """One box of a tensor as it lies in shared memory, out as raw words; `corner` is outermost first."""
    count = int(np.prod(box)) * SIZES[dtype]
    size = -(-count // 128) * 128
    names = [f"%k{a}" for a in range(len(corner))]
    constants = "".join(
        f"{n} = arith.constant {c} : index\n" for n, c in zip(names, reversed(corner), strict=True)
    )
    start = shared_view("box", "%c0", box, dtype, size)
    load = expect("%c0", count, 1) + tensor_load("%box", box, dtype, swizzle, names, "%c0", 1)
    fill = f"""
  %zeros = memref.view %smem[%c0][] : memref<{size}xi8, S> to memref<{size // 4}xi32, S>
  %none = arith.constant 0 : i32
  scf.for %w = %t to %c{size // 4} step %c128 {{
    memref.store %none, %zeros[%w] : memref<{size // 4}xi32, S>
  }}
"""
    body = (
        PARITY + TICKS + FIRST + constants + start + fill + FENCE
        + init([1]) + when("%first", load) + wait("%c0", "%even", 1) + dump(size, "out", 128)
    )  # fmt: skip
    tensors = [("src", dtype, shape, False), ("out", "i32", (size // 4,), True)]
    rng = np.random.default_rng(seed)
    src = rng.integers(1, 100, shape).astype(NUMPY[dtype])
    return kernel(
        body,
        tensors,
        shared=size,
        maps=[TensorMap("map", "src", box, swizzle)],
        arguments={"src": src, "out": np.full(size // 4, -1, np.int32)},
    )


def box_store(
    dtype: str,
    shape: tuple[int, ...],
    box: tuple[int, ...],
    corner: tuple[int, ...],
    swizzle: int = 0,
) -> Kernel:
    """Shared words 0, 1, 2 .. stored as one box of a tensor that holds ones."""
    size = int(np.prod(box)) * SIZES[dtype]
    names = [f"%k{a}" for a in range(len(corner))]
    constants = "".join(
        f"{n} = arith.constant {c} : index\n" for n, c in zip(names, reversed(corner), strict=True)
    )
    fill = f"""
  %words = memref.view %smem[%c0][] : memref<{size}xi8, S> to memref<{size // 4}xi32, S>
  scf.for %w = %t to %c{size // 4} step %c128 {{
    %x = arith.index_cast %w : index to i32
    memref.store %x, %words[%w] : memref<{size // 4}xi32, S>
  }}
"""
    store = tensor_store("%box", box, dtype, swizzle, names) + COMMIT + WAIT_READ
    body = (
        FIRST + constants + shared_view("box", "%c0", box, dtype, size) + fill + FENCE + BARRIER
        + when("%first", store)
    )  # fmt: skip
    return kernel(
        body,
        [("dst", dtype, shape, True)],
        shared=size,
        maps=[TensorMap("map", "dst", box, swizzle)],
        arguments={"dst": np.ones(shape, NUMPY[dtype])},
    )


def plain_copies(bytes_: int = 1024, shift: int = 64) -> Kernel:
    """Bytes of each block's part in, doubled by all threads, and out again."""
    words, per = bytes_ // 4, bytes_ // 4 + shift
    load = expect("%c0", bytes_, 1) + op(
        "phobos.bulk.load",
        f"%s, %c0, %src, %from, %c{bytes_}, %bar, %c0",
        f"memref<{words}xi32, S>, index, memref<?xi32>, index, index, G<1>, index",
        (1, 1, 1, 1, 1, 1, 1, 0, 0),
    )
    store = op(
        "phobos.bulk.store",
        f"%dst, %to, %s, %c0, %c{bytes_}",
        f"memref<?xi32>, index, memref<{words}xi32, S>, index, index",
        (1, 1, 1, 1, 1, 0),
    )
    work = f"""
  scf.for %w = %t to %c{words} step %c128 {{
    %x = memref.load %s[%w] : memref<{words}xi32, S>
    %y = arith.addi %x, %x : i32
    memref.store %y, %s[%w] : memref<{words}xi32, S>
  }}
"""
    places = f"%from0 = arith.muli %b, %c{per} : index\n%from = arith.addi %from0, %c{shift} : index\n"
    places += f"%to = arith.muli %b, %c{words} : index\n"
    types = "memref<?xi32>, index, index"
    prefetch = op("phobos.bulk.prefetch", f"%src, %from, %c{bytes_}", types, (1, 1, 1))
    body = (
        PARITY + TICKS + FIRST + places + shared_view("s", "%c0", [words], "i32", bytes_)
        + when("%first", prefetch + "\n") + init([1]) + when("%first", load + "\n")
        + wait("%c0", "%even", 1) + work + FENCE + BARRIER
        + when("%first", store + "\n" + COMMIT + WAIT_ALL)
    )  # fmt: skip
    src = np.random.default_rng(1).integers(0, 1000, 3 * per).astype(np.int32)
    return kernel(
        body,
        [("src", "i32", (3 * per,), False), ("dst", "i32", (3 * words,), True)],
        shared=bytes_,
        grid=3,
        arguments={"src": src, "dst": np.full(3 * words, -1, np.int32)},
    )


RING_STAGES, RING_TILES = 4, 11


def ring(*, registers: bool = False, tiles: int = RING_TILES) -> Kernel:
    """A producer warp loads tiles of 16 x 32 f32 into a ring of 4 stages, two consumer warps sum them.

    With `registers` they are warpgroups, of which the producer gives registers to the consumers.
    """
    group, stages = (128 if registers else 32), RING_STAGES
    threads, box, size = 3 * group, (16, 32), 16 * 32 * 4
    consumers = 2 * group
    number = 2 * stages
    full, empty = "%stage", "%back"
    common = f"""
    %stage = arith.remui %i, %c{stages} : index
    %back = arith.addi %stage, %c{stages} : index
    %round = arith.divui %i, %c{stages} : index
    %r2 = arith.remui %round, %c2 : index
    %odd_round = arith.cmpi ne, %r2, %c0 : index
    %even_round = arith.cmpi eq, %r2, %c0 : index
    %shift = arith.muli %stage, %c{size} : index
"""
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
        PARITY + TICKS + FIRST + "%zero = arith.constant 0.0 : f32\n"
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


def multicast() -> Kernel:
    """Two CTAs of a cluster load half a tile each and send it to both; each writes out the tile."""
    box, swizzle = (16, 64), 128
    half = 16 * 64 * 2
    load = expect("%c0", 2 * half, 1) + tensor_load(
        "%mine", box, "f16", swizzle, ["%c0", "%row"], "%c0", 1, "%both"
    )
    body = (
        PARITY + TICKS + FIRST
        + '%rank = "gpu.cluster_block_id"() <{dimension = #gpu<dim x>}> : () -> index\n'
        + "%both = arith.constant 3 : i16\n"
        + f"%shift = arith.muli %rank, %c{half} : index\n%row = arith.muli %b, %c16 : index\n"
        + shared_view("mine", "%shift", box, "f16", 2 * half)
        + init([1], cluster=True) + when("%first", load) + wait("%c0", "%even", 1)
        + f"%base = arith.muli %b, %c{2 * half // 4} : index\n"
        + dump(2 * half, "out", 128, "%base")
    )  # fmt: skip
    src = np.random.default_rng(3).integers(0, 100, (16 * 4 - 3, 64)).astype(np.float16)
    return kernel(
        body,
        [("src", "f16", src.shape, False), ("out", "i32", (4 * half // 2,), True)],
        shared=2 * half,
        cluster=2,
        maps=[TensorMap("map", "src", box, swizzle)],
        grid=4,
        arguments={"src": src, "out": np.full(4 * half // 2, -1, np.int32)},
    )


def exchange() -> Kernel:
    """Each CTA of a pair sends the other 512 bytes by a bulk copy, and reads a word of it directly."""

    def peer(name: str, own: str) -> str:
        types = "(memref<128xi32, S>, index) -> memref<128xi32, 7 : i64>"
        return f'%{name} = "phobos.peer"(%{own}, %other) : {types}\n'

    put = "memref.store %mine, %own[%t] : memref<128xi32, S>\n"
    send = expect("%c0", 512, 2) + op(
        "phobos.bulk.send",
        "%there, %c0, %own, %c0, %c512, %bar, %c0, %other",
        "memref<128xi32, 7 : i64>, index, memref<128xi32, S>, index, index, G<2>, index, index",
        (1, 1, 1, 1, 1, 1, 1, 1, 0),
    )
    done = op("phobos.mbarrier.arrive.peer", "%bar, %c1, %other", "G<2>, index, index")
    body = (
        PARITY + TICKS + FIRST
        + '%rank = "nvvm.read.ptx.sreg.cluster.ctarank"() : () -> i32\n'
        + "%r = arith.index_cast %rank : i32 to index\n%other = arith.subi %c1, %r : index\n"
        + shared_view("own", "%c0", [128], "i32", 1024) + shared_view("got", "%c512", [128], "i32", 1024)
        + peer("there", "got") + peer("away", "own")
        + "%p0 = arith.muli %b, %c128 : index\n%p = arith.addi %p0, %t : index\n"
        + "%mine = memref.load %src[%p] : memref<?xi32>\n"
        + init([1, 128], cluster=True) + put + FENCE + CLUSTER_SYNC
        + when("%first", send + "\n")
        + "%q = arith.subi %c127, %t : index\n"
        + "%direct = memref.load %away[%q] : memref<128xi32, 7 : i64>\n"
        + wait("%c0", "%even", 2) + "%sent = memref.load %got[%t] : memref<128xi32, S>\n"
        + done + "\n" + wait("%c1", "%even", 2)
        + "%sum = arith.addi %direct, %sent : i32\nmemref.store %sum, %out[%p] : memref<?xi32>\n"
    )  # fmt: skip
    src = np.random.default_rng(4).integers(0, 1000, 512).astype(np.int32)
    return kernel(
        body,
        [("src", "i32", (512,), False), ("out", "i32", (512,), True)],
        shared=1024,
        cluster=2,
        grid=4,
        arguments={"src": src, "out": np.full(512, -1, np.int32)},
    )


def named_barriers() -> Kernel:
    """Two producer warps and two consumer warps hand over one buffer by two named barriers."""
    n, k = "%count = arith.constant 128 : i32\n", "%full = arith.constant 1 : i32\n"
    k += "%free = arith.constant 2 : i32\n"

    def sync(which: str) -> str:
        return op("nvvm.barrier", f"{which}, %count", "i32, i32", (1, 1, 0)) + "\n"

    def come(which: str) -> str:
        return f'"nvvm.barrier.arrive"({which}, %count) : (i32, i32) -> ()\n'

    body = (
        n + k + "%zero = arith.constant 0 : i32\n" + shared_view("s", "%c0", [64], "i32", 256)
        + "%producer = arith.cmpi ult, %t, %c64 : index\n"
        + "%at = arith.muli %b, %c512 : index\n"
        + "scf.if %producer {\n  scf.for %i = %c0 to %c8 step %c1 {\n"
        + "  %o0 = arith.muli %i, %c64 : index\n  %o1 = arith.addi %o0, %t : index\n"
        + "  %o = arith.addi %o1, %at : index\n  %x = memref.load %src[%o] : memref<?xi32>\n"
        + sync("%free") + "  memref.store %x, %s[%t] : memref<64xi32, S>\n" + come("%full")
        + "  }\n} else {\n  %me = arith.subi %t, %c64 : index\n  %q = arith.subi %c63, %me : index\n"
        + come("%free")
        + "  %sum = scf.for %i = %c0 to %c8 step %c1 iter_args(%acc = %zero) -> (i32) {\n"
        + sync("%full") + "  %x = memref.load %s[%q] : memref<64xi32, S>\n"
        + "  %n = arith.addi %acc, %x : i32\n  %last = arith.cmpi eq, %i, %c7 : index\n"
        + "  %again = arith.cmpi ne, %i, %c7 : index\n" + when("%again", come("%free"))
        + "  scf.yield %n : i32\n  }\n"
        + "  %p0 = arith.muli %b, %c64 : index\n  %p = arith.addi %p0, %me : index\n"
        + "  memref.store %sum, %out[%p] : memref<?xi32>\n}\n"
    )  # fmt: skip
    src = np.random.default_rng(5).integers(0, 1000, 3 * 512).astype(np.int32)
    return kernel(
        body,
        [("src", "i32", (3 * 512,), False), ("out", "i32", (192,), True)],
        shared=256,
        grid=3,
        arguments={"src": src, "out": np.full(192, -1, np.int32)},
    )


def polled() -> Kernel:
    """A thread asks again and again whether a phase is over, then everybody reads what it waited for."""
    load = expect("%c0", 512, 2) + op(
        "phobos.bulk.load",
        "%s, %c0, %src, %c0, %c512, %bar, %c0",
        "memref<128xi32, S>, index, memref<?xi32>, index, index, G<2>, index",
        (1, 1, 1, 1, 1, 1, 1, 0, 0),
    )
    ask = """
  %token = "nvgpu.mbarrier.arrive"(%bar, %c1) : (G<2>, index) -> !nvgpu.mbarrier.token
  %tries = "scf.while"(%c0) ({
  ^bb0(%i: index):
    %done = "nvgpu.mbarrier.test.wait"(%bar, %token, %c1)
      : (G<2>, !nvgpu.mbarrier.token, index) -> i1
    %more = arith.xori %done, %odd : i1
    "scf.condition"(%more, %i) : (i1, index) -> ()
  }, {
  ^bb0(%j: index):
    %k = arith.addi %j, %c1 : index
    "scf.yield"(%k) : (index) -> ()
  }) : (index) -> index
"""
    body = (
        PARITY + TICKS + FIRST + shared_view("s", "%c0", [128], "i32", 512)
        + init([1, 128]) + when("%first", load + "\n") + wait("%c0", "%even", 2) + ask
        + "%q = arith.subi %c127, %t : index\n%x = memref.load %s[%q] : memref<128xi32, S>\n"
        + "memref.store %x, %out[%t] : memref<?xi32>\n"
    )  # fmt: skip
    src = np.random.default_rng(6).integers(0, 1000, 128).astype(np.int32)
    return kernel(
        body,
        [("src", "i32", (128,), False), ("out", "i32", (128,), True)],
        shared=512,
        arguments={"src": src, "out": np.full(128, -1, np.int32)},
    )


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
        f"""
    %stage = arith.remui %i, %c{stages} : index
    %back = arith.addi %stage, %c{stages} : index
    %round = arith.divui %i, %c{stages} : index
    %r2 = arith.remui %round, %c2 : index
    %odd_round = arith.cmpi ne, %r2, %c0 : index
    %even_round = arith.cmpi eq, %r2, %c0 : index
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
        PARITY + TICKS + FIRST + places + init([1] * number)
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


BOXES = {
    "2d f32 none": ("f32", (40, 36), (16, 32), (0, 0), 0),
    "2d f32 ragged": ("f32", (40, 36), (16, 32), (32, 16), 0),
    "2d f16 128B": ("f16", (100, 72), (64, 64), (0, 0), 128),
    "2d f16 128B ragged": ("f16", (100, 72), (64, 64), (64, 32), 128),
    "2d f16 128B before": ("f16", (100, 72), (64, 64), (-3, -8), 128),
    "2d f16 64B": ("f16", (100, 72), (64, 32), (50, 56), 64),
    "2d f16 32B": ("f16", (100, 72), (64, 16), (50, 64), 32),
    "2d f32 32B": ("f32", (20, 8), (24, 8), (0, 0), 32),
    "2d i8 128B": ("i8", (64, 160), (32, 128), (40, 48), 128),
    "1d i32": ("i32", (1000,), (256,), (900,), 0),
    "3d f16": ("f16", (5, 20, 40), (2, 8, 32), (4, 14, 24), 0),
    "4d f32": ("f32", (3, 4, 5, 8), (2, 2, 3, 8), (2, 3, 3, 4), 32),
    "5d f32": ("f32", (2, 3, 2, 5, 8), (2, 2, 2, 3, 4), (1, 2, 0, 4, 6), 0),
}
"""dtype, tensor, box, corner (outermost first), swizzle."""

PROBED = {
    "2d f16 128B narrow at 0": ("f16", (100, 72), (16, 32), (0, 0), 128),
    "2d f16 128B narrow": ("f16", (100, 72), (16, 32), (5, 8), 128),
    "2d f16 128B narrow odd": ("f16", (100, 72), (16, 32), (5, 7), 128),
    "2d f16 64B narrow": ("f16", (100, 72), (16, 16), (0, 0), 64),
    "2d f16 128B odd": ("f16", (100, 72), (64, 64), (3, 7), 128),
    "2d f32 odd": ("f32", (40, 36), (16, 32), (1, 3), 0),
    "2d i8 odd": ("i8", (64, 160), (32, 128), (3, 5), 0),
}
"""Boxes at places that no rule forbids, of which it was not known what a GPU makes of them."""


KERNELS = {
    **{f"load {name}": lambda c=case: box_load(*c) for name, case in BOXES.items()},
    **{f"store {name}": lambda c=case: box_store(*c) for name, case in BOXES.items()},
    "plain copies": plain_copies,
    "ring": ring,
    "ring of warpgroups": lambda: ring(registers=True),
    "multicast": multicast,
    "exchange": exchange,
    "named barriers": named_barriers,
    "polled": polled,
    "product": product,
}
"""What is run in both places."""


PROBES = {f"load {name}": lambda c=case: box_load(*c) for name, case in PROBED.items()}


# Kernels with a fault ----------------------------------------------------------------------------


def deleted(made: Kernel, name: str, *which: int, entry: str = "kern") -> Kernel:
    """The kernel without some operations of a name, by their order; all of them if none are given.

    What passes through them goes on unchanged.
    """
    found = [o for o in made.module.walk() if o.name == name]
    for k in which or range(len(found)):
        if any(True for r in found[k].results for _ in r.uses):
            for result, operand in zip(found[k].results, found[k].operands, strict=True):
                result.replace_all_uses_with(operand)
        found[k].detach()
        found[k].erase()
    function = next(o for o in made.module.walk() if o.name == "gpu.func")
    function.attributes["sym_name"] = StringAttr(entry)
    return replace(made, contract=replace(made.contract, entry=entry))


WAIT = "nvgpu.mbarrier.try_wait.parity"
_PLANTED = {
    "box load, no wait": ("load 2d f16 128B", WAIT, 0),
    "box store, no barrier": ("store 2d f16 128B", "gpu.barrier", 0),
    "box store, no fence": ("store 2d f16 128B", "nvvm.fence.proxy", 0),
    "plain copies, no wait": ("plain copies", WAIT, 0),
    "plain copies, no barrier": ("plain copies", "gpu.barrier", 1),
    "plain copies, no fence": ("plain copies", "nvvm.fence.proxy", 0),
    "multicast, no wait": ("multicast", WAIT, 0),
    "exchange, no wait": ("exchange", WAIT, 0),
    "exchange, no cluster barrier": ("exchange", "nvvm.cluster.wait", 1),
    "polled, no wait": ("polled", WAIT, 0),
}


def _plant(name: str) -> Kernel:
    base, op_name, which = _PLANTED[name]
    entry = re.sub(r"\W+", "_", name)
    if name == "exchange, no cluster barrier":
        made = deleted(KERNELS[base](), "nvvm.cluster.arrive", which)
        return deleted(made, op_name, which, entry=entry)
    return deleted(KERNELS[base](), op_name, which, entry=entry)


def _unmet() -> Kernel:
    made = deleted(named_barriers(), "nvvm.barrier")
    return deleted(made, "nvvm.barrier.arrive", entry="named_barriers_none")


PLANTED = {
    **{name: lambda n=name: _plant(n) for name in _PLANTED},
    "named barriers, none": _unmet,
}
"""Races that let the kernel end."""
