"""A GEMM on wgmma by hand, as the lowering would write it: 128 x 128 tiles of one CTA, two stages.

Two warpgroups make 64 rows each. A tile of A [128, 64] lies K-major, one of B [64, 128] MN-major in two
chunks of 64 columns, both with the 128-byte swizzle; asynchronous copies fill a stage while the products
of the other one are under way.
"""

from __future__ import annotations

from xdsl.dialects.builtin import VectorType, f16, f32
from xdsl.dialects.vector import ExtractOp
from xdsl.ir import SSAValue

from phobos_nb.ir.dialects import nvgpu, nvvm_wgmma
from phobos_nb.ir.dialects.vector_memory import StoreOp
from phobos_nb.ir.dialects.wgmma import WgmmaDescriptorOp, WgmmaFenceOp, WgmmaOp, WgmmaWaitOp
from tests.tensor_core_kernels import Body, Kernel, kernel

M, N, TILE_K, THREADS = 128, 128, 64, 256
STAGE = (M + N) * TILE_K * 2
"""Bytes of a stage: a tile of A, then one of B."""
PIECES = M * TILE_K // 8 // THREADS
"""Pieces of 16 bytes that a thread copies of each tile."""


def gemm(depth: int) -> Kernel:
    """C = A @ B for A [128, depth], B [depth, 128] in f16, C in f32; depth is a multiple of 64."""
    tensors = [("a", "f16", False), ("b", "f16", False), ("c", "f32", True)]
    return kernel(lambda t: _body(t, depth), tensors, threads=THREADS, shared=2 * STAGE)


def _body(t: Body, depth: int) -> None:
    b, tiles = t.b, depth // TILE_K
    shared = t.view("f16", [STAGE])
    start = b.constant(0.0, VectorType(f32, [N // 8, 2, 2]))
    _copy(t, shared, b.index(0), depth)
    loop = b.for_(b.index(0), b.index(tiles), b.index(1), [start])
    with b.inside(loop.body.block):
        tile, acc = loop.body.block.args
        token = b.insert(nvgpu.DeviceAsyncCreateGroupOp()).token
        b.insert(nvgpu.DeviceAsyncWaitOp(token, 0))
        t.fence_proxy()
        t.barrier()
        acc = _multiply(t, shared, _stage(t, tile), acc)
        (acc,) = b.insert(WgmmaWaitOp([acc], 1)).passed
        t.barrier()
        following = b.addi(tile, b.index(1))
        more = b.if_(b.cmpi("ult", following, b.index(tiles)))
        with b.inside(more.true_region.block):
            _copy(t, shared, following, depth)
            b.yield_()
        b.yield_([acc])
    (done,) = b.insert(WgmmaWaitOp([loop.results[0]], 0)).passed
    _store(t, done)


def _stage(t: Body, tile: SSAValue) -> SSAValue:
    """The first element of a tile's stage in shared memory."""
    return t.b.muli(t.b.remui(tile, t.b.index(2)), t.b.index(STAGE // 2))


def _copy(t: Body, shared: SSAValue, tile: SSAValue, depth: int) -> None:
    """Start the copies of a k-tile of A and of B into its stage."""
    b, stage, first = t.b, _stage(t, tile), t.b.muli(tile, t.b.index(TILE_K))
    for i in range(PIECES):
        piece = b.addi(t.thread, b.index(i * THREADS))
        row, part = b.divui(piece, b.index(8)), b.remui(piece, b.index(8))
        source = b.addi(t.at(row, depth, b.muli(part, b.index(8))), first)
        _copy_piece(t, shared, b.addi(stage, _swizzled(t, row, part)), "a", source)
        row, part = b.divui(piece, b.index(16)), b.remui(piece, b.index(16))
        chunk, part_in = b.divui(part, b.index(8)), b.remui(part, b.index(8))
        source = t.at(b.addi(first, row), N, b.muli(part, b.index(8)))
        place = b.addi(_swizzled(t, row, part_in), t.at(chunk, TILE_K * 64, M * TILE_K))
        _copy_piece(t, shared, b.addi(stage, place), "b", source)


def _swizzled(t: Body, row: SSAValue, piece: SSAValue) -> SSAValue:
    """The element at which a piece of a 128-byte row begins."""
    b = t.b
    turned = b.xori(piece, b.remui(row, b.index(8)))
    return t.at(row, 64, b.muli(turned, b.index(8)))


def _copy_piece(t: Body, shared: SSAValue, place: SSAValue, name: str, source: SSAValue) -> None:
    op = nvgpu.DeviceAsyncCopyOp(shared, [place], t.tensors[name], [source], 8, bypass_l1=True)
    t.b.insert(op)


def _multiply(t: Body, shared: SSAValue, stage: SSAValue, acc: SSAValue) -> SSAValue:
    """Start the four products of a stage as one group."""
    b = t.b
    rows = t.at(b.divui(t.thread, b.index(128)), 64 * TILE_K)
    (acc,) = b.insert(WgmmaFenceOp([acc])).passed
    for k in range(0, TILE_K, 16):
        left = _descriptor(t, shared, b.addi(b.addi(stage, rows), b.index(k)), 16)
        right = b.addi(stage, b.index(M * TILE_K + k * 64))
        right = _descriptor(t, shared, right, TILE_K * 128)
        acc = b.value(WgmmaOp(acc, left, right, (64, N, 16), f16, mn_major=(False, True)))
    b.insert(nvvm_wgmma.WgmmaCommitOp())
    return acc


def _descriptor(t: Body, shared: SSAValue, place: SSAValue, leading: int) -> SSAValue:
    op = WgmmaDescriptorOp(shared, [place], leading=leading, stride=1024, swizzle=128)
    return t.b.value(op)


def _store(t: Body, acc: SSAValue) -> None:
    """Write the accumulators, two neighbouring columns at a time."""
    b = t.b
    lane, warp = b.remui(t.thread, b.index(32)), b.divui(t.thread, b.index(32))
    row = b.addi(t.at(warp, 16), b.divui(lane, b.index(4)))
    column = t.at(b.remui(lane, b.index(4)), 2)
    for eight in range(N // 8):
        for half in range(2):
            pair = b.value(ExtractOp(acc, [eight, half], VectorType(f32, [2])))
            place = b.addi(t.at(row, N, column), b.index(8 * half * N + 8 * eight))
            b.insert(StoreOp(pair, t.tensors["c"], [place], 8))
