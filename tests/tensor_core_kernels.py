"""Thread modules around one tensor-core operation each, with the contracts to simulate and launch them.

Registers lie in memory by lane: tensor `a` of an `mma.sync` kernel is [tile, lane, elements of a lane].
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects import gpu as xdsl_gpu
from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    IndexType,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    StringAttr,
    UnitAttr,
    VectorType,
    bf16,
    f16,
    f32,
    f64,
    i8,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from phobos_nb.contract import (
    GridRule,
    LaunchContract,
    TensorParameter,
    Variant,
    entry_arguments,
)
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import gpu, nvgpu, nvvm_wgmma, vector
from phobos_nb.ir.dialects.address_space import WORKGROUP
from phobos_nb.ir.dialects.matrix_moves import MovMatrixOp, StMatrixOp
from phobos_nb.ir.dialects.nvvm_sync import FenceProxyOp, ProxyKind, SharedSpace
from phobos_nb.ir.dialects.subgroup_mma import (
    SI8,
    MatrixType,
    SubgroupMmaComputeOp,
    SubgroupMmaLoadOp,
    SubgroupMmaStoreOp,
)
from phobos_nb.ir.dialects.vector_memory import LoadOp, StoreOp
from phobos_nb.ir.dialects.wgmma import WgmmaDescriptorOp, WgmmaFenceOp, WgmmaOp, WgmmaWaitOp
from phobos_nb.lower.shared_memory import declaration, is_dynamic, shared_memory
from phobos_nb.simulate.launch import simulate

TYPES: dict[str, Attribute] = {
    "f16": f16,
    "bf16": bf16,
    "f32": f32,
    "f64": f64,
    "i8": i8,
    "i32": i32,
    "i64": i64,
}
BYTES = {"f16": 2, "bf16": 2, "f32": 4, "f64": 8, "i8": 1, "i32": 4, "i64": 8}
INDEX = IndexType()
Tensors = Sequence[tuple[str, str, bool]]
"""Name, dtype and whether it is written."""


@dataclass(frozen=True)
class Kernel:
    """A module with its contract."""

    module: ModuleOp
    contract: LaunchContract

    def run(self, grid=1, **arguments):
        """Simulate it; options of `simulate` are told from tensors by their names."""
        names = {t.name for t in self.contract.tensors}
        tensors = {k: v.reshape(-1) for k, v in arguments.items() if k in names}
        options = {k: v for k, v in arguments.items() if k not in names}
        return simulate(self.module, self.contract, tensors, grid=(grid, 1, 1), **options)


class Body:
    """What a kernel's body is built with: the builder, thread and block id, tensors, shared bytes."""

    def __init__(self, builder: Builder, names: Sequence[str], args: Sequence[SSAValue]) -> None:
        self.b = builder
        self.tensors = dict(zip(names, args, strict=False))
        self.thread = builder.value(gpu.ThreadIdOp(xdsl_gpu.DimensionAttr(xdsl_gpu.DimensionEnum.X)))
        self.block = builder.value(gpu.BlockIdOp(xdsl_gpu.DimensionAttr(xdsl_gpu.DimensionEnum.X)))
        self.shared: SSAValue | None = None

    def at(self, value: SSAValue, times: int, plus: SSAValue | int = 0) -> SSAValue:
        """An index `value * times + plus`."""
        b = self.b
        rest = b.index(plus) if isinstance(plus, int) else plus
        return b.addi(b.muli(value, b.index(times)), rest)

    def lane_vector(self, name: str, dtype: str, shape: tuple[int, ...], threads: int) -> SSAValue:
        """The thread's elements of a tensor [block, thread, elements], as a vector of a shape."""
        count = int(np.prod(shape))
        start = self.b.muli(self.at(self.block, threads, self.thread), self.b.index(count))
        flat = VectorType(TYPES[dtype], [count])
        align = aligned(count * BYTES[dtype])
        loaded = self.b.value(LoadOp(self.tensors[name], [start], flat, align))
        return self.b.value(vector.ShapeCastOp(loaded, shape))

    def store_lane_vector(self, name: str, dtype: str, value: SSAValue, threads: int) -> None:
        """The inverse of `lane_vector`."""
        count = value.type.element_count()
        start = self.b.muli(self.at(self.block, threads, self.thread), self.b.index(count))
        flat = self.b.value(vector.ShapeCastOp(value, [count]))
        align = aligned(count * BYTES[dtype])
        self.b.insert(StoreOp(flat, self.tensors[name], [start], align))

    def view(self, dtype: str, shape: Sequence[int], shift: int = 0) -> SSAValue:
        """Shared bytes from a shift on as an array."""
        assert self.shared is not None
        type_ = MemRefType(TYPES[dtype], shape, memory_space=WORKGROUP)
        return self.b.value(memref.ViewOp(self.shared, self.b.index(shift), [], type_))

    def copy_image(self, name: str, size: int, threads: int) -> None:
        """Copy `size` bytes per block of an i32 tensor to the start of shared memory."""
        b, words = self.b, size // 4
        target = self.view("i32", [words])
        loop = b.for_(b.muli(self.thread, b.index(4)), b.index(words), b.index(4 * threads))
        with b.inside(loop.body.block):
            place = loop.body.block.args[0]
            four = VectorType(i32, [4])
            source = self.at(self.block, words, place)
            piece = b.value(LoadOp(self.tensors[name], [source], four, 16))
            b.insert(StoreOp(piece, target, [place], 16))
            b.yield_()

    def copy_tile(self, source: SSAValue, dtype: str, count: int, threads: int) -> None:
        """Copy `count` elements per block, 8 by each thread at a time, to the start of shared memory."""
        b, target, eight = self.b, self.view(dtype, [count]), VectorType(TYPES[dtype], [8])
        loop = b.for_(b.muli(self.thread, b.index(8)), b.index(count), b.index(8 * threads))
        with b.inside(loop.body.block):
            place = loop.body.block.args[0]
            piece = b.value(LoadOp(source, [self.at(self.block, count, place)], eight, 16))
            b.insert(StoreOp(piece, target, [place], 16))
            b.yield_()

    def descriptor_at_start(self, name: str) -> SSAValue:
        """A descriptor from a tensor, relative to the start of shared memory."""
        assert self.shared is not None
        zero = self.b.index(0)
        start = self.b.value(WgmmaDescriptorOp(self.shared, [zero], leading=0, stride=0, swizzle=0))
        return self.b.addi(start, self.b.value(memref.LoadOp.get(self.tensors[name], [zero])))

    def barrier(self) -> None:
        """`gpu.barrier`."""
        self.b.insert(gpu.BarrierOp())

    def fence_proxy(self) -> None:
        """The fence between generic stores to shared memory and what reads them asynchronously."""
        self.b.insert(FenceProxyOp(ProxyKind.ASYNC_SHARED, SharedSpace.CTA))


def aligned(bytes_: int) -> int:
    """The largest power of two up to 16 that divides a number of bytes."""
    return min(16, bytes_ & -bytes_)


def kernel(
    build: Callable[[Body], None], tensors: Tensors, *, threads: int, shared: int = 0, target="sm_90a"
) -> Kernel:
    """A kernel whose body `build` fills."""
    parameters = tuple(TensorParameter(n, t, (f"n{n}",), True, w) for n, t, w in tensors)
    types = [MemRefType(TYPES[t], [DYNAMIC_INDEX]) for _, t, _ in tensors]
    attributes = {
        "phobos.threads": IntegerAttr(threads, i64),
        "phobos.shared_bytes": IntegerAttr(shared, i64),
        "phobos.index_bits": IntegerAttr(64, i64),
    }
    function = gpu.FuncOp("kern", [*types, *[INDEX] * len(tensors)], attributes)
    block = function.body.block
    builder = Builder(block)
    body = Body(builder, [n for n, _, _ in tensors], block.args)
    if shared:
        body.shared = builder.value(shared_memory(shared))
    build(body)
    builder.insert(gpu.ReturnOp())
    inner: list[Operation] = [function]
    if shared and not is_dynamic(shared):
        inner.insert(0, declaration(shared))
    device = gpu.ModuleOp.create(
        properties={"sym_name": StringAttr("k")}, regions=[Region(Block(inner))]
    )
    module = ModuleOp([device], attributes={"gpu.container_module": UnitAttr()})
    return Kernel(module, _contract(parameters, threads, shared, target))


def _contract(parameters, threads: int, shared: int, target: str) -> LaunchContract:
    variant = Variant()
    return LaunchContract(
        kernel="k",
        entry="kern",
        parameters=parameters,
        arguments=entry_arguments(parameters, variant),
        grid=GridRule(),
        threads=threads,
        body_threads=threads,
        shared_bytes=shared,
        dynamic_shared=is_dynamic(shared),
        variant=variant,
        target=target,
    )


# mma.sync ----------------------------------------------------------------------------------------

PER_REGISTER = {"f16": 2, "bf16": 2, "f32": 1, "f64": 1, "i8": 4}


def mma_shapes(mnk, operand: str) -> tuple[tuple[int, int], ...]:
    """The vector shapes of a, b and c of a lane."""
    m, n, k = mnk
    per = PER_REGISTER[operand]
    return (m * k // 32 // per, per), (k * n // 32 // per, per), (m * n // 64, 2)


def mma_kernel(mnk: tuple[int, int, int], operand: str, sums: str, target="sm_90a") -> Kernel:
    """One mma.sync per block of 32 threads: tensors a, b, c by lanes, and out."""
    shapes = mma_shapes(mnk, operand)

    def build(t: Body) -> None:
        a, b, c = (
            t.lane_vector(name, dtype, shape, 32)
            for name, dtype, shape in zip("abc", (operand, operand, sums), shapes, strict=True)
        )
        done = t.b.value(nvgpu.MmaSyncOp(a, b, c, mnk, tf32=operand == "f32"))
        t.store_lane_vector("out", sums, done, 32)

    tensors = [("a", operand, False), ("b", operand, False), ("c", sums, False), ("out", sums, True)]
    return kernel(build, tensors, threads=32, target=target)


# WMMA --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Wmma:
    """One product through WMMA: extents, types, and which operands lie by columns."""

    mnk: tuple[int, int, int]
    operand: str
    sums: str
    transposed: tuple[bool, bool] = (False, False)


def wmma_kernel(case: Wmma, target="sm_90a") -> Kernel:
    """One wmma.mma per block of 32 threads: tensors a [m, k], b [k, n], c and out [m, n] per block.

    A transposed operand lies by columns. With operands of f16, a comes through shared memory.
    """
    m, n, k = case.mnk
    element = SI8 if case.operand == "i8" else TYPES[case.operand]
    shared = 0 if case.operand != "f16" else m * k * 2

    def build(t: Body) -> None:
        def load(name, rows, columns, element, role, transpose=False):
            start = t.at(t.block, rows * columns)
            lead = rows if transpose else columns
            type_ = MatrixType(rows, columns, element, role)
            source = t.tensors[name]
            if name == "a" and shared:
                t.copy_tile(source, "f16", rows * columns, 32)
                source, start = t.view("f16", [rows * columns]), t.b.index(0)
                t.barrier()
            op = SubgroupMmaLoadOp(source, [start], type_, lead, transpose=transpose)
            return t.b.value(op)

        a = load("a", m, k, element, "AOp", case.transposed[0])
        b = load("b", k, n, element, "BOp", case.transposed[1])
        c = load("c", m, n, TYPES[case.sums], "COp")
        done = t.b.value(SubgroupMmaComputeOp(a, b, c, transposed=case.transposed))
        place = [t.at(t.block, m * n)]
        t.b.insert(SubgroupMmaStoreOp(done, t.tensors["out"], place, n))

    tensors = [
        ("a", case.operand, False),
        ("b", case.operand, False),
        ("c", case.sums, False),
        ("out", case.sums, True),
    ]
    return kernel(build, tensors, threads=32, shared=shared, target=target)


# wgmma -------------------------------------------------------------------------------------------

DEPTH = {"f16": 16, "bf16": 16, "f32": 8, "i8": 32}


@dataclass(frozen=True)
class Wgmma:
    """One product: columns, types, directions, signs, whether a lies in registers or c is left out."""

    columns: int
    operand: str
    sums: str
    mn_major: tuple[bool, bool] = (False, False)
    negate: tuple[bool, bool] = (False, False)
    in_registers: bool = False
    fresh: bool = False

    @property
    def mnk(self) -> tuple[int, int, int]:
        """The extents."""
        return 64, self.columns, DEPTH[self.operand]


def wgmma_kernel(case: Wgmma, size: int) -> Kernel:
    """One wgmma per block of 128 threads on an image of shared memory of `size` bytes.

    Tensors: image (i32), da and db (one descriptor each, i64), a (only with `in_registers`), c, out.
    """
    per = PER_REGISTER[case.operand]
    acc_shape = (case.columns // 8, 2, 2)

    def build(t: Body) -> None:
        t.copy_image("image", size, 128)
        t.fence_proxy()
        t.barrier()
        da, db = (t.descriptor_at_start(n) for n in ("da", "db"))
        acc = t.lane_vector("c", case.sums, acc_shape, 128)
        if case.in_registers:
            da = t.lane_vector("a", case.operand, (4, per), 128)
        (acc,) = t.b.insert(WgmmaFenceOp([acc])).passed
        acc = t.b.value(
            WgmmaOp(
                acc,
                da,
                db,
                case.mnk,
                TYPES[case.operand],
                scale_d=t.b.false() if case.fresh else None,
                mn_major=case.mn_major,
                negate=case.negate,
            )
        )
        t.b.insert(nvvm_wgmma.WgmmaCommitOp())
        (acc,) = t.b.insert(WgmmaWaitOp([acc], 0)).passed
        t.store_lane_vector("out", case.sums, acc, 128)

    tensors = [("image", "i32", False), ("da", "i64", False), ("db", "i64", False)]
    if case.in_registers:
        tensors.append(("a", case.operand, False))
    tensors += [("c", case.sums, False), ("out", case.sums, True)]
    return kernel(build, tensors, threads=128, shared=size)


# Moves of tiles ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Move:
    """ldmatrix, stmatrix or movmatrix of some tiles."""

    kind: str
    tiles: int
    transpose: bool = False


ROW = 24
"""Elements between rows of a tile in shared memory: 48 bytes, so that rows do not follow each other."""


def move_kernel(case: Move, target="sm_90a") -> Kernel:
    """One move per block of 32 threads; lane l names row 31 - l of 32 rows in shared memory.

    Tensors: image (i32, the rows), a and out by lanes (f16). After a store the rows come back in `rows`.
    """
    size = 32 * ROW * 2

    def build(t: Body) -> None:
        t.copy_image("image", size, 32)
        t.barrier()
        rows = t.view("f16", [32, ROW])
        row, zero = t.b.subi(t.b.index(31), t.thread), t.b.index(8)
        if case.kind == "ldmatrix":
            op = nvgpu.LdMatrixOp(rows, [row, zero], case.tiles, transpose=case.transpose)
            t.store_lane_vector("out", "f16", t.b.value(op), 32)
            return
        value = t.lane_vector("a", "f16", (case.tiles, 2), 32)
        if case.kind == "movmatrix":
            t.store_lane_vector("out", "f16", t.b.value(MovMatrixOp(value)), 32)
            return
        t.b.insert(StMatrixOp(value, rows, [row, zero], transpose=case.transpose))
        t.barrier()
        flat, eight = t.view("f16", [32 * ROW]), VectorType(f16, [8])
        for piece in range(ROW // 8):
            place = t.at(t.thread, ROW, 8 * piece)
            held = t.b.value(LoadOp(flat, [place], eight, 16))
            t.b.insert(StoreOp(held, t.tensors["rows"], [t.at(t.block, 32 * ROW, place)], 16))

    tensors = [("image", "i32", False), ("a", "f16", False)]
    tensors.append(("rows" if case.kind == "stmatrix" else "out", "f16", True))
    return kernel(build, tensors, threads=32, shared=size, target=target)


MOVES = [
    *(Move(k, n, t) for k in ("ldmatrix", "stmatrix") for n in (1, 2, 4) for t in (False, True)),
    Move("movmatrix", 1),
]
