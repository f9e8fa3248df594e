"""Small tile modules that the tests lower, written as build_tile_ir writes them."""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.dialects import gpu as xdsl_gpu
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, ModuleOp, StringAttr, TensorType, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.rewriter import InsertPoint

from phobos_nb.contract import Parameter, ScalarParameter, TensorParameter
from phobos_nb.ir.builder import Builder
from phobos_nb.ir.dialects import tile


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
        dim = xdsl_gpu.DimensionAttr(xdsl_gpu.DimensionEnum(axis))
        return self.b.muli(self.b.value(xdsl_gpu.BlockIdOp(dim)), self.b.index(step))

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
) -> TileKernel:
    """C = A @ B with a k loop of slices."""
    m, n, kk = shape
    b_dims = ("N", "K") if transpose_b else ("K", "N")
    tensors = [
        (TensorParameter("A", name, ("M", "K")), element),
        (TensorParameter("B", name, b_dims), element),
        (TensorParameter("C", str(sums or f32), ("M", "N"), False, True), sums or f32),
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
