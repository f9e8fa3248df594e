"""The fast form of an f32 GEMM, built op by op: the module that the emitter has to print well.

128x256x8 tiles, 256 threads as 2x4 warps of 4x8 lanes, 16x8 elements a thread, three stages of
asynchronous copies, k unrolled in the IR, running positions carried as memrefs.
"""

from __future__ import annotations

from xdsl.dialects import memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DictionaryAttr,
    IntegerAttr,
    MemRefType,
    ModuleOp,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    UnitAttr,
    VectorType,
    f32,
    i8,
    i64,
)
from xdsl.dialects.vector import BroadcastOp, ExtractOp
from xdsl.ir import Block, Region, SSAValue

from phobos_nb.ir.builder import INDEX, Builder
from phobos_nb.ir.dialects import gpu, nvgpu, vector, vector_memory
from phobos_nb.ir.dialects.address_space import WORKGROUP

STAGES, TK, PITCH, TN = 3, 8, 132, 256
A_BYTES = STAGES * TK * PITCH * 4
BYTES = A_BYTES + STAGES * TK * TN * 4
TENSOR = MemRefType(f32, [DYNAMIC_INDEX])
RUNNING = MemRefType(f32, [DYNAMIC_INDEX], StridedLayoutAttr([1], None))
SHARED = MemRefType(i8, [BYTES], NoneAttr(), WORKGROUP)
NAMES = ("A", "B", "C", "M", "N", "K", "alpha", "beta")


def vec(*shape: int) -> VectorType:
    return VectorType(f32, shape)


class Gemm:
    """The kernel under construction; `build` gives the module."""

    def __init__(self) -> None:
        self.function = gpu.FuncOp("kern", [TENSOR] * 3 + [INDEX] * 3 + [f32] * 2)
        block = self.function.body.block
        for argument, name in zip(block.args, NAMES, strict=True):
            argument.name_hint = name
        self.A, self.B, self.C, _, self.N, self.K, self.alpha, self.beta = block.args
        self.b = Builder(block)

    def sum(self, *terms: SSAValue) -> SSAValue:
        first, *rest = terms
        for term in rest:
            first = self.b.addi(first, term)
        return first

    def times(self, a: SSAValue, factor: int) -> SSAValue:
        return self.b.muli(a, self.b.index(factor))

    def split(self, a: SSAValue, factor: int) -> tuple[SSAValue, SSAValue]:
        """Quotient and remainder."""
        by = self.b.index(factor)
        return self.b.divui(a, by), self.b.remui(a, by)

    def ids(self) -> None:
        dim = gpu.DimensionAttr
        x, y = (dim(gpu.DimensionEnum(axis)) for axis in ("x", "y"))
        b = self.b
        self.tid = b.named(b.value(gpu.ThreadIdOp(x)), "tid")
        self.m0 = b.named(self.times(b.value(gpu.BlockIdOp(y)), 128), "m0")
        self.n0 = b.named(self.times(b.value(gpu.BlockIdOp(x)), 256), "n0")
        warp, lane = self.split(self.tid, 32)
        (wm, wn), (lm, ln) = self.split(warp, 4), self.split(lane, 8)
        self.fm = b.named(self.sum(self.times(wm, 64), self.times(lm, 4)), "fm")
        self.fn = b.named(self.sum(self.times(wn, 64), self.times(ln, 4)), "fn")
        self.ar, self.ak = self.split(self.tid, 8)
        self.br, quarter = self.split(self.tid, 64)
        self.bq = self.times(quarter, 4)

    def view(self, floats: SSAValue, start: int, shape: tuple[int, ...], name: str) -> SSAValue:
        """The shared buffer from a thread's own base."""
        shift = self.sum(self.times(floats, 4), self.b.index(start))
        kind = MemRefType(f32, shape, NoneAttr(), WORKGROUP)
        return self.b.named(self.b.value(memref.ViewOp(self.smem, shift, [], kind)), name)

    def shared(self) -> None:
        self.smem = self.b.value(memref.GetGlobalOp("smem", SHARED))
        a, b = (STAGES, TK, PITCH), (STAGES, TK, TN)
        self.af = self.view(self.fm, 0, a, "af")
        self.bf = self.view(self.fn, A_BYTES, b, "bf")
        self.a_to = self.view(self.sum(self.times(self.ak, PITCH), self.ar), 0, a, "a_to")
        self.b_to = self.view(self.sum(self.times(self.br, TN), self.bq), A_BYTES, b, "b_to")

    def start(self, tensor: SSAValue, offset: SSAValue, name: str) -> SSAValue:
        cast = memref.ReinterpretCastOp.from_dynamic(
            tensor, [offset], [self.b.index(1 << 30)], [1], RUNNING
        )
        return self.b.named(self.b.value(cast), name)

    def advance(self, position: SSAValue, by: SSAValue | int, name: str) -> SSAValue:
        step = memref.SubviewOp.get(position, [by], [self.b.index(1 << 20)], [1], RUNNING)
        return self.b.named(self.b.value(step), name)

    def positions(self) -> tuple[SSAValue, SSAValue]:
        b = self.b
        self.down = [self.times(self.K, 32 * i) for i in range(4)]
        self.over = [self.times(self.N, 4 * i) for i in range(2)]
        self.stride = self.times(self.N, TK)
        a_at = self.sum(b.muli(self.sum(self.m0, self.ar), self.K), self.ak)
        b_at = self.sum(b.muli(self.br, self.N), self.n0, self.bq)
        return self.start(self.A, a_at, "ag"), self.start(self.B, b_at, "bg")

    def copies(self, go: SSAValue, stage: SSAValue, ag: SSAValue, bg: SSAValue) -> SSAValue:
        b, zero = self.b, self.b.index(0)
        branch = b.if_(go)
        with b.inside(branch.true_region.block):
            for i, away in enumerate(self.down):
                to = [stage, zero, b.index(32 * i)]
                b.insert(nvgpu.DeviceAsyncCopyOp(self.a_to, to, ag, [away], 1))
            for i, away in enumerate(self.over):
                to = [stage, b.index(4 * i), zero]
                b.insert(nvgpu.DeviceAsyncCopyOp(self.b_to, to, bg, [away], 4, bypass_l1=True))
            b.yield_()
        return b.value(nvgpu.DeviceAsyncCreateGroupOp())

    def fragment(
        self, view: SSAValue, stage: SSAValue, k: int, places: list[int], name: str
    ) -> SSAValue:
        b = self.b
        whole = b.constant(0.0, vec(4 * len(places)))
        for i, place in enumerate(places):
            at = [stage, b.index(k), b.index(place)]
            part = b.value(vector_memory.LoadOp(view, at, vec(4), 16))
            whole = b.named(b.value(vector.InsertStridedSliceOp(part, whole, [4 * i])), name)
        return whole

    def fragments(self, stage: SSAValue, k: int) -> tuple[SSAValue, SSAValue]:
        a = self.fragment(self.af, stage, k, [0, 16, 32, 48], "fa")
        return a, self.fragment(self.bf, stage, k, [0, 32], "fb")

    def product(self, a: SSAValue, b: SSAValue, acc: SSAValue) -> SSAValue:
        op = vector.OuterProductOp(a, b, acc)
        op.attributes["phobos.order"] = StringAttr("snake")
        return self.b.value(op)

    def turned(self, stage: SSAValue) -> SSAValue:
        b = self.b
        after = b.addi(stage, b.index(1))
        return b.select(b.cmpi("eq", after, b.index(STAGES)), b.index(0), after)

    def wait(self, group: SSAValue) -> None:
        self.b.insert(nvgpu.DeviceAsyncWaitOp(group, STAGES - 2))
        self.b.insert(gpu.BarrierOp())

    def main(self) -> SSAValue:
        b, zero = self.b, self.b.index(0)
        tiles = b.named(b.divui(self.K, b.index(TK)), "tiles")
        ag, bg = self.positions()
        for s in range(STAGES - 1):
            group = self.copies(b.cmpi("ult", b.index(s), tiles), b.index(s), ag, bg)
            ag, bg = self.advance(ag, TK, "ag"), self.advance(bg, self.stride, "bg")
        self.wait(group)
        acc = b.constant(0.0, vec(16, 8))
        start = [zero, b.index(STAGES - 1), ag, bg, acc, *self.fragments(zero, 0)]
        loop = b.for_(zero, tiles, b.index(1), start)
        names = ("kt", "rd", "wr", "ag", "bg", "acc", "fa", "fb")
        for argument, name in zip(loop.body.block.args, names, strict=True):
            argument.name_hint = name
        with b.inside(loop.body.block):
            b.yield_(self.round(tiles, *loop.body.block.args))
        return loop.results[4]

    def round(self, tiles, kt, rd, wr, ag, bg, acc, fa, fb) -> list[SSAValue]:
        b = self.b
        more = b.cmpi("ult", b.addi(kt, b.index(STAGES - 1)), tiles)
        group = self.copies(more, wr, ag, bg)
        ag, bg = self.advance(ag, TK, "ag"), self.advance(bg, self.stride, "bg")
        for k in range(1, TK):
            after = self.fragments(rd, k)
            acc = self.product(fa, fb, acc)
            fa, fb = after
        self.wait(group)
        rd = self.turned(rd)
        after = self.fragments(rd, 0)
        acc = self.product(fa, fb, acc)
        return [rd, self.turned(wr), ag, bg, acc, *after]

    def epilogue(self, acc: SSAValue) -> None:
        b = self.b
        alpha, beta = (b.value(BroadcastOp(x, vec(4))) for x in (self.alpha, self.beta))
        blend = b.cmpf("une", self.beta, b.constant(0.0, f32))
        for i in range(16):
            row = self.sum(self.m0, self.fm, b.index(i // 4 * 16 + i % 4))
            at = self.sum(b.muli(row, self.N), self.n0, self.fn)
            for j in range(2):
                part = b.value(vector.ExtractStridedSliceOp(acc, [i, 4 * j], [1, 4]))
                line = b.value(ExtractOp(part, [0], vec(4)))
                self.write(b.mulf(alpha, line), beta, blend, self.sum(at, b.index(32 * j)))

    def write(self, new: SSAValue, beta: SSAValue, blend: SSAValue, at: SSAValue) -> None:
        b = self.b
        choice = b.if_(blend, [vec(4)])
        with b.inside(choice.true_region.block):
            old = b.value(vector_memory.LoadOp(self.C, [at], vec(4), 16))
            b.yield_([b.addf(new, b.mulf(beta, old))])
        with b.inside(choice.false_region.block):
            b.yield_([new])
        b.insert(vector_memory.StoreOp(choice.results[0], self.C, [at], 16))

    def build(self, bound: int) -> ModuleOp:
        """The module; every extent is at most `bound`, the grid at most its tiles."""
        self.ids()
        self.shared()
        self.epilogue(self.main())
        self.b.insert(gpu.ReturnOp())
        limits = {"M": bound, "N": bound, "K": bound, "grid.x": bound // 256, "grid.y": bound // 128}
        numbers = {"threads": 256, "min_blocks": 1, "shared_bytes": BYTES, "index_bits": 64}
        for name, value in numbers.items():
            self.function.attributes[f"phobos.{name}"] = IntegerAttr(value, i64)
        attributes = {name: IntegerAttr(value, i64) for name, value in limits.items()}
        self.function.attributes["phobos.assumes"] = DictionaryAttr(attributes)
        buffer = memref.GlobalOp.get(
            StringAttr("smem"), SHARED, UnitAttr(), sym_visibility=StringAttr("private")
        )
        inner = gpu.ModuleOp.build(
            properties={"sym_name": StringAttr("m")}, regions=[Region(Block([buffer, self.function]))]
        )
        return ModuleOp([inner], {"gpu.container_module": UnitAttr()})


def sgemm_form(bound: int = (1 << 31) - 1) -> ModuleOp:
    """The GEMM's thread-level module for extents up to `bound`."""
    return Gemm().build(bound)
