"""Thread modules of bulk copies as text: a kernel around a body, and the pieces of bodies."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from xdsl.dialects.builtin import ModuleOp, StringAttr

from phobos_nb.arguments.make import numpy_dtype
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
DTYPES = ("u8", "i8", "i32", "i64", "f16", "bf16", "f32", "f64")
MLIR = {d: "i8" if d == "u8" else d for d in DTYPES}
NUMPY = {d: numpy_dtype(d) for d in DTYPES}
SIZES = {d: NUMPY[d].itemsize for d in DTYPES}
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


def renamed(made: Kernel, entry: str) -> Kernel:
    """The kernel with a name of its own."""
    function = next(o for o in made.module.walk() if o.name == "gpu.func")
    function.attributes["sym_name"] = StringAttr(entry)
    return replace(made, contract=replace(made.contract, entry=entry))


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
START = PARITY + TICKS + FIRST
"""What waiting for phases takes, and who is thread 0."""
RANK = (
    '%rank32 = "nvvm.read.ptx.sreg.cluster.ctarank"() : () -> i32\n'
    "%rank = arith.index_cast %rank32 : i32 to index\n"
)
"""The CTA's number in its cluster."""


def when(condition: str, body: str) -> str:
    """A branch."""
    return f"scf.if {condition} {{\n{body}}}\n"


def init(counts: Sequence[int], *, cluster: bool = False, name: str = "bar") -> str:
    """Barriers made by thread 0, fenced and seen by all."""
    made, inits = barriers(counts, name).split("\n", 1)
    return made + "\n" + when("%first", inits + FENCE_INIT) + (CLUSTER_SYNC if cluster else BARRIER)


def expect(index: str, bytes_: int, number: int, name: str = "bar") -> str:
    """Arrive and expect bytes."""
    return expect_value(f"%c{bytes_}", index, number, name)


def expect_value(bytes_: str, index: str, number: int, name: str = "bar") -> str:
    """Arrive and expect as many bytes as a value says."""
    return (
        f'"nvgpu.mbarrier.arrive.expect_tx"(%{name}, {bytes_}, {index}) : '
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
    map_: str = "%map",
) -> str:
    """A box to shared memory; coordinates innermost first."""
    types = [f"memref<{'x'.join(map(str, box))}x{MLIR[dtype]}, S>", f"G<{number}>"]
    types += [map_type(box, dtype, swizzle), *["index"] * len(coordinates), "index"]
    operands = [dst, "%bar", map_, *coordinates, index]
    if mask:
        operands.append(mask)
        types.append("i16")
    segments = (1, 1, 1, len(coordinates), 1, int(bool(mask)), 0)
    return op("nvgpu.tma.async.load", ", ".join(operands), ", ".join(types), segments) + "\n"


def tensor_store(
    src: str,
    box: Sequence[int],
    dtype: str,
    swizzle: int,
    coordinates: Sequence[str],
    map_: str = "%map",
) -> str:
    """A box from shared memory."""
    types = [f"memref<{'x'.join(map(str, box))}x{MLIR[dtype]}, S>", map_type(box, dtype, swizzle)]
    types += ["index"] * len(coordinates)
    segments = (1, 1, len(coordinates), 0)
    operands = ", ".join([src, map_, *coordinates])
    return op("nvgpu.tma.async.store", operands, ", ".join(types), segments) + "\n"


def bulk_load(
    tile: str,
    elements: int,
    source: str,
    at: str,
    bytes_: str,
    index: str,
    number: int,
    mask: str = "",
    dtype: str = "i32",
) -> str:
    """Bytes of a tensor, from an element on, to the beginning of an array in shared memory."""
    tensor = f"memref<?x{MLIR[dtype]}>"
    types = f"{_array(elements, dtype)}, index, {tensor}, index, index, G<{number}>, index"
    places = f"{tile}, %c0, {source}, {at}, {bytes_}, %bar, {index}"
    segments = (1, 1, 1, 1, 1, 1, 1, int(bool(mask)), 0)
    masked = (f"{places}, {mask}", f"{types}, i16") if mask else (places, types)
    return op("phobos.bulk.load", *masked, segments) + "\n"


def bulk_store(target: str, at: str, tile: str, elements: int, bytes_: str, dtype: str = "i32") -> str:
    """Bytes of an array in shared memory, from its beginning, to a tensor, from an element on."""
    types = f"memref<?x{MLIR[dtype]}>, index, {_array(elements, dtype)}, index, index"
    places = f"{target}, {at}, {tile}, %c0, {bytes_}"
    return op("phobos.bulk.store", places, types, (1, 1, 1, 1, 1, 0)) + "\n"


def bulk_send(there: str, own: str, at: str, words: int, bytes_: int, number: int, rank: str) -> str:
    """Bytes of an array in shared memory to the same place of another CTA's, for its barrier 0."""
    types = f"{_away(words)}, index, {_array(words)}, index, index, G<{number}>, index, index"
    places = f"{there}, {at}, {own}, {at}, %c{bytes_}, %bar, %c0, {rank}"
    return op("phobos.bulk.send", places, types, (1, 1, 1, 1, 1, 1, 1, 1, 0)) + "\n"


def peer(name: str, own: str, words: int, rank: str) -> str:
    """The array of another CTA of the cluster that lies as one of this CTA does."""
    types = f"({_array(words)}, index) -> {_away(words)}"
    return f'%{name} = "phobos.peer"(%{own}, {rank}) : {types}\n'


def _array(elements: int, dtype: str = "i32") -> str:
    return f"memref<{elements}x{MLIR[dtype]}, S>"


def _away(words: int) -> str:
    return f"memref<{words}xi32, 7 : i64>"


def poll(barrier: int, token: str) -> str:
    """Ask one of two memory barriers again and again whether the phase of a token is over."""
    return f"""%tries{barrier} = "scf.while"(%c0) ({{
  ^bb0(%k: index):
    %done = "nvgpu.mbarrier.test.wait"(%bar, {token}, %c{barrier})
      : (G<2>, !nvgpu.mbarrier.token, index) -> i1
    %more = arith.xori %done, %odd : i1
    "scf.condition"(%more, %k) : (i1, index) -> ()
  }}, {{
  ^bb0(%j: index):
    %l = arith.addi %j, %c1 : index
    "scf.yield"(%l) : (index) -> ()
  }}) : (index) -> index
"""


def filled(shared: int, threads: int) -> str:
    """Shared words 0, 1, 2 .. written by all threads."""
    words = shared // 4
    return f"""
  %whole = memref.view %smem[%c0][] : memref<{shared}xi8, S> to memref<{words}xi32, S>
  scf.for %w = %t to %c{words} step %c{threads} {{
    %x = arith.index_cast %w : index to i32
    memref.store %x, %whole[%w] : memref<{words}xi32, S>
  }}
"""


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
