"""An interpreter of tile MLIR, one thread after the other: the second opinion on build_tile_ir.

Threads run one by one to the end, so kernels with barriers, shuffles or shared arrays are not for it.
Tiles are whole arrays and tile stores happen in thread 0 only.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import ml_dtypes
import numpy as np
from xdsl.dialects import scf
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Block, Operation

from phobos_nb.ir.dialects import tile
from phobos_nb.ir.dialects.shapes import element_of, shape_of

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i1": np.bool_,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
    "index": np.int64,
}


def dtype_of(type_):
    return np.dtype(DTYPES[str(element_of(type_))])


def unsigned(values):
    return values.view(np.dtype(f"u{values.dtype.itemsize}")) if values.dtype.kind == "i" else values


def signless(array):
    return array.view(np.int8) if array.dtype == np.uint8 else array


def truncated(a, b):
    quotient = np.abs(a) // np.abs(b)
    return np.where((a < 0) == (b < 0), quotient, -quotient)


def ceiling(a, b):
    return -(-a // b)


BINARY = {
    "arith.addi": np.add,
    "arith.subi": np.subtract,
    "arith.muli": np.multiply,
    "arith.divsi": truncated,
    "arith.remsi": lambda a, b: a - truncated(a, b) * b,
    "arith.divui": lambda a, b: unsigned(a) // unsigned(b),
    "arith.remui": lambda a, b: unsigned(a) % unsigned(b),
    "arith.ceildivsi": ceiling,
    "arith.andi": np.bitwise_and,
    "arith.ori": np.bitwise_or,
    "arith.xori": np.bitwise_xor,
    "arith.shli": np.left_shift,
    "arith.shrsi": np.right_shift,
    "arith.shrui": lambda a, b: unsigned(a) >> unsigned(b),
    "arith.maxsi": np.maximum,
    "arith.minsi": np.minimum,
    "arith.maxui": lambda a, b: np.maximum(unsigned(a), unsigned(b)),
    "arith.minui": lambda a, b: np.minimum(unsigned(a), unsigned(b)),
    "arith.addf": np.add,
    "arith.subf": np.subtract,
    "arith.mulf": np.multiply,
    "arith.divf": np.divide,
    "arith.remf": np.fmod,
    "arith.maximumf": np.maximum,
    "arith.minimumf": np.minimum,
    "math.powf": np.power,
}

UNARY = {
    "arith.negf": np.negative,
    "math.exp": np.exp,
    "math.sqrt": np.sqrt,
    "math.absf": np.abs,
    "math.roundeven": np.rint,
    "math.floor": np.floor,
    "math.ceil": np.ceil,
    "math.ctpop": lambda a: np.array([int(v).bit_count() for v in np.ravel(unsigned(a))]).reshape(
        a.shape
    ),
}

CASTS = {
    "arith.extf",
    "arith.truncf",
    "arith.sitofp",
    "arith.fptosi",
    "arith.extsi",
    "arith.trunci",
    "arith.index_cast",
}
UNSIGNED_CASTS = {"arith.extui", "arith.uitofp", "arith.index_castui"}

COMPARE = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
}


class Interpreter:
    """Runs one `tile.kernel` for all CTAs of a grid over NumPy arrays, in place."""

    def __init__(self, kernel: tile.KernelOp) -> None:
        self.kernel = kernel
        self.values = {}

    def run(
        self, arrays: Mapping[str, np.ndarray], scalars: Mapping[str, object], grid, threads=None
    ) -> None:
        """Run `threads` of each CTA, all by default; one is enough where all work is on tiles."""
        names = [self.kernel.tensor_name(k) for k in range(len(self.kernel.tensors))]
        bound = [signless(arrays[n]) for n in names]
        extents = {
            d: a.shape[axis]
            for k, a in enumerate(bound)
            for axis, d in enumerate(self.kernel.dims(k))
            if isinstance(d, str)
        }
        self.grid = grid
        threads = range(threads or self.kernel.threads.value.data)
        for self.block, self.thread in itertools.product(np.ndindex(*grid), threads):
            self.values = dict(zip(self.kernel.tensor_arguments, bound, strict=True))
            for symbol, argument in self.kernel.symbol_arguments.items():
                self.values[argument] = np.int64(extents[symbol])
            for name, argument in self.kernel.scalar_arguments.items():
                self.values[argument] = dtype_of(argument.type).type(scalars[name])
            with np.errstate(all="ignore"):
                self.body(self.kernel.body.block)

    def body(self, block: Block, arguments=()):
        """Run a block; gives the operands of its terminator."""
        self.values.update(zip(block.args, arguments, strict=False))
        for op in block.ops:
            if isinstance(op, scf.YieldOp | scf.ConditionOp):
                return self.operands(op)
            results = self.op(op)
            for result, value in zip(op.results, results, strict=True):
                if isinstance(value, np.ndarray | np.generic):
                    assert value.dtype == dtype_of(result.type), (op.name, value.dtype, result.type)
                    assert value.shape == (shape_of(result.type) or ()), (op.name, value.shape)
                self.values[result] = value
        return []

    def operands(self, op: Operation):
        return [self.values[o] for o in op.operands]

    def op(self, op: Operation):
        given = self.operands(op)
        if op.name in BINARY:
            return [self.typed(op, BINARY[op.name](*map(np.asarray, given)))]
        if op.name in UNARY:
            return [self.typed(op, UNARY[op.name](np.asarray(given[0])))]
        if op.name in CASTS:
            return [self.typed(op, np.asarray(given[0]))]
        if op.name in UNSIGNED_CASTS:
            return [self.typed(op, unsigned(np.asarray(given[0])))]
        handler = getattr(self, op.name.replace(".", "_"))
        return handler(op, *given) or []

    def typed(self, op, value):
        """A value in the dtype of the op's result."""
        return np.asarray(value).astype(dtype_of(op.results[0].type))

    # arith and gpu

    def arith_constant(self, op):
        value, type_ = op.value, op.results[0].type
        if isinstance(value, DenseIntOrFPElementsAttr):
            data = [bool(v) if str(element_of(type_)) == "i1" else v for v in value.get_values()]
            return [np.full(shape_of(type_), data[0], dtype_of(type_))]
        return [dtype_of(type_).type(value.value.data)]

    def arith_cmpi(self, op, a, b):
        name = op.predicate_name
        if name[0] == "u":
            a, b = unsigned(np.asarray(a)), unsigned(np.asarray(b))
        return [COMPARE[name[-2:]](a, b)]

    def arith_cmpf(self, op, a, b):
        name, nan = op.predicate_name, np.isnan(a) | np.isnan(b)
        if name == "uno":
            return [nan]
        return [np.where(nan, name[0] == "u", COMPARE[name[1:]](a, b))[()]]

    def arith_select(self, op, condition, a, b):
        return [self.typed(op, np.where(condition, a, b))]

    def arith_bitcast(self, op, a):
        return [np.asarray(a).view(dtype_of(op.results[0].type))]

    def math_fma(self, op, a, b, c):
        return [self.typed(op, np.asarray(a, np.float64) * np.asarray(b, np.float64) + c)]

    def gpu_block_id(self, op):
        return [
            np.int64(self.block[op.dimension.data.value == "y" or 2 * (op.dimension.data.value == "z")])
        ]

    def gpu_grid_dim(self, op):
        return [np.int64(self.grid["xyz".index(op.dimension.data.value)])]

    def gpu_thread_id(self, op):
        return [np.int64(self.thread)]

    # scf

    def scf_if(self, op, condition):
        region = op.true_region if condition else op.false_region
        return self.body(region.block) if region.blocks else []

    def scf_for(self, op, start, stop, step, *carried):
        assert step > 0
        for position in range(int(start), int(stop), int(step)):
            carried = self.body(op.body.block, [np.int64(position), *carried])
        return list(carried)

    def scf_while(self, op, *carried):
        while True:
            going, *carried = self.body(op.before_region.block, carried)
            if not going:
                return carried
            carried = self.body(op.after_region.block, carried)

    # tile

    def tile_load(self, op, *_):
        array, shape = self.values[op.source], shape_of(op.result.type)
        pad = 0 if op.pad is None else self.values[op.pad]
        inside, where = self.box(op, array, shape)
        return [np.where(inside, array[where] if array.size else pad, pad).astype(array.dtype)]

    def tile_store(self, op, value, *_):
        if self.thread == 0:
            array = self.values[op.destination]
            inside, where = self.box(op, array, value.shape)
            places = tuple(np.broadcast_to(w, inside.shape)[inside] for w in where)
            array[places] = value[inside]

    def box(self, op, array, shape):
        """Which elements lie inside, and their positions clipped into the array."""
        stops = dict(
            zip(op.stop_axes.get_values(), (int(self.values[s]) for s in op.stops), strict=True)
        )
        inside, where = np.ones(shape, bool), []
        for axis, index in enumerate(op.indices):
            start = int(self.values[index])
            place = np.asarray(start)
            if axis in op.sliced:
                position = op.sliced.index(axis)
                steps = np.arange(shape[position])
                place = (start + steps).reshape([-1 if k == position else 1 for k in range(len(shape))])
            limit = min(array.shape[axis], stops.get(axis, array.shape[axis]))
            inside = inside & (place >= 0) & (place < limit)
            where.append(np.clip(place, 0, max(0, array.shape[axis] - 1)))
        return inside, tuple(where)

    def tile_load_element(self, op, array, *indices):
        place = tuple(int(i) for i in indices)
        return [array[place] if self.inside(array, place) else array.dtype.type(0)]

    def tile_store_element(self, op, value, array, *indices):
        place = tuple(int(i) for i in indices)
        if self.inside(array, place) and (op.once is None or self.thread == 0):
            array[place] = value

    def inside(self, array, place):
        return all(0 <= i < n for i, n in zip(place, array.shape, strict=True))

    def tile_splat(self, op, value):
        return [self.typed(op, np.full(shape_of(op.result.type), value))]

    def tile_broadcast(self, op, value):
        return [np.broadcast_to(value, shape_of(op.result.type))]

    def tile_coordinate(self, op):
        return [np.indices(shape_of(op.result.type))[op.axis.value.data]]

    def tile_dot(self, op, a, b, acc):
        if a.dtype == np.int8:
            a = unsigned(a) if op.unsigned_a is not None else a
            b = unsigned(b) if op.unsigned_b is not None else b
        wide = np.int64 if acc.dtype.kind == "i" else np.float64
        a = a.T if op.transpose_a is not None else a
        b = b.T if op.transpose_b is not None else b
        product = a.astype(wide) @ b.astype(wide)
        return [self.typed(op, acc.astype(wide) + (-product if op.negated is not None else product))]

    def tile_reduce(self, op, value):
        function = {"add": np.add, "max": np.maximum, "min": np.minimum}[op.kind.data.value[:3]]
        value = unsigned(value) if op.kind.data.value.endswith("ui") else value
        reduced = function.reduce(value, axis=op.axis.value.data, keepdims=True)
        return [self.typed(op, reduced)]

    def tile_argmax(self, op, value):
        value = unsigned(value) if op.is_unsigned is not None else value
        return [self.typed(op, np.argmax(value, axis=op.axis.value.data, keepdims=True))]

    def tile_scan(self, op, value):
        return [np.cumsum(value, axis=op.axis.value.data, dtype=value.dtype)]

    def tile_transpose(self, op, value):
        return [np.transpose(value, op.permutation.get_values())]

    def tile_reshape(self, op, value):
        return [value.reshape(shape_of(op.result.type))]

    def tile_gather(self, op, table, positions):
        inside = (positions >= 0) & (positions < len(table))
        return [np.where(inside, table[np.clip(positions, 0, len(table) - 1)], 0).astype(table.dtype)]

    def tile_atomic(self, op, value, array, *indices):
        place = tuple(int(i) for i in indices)
        function = {"add": np.add, "max": np.maximum, "min": np.minimum}[op.kind.data.value[:3]]
        if op.result is not None:
            old = array[place] if self.inside(array, place) else array.dtype.type(0)
            if self.inside(array, place):
                array[place] = function(old, value)
            return [old]
        if self.thread == 0:
            start = (*place,)
            for offset in np.ndindex(value.shape):
                lifted = (0,) * (array.ndim - value.ndim) + offset
                spot = tuple(s + o for s, o in zip(start, lifted, strict=True))
                if self.inside(array, spot):
                    array[spot] = function(array[spot], value[offset])
        return []

    def tile_assert(self, op, condition, *_):
        assert condition, op.text.data

    def tile_print(self, op, *arguments):
        if op.once is None or self.thread == 0:
            print(op.text.data.format(*arguments))  # noqa: T201
