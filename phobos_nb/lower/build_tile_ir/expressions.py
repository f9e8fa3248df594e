"""Typed expressions to SSA values: operators, reads, calls."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import DenseArrayBase, i64
from xdsl.dialects.gpu import DimensionAttr, DimensionEnum
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from phobos_nb.dtypes import BF16, F16, F32, INDEX, DType
from phobos_nb.ir import elementwise
from phobos_nb.ir.bounds import WHOLE
from phobos_nb.ir.convert import convert, to_index
from phobos_nb.ir.dialects import gpu, tile
from phobos_nb.ir.matrix import product
from phobos_nb.ir.scalars import mlir_type, tile_type
from phobos_nb.language.dots import is_dot
from phobos_nb.language.typed import (
    Binary,
    Call,
    Compare,
    Constant,
    Context,
    Convert,
    ElementRead,
    Expr,
    Extent,
    Fill,
    Logical,
    Region,
    ScalarArgument,
    SharedArray,
    Slice,
    Tensor,
    TileRead,
    Unary,
    VariableRead,
)
from phobos_nb.language.types import ScalarType, TileType, Uniformity
from phobos_nb.lower.build_tile_ir.state import State
from phobos_nb.source import Span

WARP = 32
DIMENSIONS = (DimensionEnum.X, DimensionEnum.Y, DimensionEnum.Z)


@dataclass(frozen=True)
class Box:
    """A region as the ops of the dialect `tile` address it."""

    tensor: SSAValue
    indices: list[SSAValue]
    axes: list[int]
    stops: list[SSAValue]
    stop_axes: list[int]
    whole: list[int]

    def marked(self, op: tile.LoadOp | tile.StoreOp) -> tile.LoadOp | tile.StoreOp:
        """The op with its axes that are part of `:`."""
        if self.whole:
            op.attributes[WHOLE] = DenseArrayBase.from_list(i64, self.whole)
        return op


def dtype_of(expr: Expr) -> DType:
    """The element type of a scalar or tile expression."""
    assert isinstance(expr.type, ScalarType | TileType)
    return expr.type.dtype


def shape_of(expr: Expr) -> tuple[int, ...]:
    """The shape of a tile; empty for a scalar."""
    return expr.type.shape if isinstance(expr.type, TileType) else ()


@dataclass(frozen=True)
class Expressions:
    """Builds expressions at the state's insertion point, left to right."""

    state: State

    def value(self, expr: Expr) -> SSAValue:
        """The SSA value of an expression that has one."""
        found = self.effect(expr)
        assert found is not None, "a call without a result was used as a value"
        return found

    def effect(self, expr: Expr) -> SSAValue | None:
        """Build an expression that may be a call for its effect only."""
        if id(expr) in self.state.prepared:
            return self.state.prepared[id(expr)]
        with self.state.at(expr.span):
            return _BUILDERS[type(expr)](self, expr)

    def index(self, expr: Expr) -> SSAValue:
        """An integer expression as an index."""
        return to_index(self.state.builder, self.value(expr), dtype_of(expr))

    def box(self, region: Region) -> Box:
        """A region's subscripts, evaluated left to right."""
        indices: list[SSAValue] = []
        axes: list[int] = []
        stops: list[SSAValue] = []
        stop_axes: list[int] = []
        whole: list[int] = []
        for axis, subscript in enumerate(region.subscripts):
            sliced = isinstance(subscript, Slice)
            indices.append(self.index(subscript.start if sliced else subscript.index))
            if sliced:
                axes.append(axis)
                if subscript.whole:
                    whole.append(axis)
                if subscript.stop is not None:
                    stops.append(self.index(subscript.stop))
                    stop_axes.append(axis)
        return Box(self.state.tensor(region.tensor.name), indices, axes, stops, stop_axes, whole)

    def converted(self, expr: Expr, dtype: DType, shape: Sequence[int] = ()) -> SSAValue:
        """An expression as `dtype`, stretched to `shape` unless that is empty."""
        value = convert(self.state.builder, self.value(expr), dtype_of(expr), dtype)
        return elementwise.stretch(self.state.builder, value, shape)

    # Leaves --------------------------------------------------------------------------------------

    def constant(self, expr: Constant) -> SSAValue:
        """A scalar constant."""
        return self.state.builder.constant(expr.value, mlir_type(dtype_of(expr)))

    def variable(self, expr: VariableRead) -> SSAValue:
        """The present value of a variable."""
        return self.state.values[expr.variable]

    def scalar(self, expr: ScalarArgument) -> SSAValue:
        """A scalar parameter."""
        return self.state.op.scalar_arguments[expr.name]

    def extent(self, expr: Extent) -> SSAValue:
        """The run-time extent of a symbol."""
        return self.state.op.symbol_arguments[expr.symbol]

    def context(self, expr: Context) -> SSAValue:
        """A block or thread number, computed once at the kernel's start."""
        key = (expr.kind, expr.axis)
        if key not in self.state.contexts:
            self.state.contexts[key] = self._new_context(expr)
        return self.state.contexts[key]

    def is_first_thread(self, span: Span) -> SSAValue:
        """Whether this is thread 0 of the CTA."""
        builder = self.state.builder
        thread = Context(type=ScalarType(INDEX), span=span, kind="thread", uniformity=Uniformity.LANE)
        return builder.cmpi("eq", self.context(thread), builder.index(0))

    def _new_context(self, expr: Context) -> SSAValue:
        builder = self.state.builder
        dimension = DimensionAttr(DIMENSIONS[expr.axis])
        if expr.kind in ("warp", "lane"):
            thread = self.context(
                Context(type=expr.type, span=expr.span, kind="thread", uniformity=expr.uniformity)
            )
            warp_size = builder.index(WARP)
            with builder.at(self._prologue_end()):
                made = (builder.divui if expr.kind == "warp" else builder.remui)(thread, warp_size)
        else:
            op = {
                "block": gpu.BlockIdOp,
                "blocks": gpu.GridDimOp,
                "thread": gpu.ThreadIdOp,
            }[expr.kind]
            with builder.at(self._prologue_end()):
                made = builder.value(op(dimension))
        name = f"{expr.kind}_{'xyz'[expr.axis]}" if expr.kind in ("block", "blocks") else expr.kind
        return builder.named(made, name)

    def _prologue_end(self) -> InsertPoint:
        """Behind the constants, shared arrays and context values at the kernel's start."""
        known = set(self.state.contexts.values()) | set(self.state.shared.values())
        for op in self.state.builder.home.ops:
            if not isinstance(op, ConstantOp) and not known.intersection(op.results):
                return InsertPoint.before(op)
        return InsertPoint.at_end(self.state.builder.home)

    # Operators -----------------------------------------------------------------------------------

    def unary(self, expr: Unary) -> SSAValue:
        """`-`, `!` or `~`."""
        function = elementwise.negative if expr.op == "-" else elementwise.complement
        return function(self.state.builder, dtype_of(expr), self.value(expr.operand))

    def binary(self, expr: Binary) -> SSAValue:
        """An arithmetic or bitwise operator; a sum with a dot becomes the dot's accumulator."""
        accumulated = self._accumulated(expr, lambda acc: acc)
        if accumulated is not None:
            return accumulated
        left, right = self.value(expr.left), self.value(expr.right)
        return elementwise.binary(self.state.builder, expr.op, dtype_of(expr), left, right)

    def _accumulated(self, expr: Expr, accumulator: Callable[[Expr], Expr | None]) -> SSAValue | None:
        """`acc + dot(a, b)` in either order as one dot; `accumulator` picks the tile added to.

        Not where the dot itself is stretched to what it is added to.
        """
        if not (isinstance(expr, Binary) and expr.op == "+"):
            return None
        for call, other in ((expr.right, expr.left), (expr.left, expr.right)):
            added = accumulator(other)
            if is_dot(call) and shape_of(call) == shape_of(expr) and added is not None:
                return self._dot_onto(call, added)
        return None

    def _dot_onto(self, call: Call, added: Expr) -> SSAValue:
        left, right = (cast(Expr, a) for a in call.arguments)
        acc = self.converted(added, dtype_of(added), shape_of(call))
        with self.state.at(call.span):
            return product(
                self.state.builder,
                self.value(left),
                self.value(right),
                (dtype_of(left), dtype_of(right)),
                dtype_of(call),
                transposed=call.builtin == "dot_t",
                acc=acc,
            )

    def compare(self, expr: Compare) -> SSAValue:
        """A comparison of values of one dtype."""
        left, right = self.value(expr.left), self.value(expr.right)
        return elementwise.compare(self.state.builder, expr.op, dtype_of(expr.left), left, right)

    def logical(self, expr: Logical) -> SSAValue:
        """`&&` and `||`; on scalars the right side runs only where the left does not decide."""
        builder = self.state.builder
        left = self.value(expr.left)
        if shape_of(expr) or _is_free(expr.right):
            left, right = elementwise.together(builder, (left, self.value(expr.right)))
            return (builder.andi if expr.op == "&&" else builder.ori)(left, right)
        asks = left if expr.op == "&&" else builder.negate_i1(left)
        branch = builder.if_(asks, [left.type])
        with builder.inside(branch.true_region.block):
            builder.yield_([self.value(expr.right)])
        with builder.inside(branch.false_region.block):
            builder.yield_([builder.false() if expr.op == "&&" else builder.true()])
        return branch.output[0]

    def conversion(self, expr: Convert) -> SSAValue:
        """A conversion; a narrow accumulator that a dot is added to keeps its type."""
        dtype = dtype_of(expr)
        if dtype in (F16, BF16):

            def narrow(other: Expr) -> Expr | None:
                if not isinstance(other, Convert) or dtype_of(other) != F32:
                    return None
                return other.operand if dtype_of(other.operand) == dtype else None

            accumulated = self._accumulated(expr.operand, narrow)
            if accumulated is not None:
                return accumulated
        return convert(self.state.builder, self.value(expr.operand), dtype_of(expr.operand), dtype)

    def fill(self, expr: Fill) -> SSAValue:
        """A scalar or tile stretched to the type's shape."""
        return elementwise.stretch(self.state.builder, self.value(expr.operand), shape_of(expr))

    # Reads and calls -----------------------------------------------------------------------------

    def tile_read(self, expr: TileRead) -> SSAValue:
        """A box of a tensor as it is now."""
        box = self.box(expr.region)
        dtype = dtype_of(expr)
        load = tile.LoadOp(
            box.tensor,
            box.indices,
            tile_type(dtype, shape_of(expr)),
            box.axes,
            pad=None if expr.pad is None else self.converted(expr.pad, dtype),
            stops=box.stops,
            stop_axes=box.stop_axes,
        )
        return self.state.builder.value(box.marked(load))

    def element_read(self, expr: ElementRead) -> SSAValue:
        """One element of a tensor or shared array, per thread."""
        indices = [self.index(i) for i in expr.indices]
        if isinstance(expr.base, Tensor):
            return self.state.builder.value(
                tile.LoadElementOp(self.state.tensor(expr.base.name), indices)
            )
        return self.state.builder.value(tile.LoadSharedOp(self.state.shared[expr.base], indices))

    def call(self, expr: Call) -> SSAValue | None:
        """A built-in by its own `build`."""
        values = [self._argument(a) for a in expr.arguments]
        with self.state.at(expr.span):
            build = self.state.builtins[expr.builtin].build
            return cast("SSAValue | None", build(self.state.builder, expr, values))

    def _argument(self, argument: Expr | Tensor | SharedArray) -> SSAValue:
        if isinstance(argument, Tensor):
            return self.state.tensor(argument.name)
        if isinstance(argument, SharedArray):
            return self.state.shared[argument]
        return self.value(argument)


def _is_free(expr: Expr) -> bool:
    """Whether an expression may be evaluated where its value is not needed: no memory, no fault."""
    match expr:
        case Constant() | VariableRead() | ScalarArgument() | Extent() | Context():
            return True
        case Unary() | Convert():
            return _is_free(expr.operand)
        case Binary():
            return expr.op not in ("/", "%", "<<", ">>") and _is_free(expr.left) and _is_free(expr.right)
        case Compare() | Logical():
            return _is_free(expr.left) and _is_free(expr.right)
        case _:
            return False


_BUILDERS: dict[type[Expr], Callable[..., SSAValue | None]] = {
    Constant: Expressions.constant,
    VariableRead: Expressions.variable,
    ScalarArgument: Expressions.scalar,
    Extent: Expressions.extent,
    Context: Expressions.context,
    Unary: Expressions.unary,
    Binary: Expressions.binary,
    Compare: Expressions.compare,
    Logical: Expressions.logical,
    Convert: Expressions.conversion,
    Fill: Expressions.fill,
    TileRead: Expressions.tile_read,
    ElementRead: Expressions.element_read,
    Call: Expressions.call,
}
