"""Small tile modules that the tests lower, written as build_tile_ir writes them."""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import math as xdsl_math
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, TensorType, f32
from xdsl.dialects.vector import CombiningKindFlag
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from phobos_nb.contract import Parameter, ScalarParameter, TensorParameter
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import gpu, tile


@dataclass
class TileKernel:
    module: ModuleOp
    kernel: tile.KernelOp
    parameters: tuple[Parameter, ...]
    b: Builder

    @property
    def tensors(self):
        return self.kernel.tensor_arguments

    def block(self, axis: str, step: int) -> SSAValue:
        dim = gpu.DimensionAttr(gpu.DimensionEnum(axis))
        return self.b.muli(self.b.value(gpu.BlockIdOp(dim)), self.b.index(step))

    def load(self, tensor: int, indices, shape, element: Attribute = f32, **rest) -> SSAValue:
        axes = rest.pop("axes", range(len(shape)))
        op = tile.LoadOp(self.tensors[tensor], indices, TensorType(element, shape), list(axes), **rest)
        return self.b.value(op)

    def store(self, value: SSAValue, tensor: int, indices, **rest) -> None:
        axes = rest.pop("axes", range(len(value.type.get_shape())))
        self.b.insert(tile.StoreOp(value, self.tensors[tensor], indices, list(axes), **rest))

    def splat(self, value: float, shape, element: Attribute = f32) -> SSAValue:
        return self.b.value(tile.SplatOp(self.b.constant(value, element), shape))

    def at_line(self, line: int) -> None:
        self.b.location = FileLineColLoc(StringAttr("test"), IntAttr(line), IntAttr(1))


def kernel(name, tensors, scalars=(), threads=256, promises=None) -> TileKernel:
    """Tensors as (parameter, element type), scalars as (name, type)."""
    op = tile.KernelOp(name, tensors, scalars, threads=threads, promises=promises)
    parameters = (
        *(t for t, _ in tensors),
        *(ScalarParameter(n, str(t)) for n, t in scalars),
    )
    b = Builder(op.body.block, InsertPoint.at_end(op.body.block))
    return TileKernel(ModuleOp([op]), op, parameters, b)


def saxpy(threads=256, tile_n=1024, promises=None) -> TileKernel:
    """y[i] = a * x[i] + y[i]."""
    tensors = [
        (TensorParameter("x", "f32", ("N",)), f32),
        (TensorParameter("y", "f32", ("N",), True, True), f32),
    ]
    k = kernel("saxpy", tensors, [("a", f32)], threads, promises)
    k.at_line(4)
    i = k.block("x", tile_n)
    a = k.b.value(tile.SplatOp(k.kernel.scalar_arguments["a"], [tile_n]))
    x, y = k.load(0, [i], [tile_n]), k.load(1, [i], [tile_n])
    k.store(k.b.addf(k.b.mulf(a, x), y), 1, [i])
    return k


def gemm(
    shape=(64, 64, 8),
    threads=256,
    promises=None,
    element: Attribute = f32,
    name="f32",
    transpose_b=False,
    sums: Attribute | None = None,
    epilogue: Callable[[TileKernel, SSAValue], SSAValue] | None = None,
    more=(),
) -> TileKernel:
    """C = A @ B with a k loop of slices."""
    m, n, kk = shape
    b_dims = ("N", "K") if transpose_b else ("K", "N")
    tensors = [
        (TensorParameter("A", name, ("M", "K")), element),
        (TensorParameter("B", name, b_dims), element),
        (TensorParameter("C", str(sums or f32), ("M", "N"), False, True), sums or f32),
        *((TensorParameter(n, "f32", dims), f32) for n, dims in more),
    ]
    k = kernel("gemm", tensors, (), threads, promises)
    b = k.b
    k.at_line(5)
    row, column = k.block("y", m), k.block("x", n)
    acc = k.splat(0, [m, n], sums or f32)
    k.at_line(6)
    loop = b.for_(b.index(0), k.kernel.symbol_arguments["K"], b.index(kk), [acc])
    with b.inside(loop.body.block):
        at, inner = loop.body.block.args
        k.at_line(7)
        a_tile = k.load(0, [row, at], [m, kk], element)
        b_indices, b_shape = ([column, at], [n, kk]) if transpose_b else ([at, column], [kk, n])
        b_tile = k.load(1, b_indices, b_shape, element)
        k.at_line(8)
        total = b.value(tile.DotOp(a_tile, b_tile, inner, transpose_b=transpose_b))
        b.yield_([total])
    k.at_line(10)
    result = loop.results[0]
    k.store(epilogue(k, result) if epilogue else result, 2, [row, column])
    return k


def gated(shape=(32, 32, 8), threads=64) -> TileKernel:
    """C = (A @ B) * (A @ D): two accumulators on one A."""
    m, n, kk = shape
    names = {"A": ("M", "K"), "B": ("K", "N"), "D": ("K", "N"), "C": ("M", "N")}
    tensors = [(TensorParameter(t, "f32", d, t != "C", t == "C"), f32) for t, d in names.items()]
    k = kernel("gated", tensors, (), threads)
    b = k.b
    k.at_line(4)
    row, column, zero = k.block("y", m), k.block("x", n), b.index(0)
    inits = [k.splat(0.0, [m, n]), k.splat(0.0, [m, n])]
    k.at_line(5)
    loop = b.for_(zero, k.kernel.symbol_arguments["K"], b.index(kk), inits)
    with b.inside(loop.body.block):
        at, one, two = loop.body.block.args
        a = k.load(0, [row, at], [m, kk])
        k.at_line(6)
        one = b.value(tile.DotOp(a, k.load(1, [at, column], [kk, n]), one))
        two = b.value(tile.DotOp(a, k.load(2, [at, column], [kk, n]), two))
        b.yield_([one, two])
    k.at_line(8)
    k.store(b.mulf(*loop.results), 3, [row, column])
    return k


def fixed_operand(shape=(32, 16, 8), threads=64) -> TileKernel:
    """C = sum over slices of A[:, 0:k] @ B[slice]: one operand does not change in the loop."""
    m, n, kk = shape
    names = {"A": ("M", "J"), "B": ("K", "N"), "C": ("M", "N")}
    tensors = [(TensorParameter(t, "f32", d, t != "C", t == "C"), f32) for t, d in names.items()]
    k = kernel("fixed_operand", tensors, (), threads)
    b = k.b
    row, column, zero = k.block("y", m), k.block("x", n), b.index(0)
    a = k.load(0, [row, zero], [m, kk])
    loop = b.for_(zero, k.kernel.symbol_arguments["K"], b.index(kk), [k.splat(0.0, [m, n])])
    with b.inside(loop.body.block):
        at, acc = loop.body.block.args
        b.yield_([b.value(tile.DotOp(a, k.load(1, [at, column], [kk, n]), acc))])
    k.store(loop.results[0], 2, [row, column])
    return k


def rows(name, body, shape, threads=256, out=None, element: Attribute = f32, dtype="f32") -> TileKernel:
    """Y = body(X) on one tile of whole rows per CTA; `out` is the shape of the result's tile."""
    r, c = shape
    tensors = [
        (TensorParameter("X", dtype, ("R", "C")), element),
        (TensorParameter("Y", "f32", ("P", "Q"), False, True), f32),
    ]
    k = kernel(name, tensors, (), threads)
    k.at_line(3)
    start = k.block("x", r)
    x = k.load(0, [start, k.b.index(0)], [r, c], element)
    k.at_line(4)
    y = body(k, x)
    k.at_line(5)
    to = [start, k.b.index(0)] if out is None else out(k, start)
    k.store(y, 1, to)
    return k


def reduce(k: TileKernel, kind: str, value: SSAValue, axis: int) -> SSAValue:
    return k.b.value(tile.ReduceOp(CombiningKindFlag(kind), value, axis))


def stretch(k: TileKernel, value: SSAValue, like: SSAValue) -> SSAValue:
    return k.b.value(tile.BroadcastOp(value, like.type.get_shape()))


def softmax(shape=(8, 256), threads=256) -> TileKernel:
    def body(k: TileKernel, x: SSAValue) -> SSAValue:
        top = stretch(k, reduce(k, "maximumf", x, 1), x)
        e = k.b.value(xdsl_math.ExpOp(k.b.subf(x, top)))
        return k.b.divf(e, stretch(k, reduce(k, "add", e, 1), e))

    return rows("softmax", body, shape, threads)


def transposed(shape=(32, 48), threads=128) -> TileKernel:
    def body(k: TileKernel, x: SSAValue) -> SSAValue:
        return k.b.value(tile.TransposeOp(x))

    return rows("transpose", body, shape, threads, lambda k, s: [k.b.index(0), s])


def running_sum(shape=(16, 40), threads=64) -> TileKernel:
    return rows(
        "cumsum", lambda k, x: k.b.value(tile.ScanOp(CombiningKindFlag.ADD, x, 0)), shape, threads
    )


def column_sums(shape=(50, 70), threads=96) -> TileKernel:
    return rows("colsum", lambda k, x: stretch(k, reduce(k, "add", x, 0), x), shape, threads)


def arg_max(shape=(12, 300), threads=128) -> TileKernel:
    def body(k: TileKernel, x: SSAValue) -> SSAValue:
        return stretch(k, k.b.sitofp(k.b.value(tile.ArgmaxOp(x, 1)), f32), x)

    return rows("argmax", body, shape, threads)


def flat(shape=(6, 10), threads=32) -> TileKernel:
    def body(k: TileKernel, x: SSAValue) -> SSAValue:
        return k.b.value(tile.ReshapeOp(x, [1, shape[0] * shape[1]]))

    return rows("flat", body, shape, threads)


def attention(queries=32, keys=32, width=16, threads=128) -> TileKernel:
    """One block of rows of softmax(Q K^T) V, with running maxima and sums."""
    dims = {"Q": ("N", "D"), "K": ("S", "D"), "V": ("S", "D"), "O": ("N", "D")}
    tensors = [(TensorParameter(n, "f32", d, n != "O", n == "O"), f32) for n, d in dims.items()]
    k = kernel("attention", tensors, (), threads)
    b = k.b
    k.at_line(4)
    row, zero = k.block("x", queries), b.index(0)
    q = k.load(0, [row, zero], [queries, width])
    low = k.splat(-1e30, [queries, 1])
    inits = [k.splat(0.0, [queries, width]), low, k.splat(0.0, [queries, 1])]
    loop = b.for_(zero, k.kernel.symbol_arguments["S"], b.index(keys), inits)
    with b.inside(loop.body.block):
        at, acc, top, total = loop.body.block.args
        k.at_line(7)
        kt = k.load(1, [at, zero], [keys, width])
        k.at_line(8)
        s = b.value(tile.DotOp(q, kt, k.splat(0.0, [queries, keys]), transpose_b=True))
        columns = b.value(tile.CoordinateOp(1, [queries, keys]))
        limit = b.value(tile.SplatOp(b.subi(k.kernel.symbol_arguments["S"], at), [queries, keys]))
        s = b.select(b.cmpi("slt", columns, limit), s, k.splat(-1e30, [queries, keys]))
        k.at_line(9)
        new = b.maximumf(top, reduce(k, "maximumf", s, 1))
        p = b.value(xdsl_math.ExpOp(b.subf(s, stretch(k, new, s))))
        scale = b.value(xdsl_math.ExpOp(b.subf(top, new)))
        k.at_line(11)
        new_total = b.addf(b.mulf(total, scale), reduce(k, "add", p, 1))
        v = k.load(2, [at, zero], [keys, width])
        k.at_line(12)
        scaled = b.mulf(acc, stretch(k, scale, acc))
        b.yield_([b.value(tile.DotOp(p, v, scaled)), new, new_total])
    k.at_line(14)
    acc, _, total = loop.results
    k.store(b.divf(acc, stretch(k, total, acc)), 3, [row, zero])
    return k


def block_total(threads=128) -> TileKernel:
    """Y[block, 0] = sum of X[block, thread] over the threads of the CTA."""
    tensors = [
        (TensorParameter("X", "f32", ("R", "C")), f32),
        (TensorParameter("Y", "f32", ("P", "Q"), False, True), f32),
    ]
    k = kernel("block_total", tensors, (), threads)
    b = k.b
    k.at_line(3)
    row, zero = k.block("x", 1), b.index(0)
    tid = b.value(gpu.ThreadIdOp(gpu.DimensionAttr(gpu.DimensionEnum.X)))
    x = b.value(tile.LoadElementOp(k.tensors[0], [row, tid]))
    k.at_line(4)
    total = b.value(tile.BlockReduceOp(CombiningKindFlag.ADD, x))
    k.at_line(5)
    b.insert(tile.StoreElementOp(total, k.tensors[1], [row, zero], once=True))
    return k


def two_sums(shape=(12, 20), threads=64) -> TileKernel:
    """Running sums down and across, added: one class of tiles, two directions of lines."""

    def body(k: TileKernel, x: SSAValue) -> SSAValue:
        down, across = (k.b.value(tile.ScanOp(CombiningKindFlag.ADD, x, axis)) for axis in (0, 1))
        return k.b.addf(down, across)

    return rows("two_sums", body, shape, threads)


def summed_product(k: TileKernel, acc: SSAValue) -> SSAValue:
    """A GEMM's epilogue: the running sum of the product down its rows, added to the product."""
    return k.b.addf(acc, k.b.value(tile.ScanOp(CombiningKindFlag.ADD, acc, 0)))
