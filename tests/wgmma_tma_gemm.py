"""A warp-specialised GEMM by hand: bulk copies of tensor boxes feed wgmma through a ring of stages.

Warpgroup 0 is the producer: its first thread loads a box of A [128, 64] and two of B [64, 64] into each
stage. Warpgroups 1 and 2 make 64 rows of C each. One thread of each gives a stage back when a wait has
covered the products that read it.
"""

from __future__ import annotations

import numpy as np

from phobos_nb.contract import TensorMap
from tests.async_text import (
    START,
    Kernel,
    arrive,
    expect,
    init,
    kernel,
    registers_per_thread,
    shared_view,
    tensor_load,
    wait,
    when,
)

M, N, TILE_K, THREADS, STAGES = 128, 128, 64, 384, 3
STAGE = (M + N) * TILE_K * 2
SUMS = "vector<16x2x2xf32>"
FLAGS = "mn_major_a = false, mn_major_b = true, negate_a = false, negate_b = false"
NUMBER = 2 * STAGES


def gemm(depth: int, seed: int = 0) -> Kernel:
    """C = A @ B for random A [128, depth], B [depth, 128] in f16, C in f32."""
    body = (
        START
        + f"%none = arith.constant dense<0.0> : {SUMS}\n"
        + init([1] * STAGES + [2] * STAGES)
        + "%producer = arith.cmpi ult, %t, %c128 : index\n"
        + "scf.if %producer {\n" + registers_per_thread("decrease", 40)
        + when("%first", _loop(depth, _produce())) + "} else {\n"
        + registers_per_thread("increase", 232) + _consumer(depth) + "}\n"
    )  # fmt: skip
    rng = np.random.default_rng(seed)
    a, b = (rng.standard_normal(s).astype(np.float16) for s in ((M, depth), (depth, N)))
    return kernel(
        body,
        [("A", "f16", (M, depth), False), ("B", "f16", (depth, N), False), ("C", "f32", (M, N), True)],
        threads=THREADS,
        shared=STAGES * STAGE,
        dynamic=True,
        maps=[
            TensorMap("mapa", "A", (M, TILE_K), 128),
            TensorMap("mapb", "B", (TILE_K, 64), 128),
        ],
        arguments={"A": a, "B": b, "C": np.zeros((M, N), np.float32)},
    )


def _loop(depth: int, body: str) -> str:
    return f"scf.for %i = %c0 to %c{depth // TILE_K} step %c1 {{\n{body}}}\n"


def _stage() -> str:
    """The tile's stage, its round's parity, and where it begins."""
    return f"""
    %stage = arith.remui %i, %c{STAGES} : index
    %empty = arith.addi %stage, %c{STAGES} : index
    %round = arith.divui %i, %c{STAGES} : index
    %r2 = arith.remui %round, %c2 : index
    %odd_round = arith.cmpi ne, %r2, %c0 : index
    %even_round = arith.cmpi eq, %r2, %c0 : index
    %shift = arith.muli %stage, %c{STAGE} : index
"""


def _produce() -> str:
    chunk = TILE_K * 64 * 2
    text = _stage() + wait("%empty", "%even_round", NUMBER) + expect("%stage", STAGE, NUMBER)
    text += f"%k = arith.muli %i, %c{TILE_K} : index\n"
    text += shared_view("boxa", "%shift", [M, TILE_K], "f16", "?")
    text += _load("%boxa", [M, TILE_K], "mapa", ["%k", "%c0"])
    for part in range(N // 64):
        text += f"%at{part} = arith.addi %shift, %c{M * TILE_K * 2 + part * chunk} : index\n"
        text += shared_view(f"boxb{part}", f"%at{part}", [TILE_K, 64], "f16", "?")
        text += _load(f"%boxb{part}", [TILE_K, 64], "mapb", [f"%c{64 * part}", "%k"])
    return text


def _load(box: str, shape: list[int], tensor_map: str, coordinates: list[str]) -> str:
    text = tensor_load(box, shape, "f16", 128, coordinates, "%stage", NUMBER)
    return text.replace("%map,", f"%{tensor_map},")


def _consumer(depth: int) -> str:
    place = "%rows = arith.subi %t, %c128 : index\n%group = arith.divui %rows, %c128 : index\n"
    place += "%lead = arith.remui %t, %c128 : index\n%elect = arith.cmpi eq, %lead, %c0 : index\n"
    place += f"%left0 = arith.muli %group, %c{64 * TILE_K} : index\n"
    loop = _loop(depth, _consume()).replace(
        "step %c1 {", f"step %c1 iter_args(%acc = %none) -> ({SUMS}) {{"
    )
    end = f'%done = "phobos.wgmma.wait"(%all) <{{groups = 0 : i64}}> : ({SUMS}) -> {SUMS}\n'
    return place + "%all = " + loop + end + _store()


def _consume() -> str:
    text = _stage() + shared_view("tile", "%shift", [STAGE // 2], "f16", "?")
    text += wait("%stage", "%odd_round", NUMBER)
    text += f'%d0 = "phobos.wgmma.fence"(%acc) : ({SUMS}) -> {SUMS}\n'
    for step in range(TILE_K // 16):
        text += f"%pa{step} = arith.addi %left0, %c{16 * step} : index\n"
        text += _descriptor(f"a{step}", f"%pa{step}", 16)
        text += _descriptor(f"b{step}", f"%c{M * TILE_K + 16 * step * 64}", TILE_K * 128)
        text += (
            f'%d{step + 1} = "phobos.wgmma"(%d{step}, %a{step}, %b{step}) '
            f"<{{shape = [64 : i64, {N} : i64, 16 : i64], operand = f16, {FLAGS}}}> : "
            f"({SUMS}, i64, i64) -> {SUMS}\n"
        )
    text += '"nvvm.wgmma.commit.group.sync.aligned"() : () -> ()\n'
    text += f'%w = "phobos.wgmma.wait"(%d4) <{{groups = 1 : i64}}> : ({SUMS}) -> {SUMS}\n'
    text += f"""
    %later = arith.cmpi ne, %i, %c0 : index
    %gives = arith.andi %later, %elect : i1
    %s0 = arith.addi %stage, %c{STAGES - 1} : index
    %s1 = arith.remui %s0, %c{STAGES} : index
    %s2 = arith.addi %s1, %c{STAGES} : index
"""
    return text + when("%gives", arrive("%s2", NUMBER, "token")) + f"scf.yield %w : {SUMS}\n"


def _descriptor(name: str, place: str, leading: int) -> str:
    fields = f"<{{leading = {leading} : i64, stride = 1024 : i64, swizzle = 128 : i64}}>"
    types = f"(memref<{STAGE // 2}xf16, S>, index) -> i64"
    return f'%{name} = "phobos.wgmma.descriptor"(%tile, {place}) {fields} : {types}\n'


def _store() -> str:
    """Write the accumulators, two neighbouring columns at a time."""
    text = """
    %lane = arith.remui %t, %c32 : index
    %warp = arith.divui %rows, %c32 : index
    %quad = arith.divui %lane, %c4 : index
    %r16 = arith.muli %warp, %c16 : index
    %row = arith.addi %r16, %quad : index
    %in = arith.remui %lane, %c4 : index
    %col = arith.muli %in, %c2 : index
    %line = arith.muli %row, %c128 : index
    %home = arith.addi %line, %col : index
"""
    for eight in range(N // 8):
        for half in range(2):
            n = 2 * eight + half
            text += (
                f"%x{n} = vector.extract %done[{eight}, {half}] : vector<2xf32> from {SUMS}\n"
                f"%q{n} = arith.addi %home, %c{8 * half * N + 8 * eight} : index\n"
                f"vector.store %x{n}, %C[%q{n}] {{alignment = 8 : i64}} : memref<?xf32>, vector<2xf32>\n"
            )
    return text
