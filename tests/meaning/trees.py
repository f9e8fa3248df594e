"""Short constructors for typed trees, so that the meaning is tested without a parser."""

from __future__ import annotations

from typing import Any

import numpy as np

from phobos_nb import builtins
from phobos_nb.contract import GridRule, ScalarParameter, TensorParameter
from phobos_nb.dtypes import BOOL, F32, I32, INDEX, DType
from phobos_nb.language import typed
from phobos_nb.language.meaning import MeaningResult, run
from phobos_nb.language.types import ScalarType, SharedType, TensorType, TileType, Uniformity
from phobos_nb.source import Source, Span

SOURCE = Source("first line\nsecond line\nthird line\n", "k.ph")
HERE = Span(SOURCE.text.index("second"), SOURCE.text.index("second") + 6)

THREAD = typed.Context(type=ScalarType(INDEX), span=HERE, uniformity=Uniformity.LANE, kind="thread")
BLOCK = typed.Context(type=ScalarType(INDEX), span=HERE, kind="block", axis=0)


def tensor(name: str, dims: tuple[Any, ...], dtype: DType = F32) -> typed.Tensor:
    return typed.Tensor(name, TensorType(dtype, dims), HERE)


def shared(name: str, shape: tuple[int, ...], dtype: DType = F32) -> typed.SharedArray:
    return typed.SharedArray(name, SharedType(dtype, shape), HERE)


def variable(name: str, dtype: DType = INDEX, shape: tuple[int, ...] = ()) -> typed.Variable:
    kind = TileType(dtype, shape) if shape else ScalarType(dtype)
    return typed.Variable(name, kind, True, HERE)


def integer(value: int, dtype: DType = INDEX) -> typed.Constant:
    return typed.Constant(type=ScalarType(dtype), span=HERE, value=value)


def real(value: float, dtype: DType = F32) -> typed.Constant:
    return typed.Constant(type=ScalarType(dtype), span=HERE, value=value)


def get(v: typed.Variable, uniformity: Uniformity = Uniformity.LANE) -> typed.VariableRead:
    return typed.VariableRead(type=v.type, span=HERE, uniformity=uniformity, variable=v)


def join(*exprs: typed.Expr) -> Uniformity:
    return max(e.uniformity for e in exprs)


def binary(op: str, left: typed.Expr, right: typed.Expr) -> typed.Binary:
    kind = left.type if isinstance(left.type, TileType) else right.type
    return typed.Binary(
        type=kind, span=HERE, uniformity=join(left, right), op=op, left=left, right=right
    )


def compare(op: str, left: typed.Expr, right: typed.Expr) -> typed.Compare:
    return typed.Compare(
        type=ScalarType(BOOL),
        span=HERE,
        uniformity=join(left, right),
        op=op,
        left=left,
        right=right,
    )


def logical(op: str, left: typed.Expr, right: typed.Expr) -> typed.Logical:
    return typed.Logical(
        type=ScalarType(BOOL), span=HERE, uniformity=join(left, right), op=op, left=left, right=right
    )


def let(v: typed.Variable, value: typed.Expr) -> typed.Assign:
    return typed.Assign(span=HERE, variable=v, value=value, declares=True)


def assign(v: typed.Variable, value: typed.Expr) -> typed.Assign:
    return typed.Assign(span=HERE, variable=v, value=value, declares=False)


def element(base: typed.Tensor | typed.SharedArray, *indices: typed.Expr) -> typed.ElementRead:
    return typed.ElementRead(
        type=ScalarType(base.type.dtype),
        span=HERE,
        uniformity=join(*indices),
        base=base,
        indices=indices,
    )


def store(
    base: typed.Tensor | typed.SharedArray, index: typed.Expr, value: typed.Expr
) -> typed.StoreElement:
    return typed.StoreElement(span=HERE, base=base, indices=(index,), value=value)


def loop(
    v: typed.Variable, start: int, stop: typed.Expr, body: tuple[typed.Statement, ...], step: int = 1
) -> typed.For:
    return typed.For(
        span=HERE, variable=v, start=integer(start), stop=stop, step=integer(step), body=body
    )


def branch(
    condition: typed.Expr,
    then: tuple[typed.Statement, ...],
    otherwise: tuple[typed.Statement, ...] = (),
) -> typed.If:
    return typed.If(span=HERE, condition=condition, then=then, otherwise=otherwise)


BREAK = typed.Break(span=HERE)
CONTINUE = typed.Continue(span=HERE)
RETURN = typed.Return(span=HERE)


def kernel(
    tensors: tuple[typed.Tensor, ...],
    body: tuple[typed.Statement, ...],
    *,
    shared: tuple[typed.SharedArray, ...] = (),
    scalars: tuple[ScalarParameter, ...] = (),
    threads: int = 32,
) -> typed.TypedKernel:
    parameters = tuple(TensorParameter(t.name, t.type.dtype.name, t.type.dims) for t in tensors)
    return typed.TypedKernel(
        name="k",
        parameters=(*parameters, *scalars),
        tensors=tensors,
        shared=shared,
        body=body,
        attributes=(),
        constants={},
        space={},
        promises={},
        threads=threads,
        min_blocks=0,
        max_registers=0,
        grid=GridRule(),
        span=HERE,
        source=SOURCE,
    )


def per_thread(*body: typed.Statement, result: typed.Variable, threads: int = 32) -> list[int]:
    """Run the body with one CTA and give what each thread holds in `result`; -1 where it returned."""
    out = tensor("out", ("N",), I32)
    array = np.full(threads, -1, np.int32)
    value = typed.Convert(type=ScalarType(I32), span=HERE, operand=get(result))
    execute(kernel((out,), (*body, store(out, THREAD, value)), threads=threads), out=array)
    return array.tolist()


def execute(
    k: typed.TypedKernel, grid: tuple[int, int, int] = (1, 1, 1), **arguments: Any
) -> MeaningResult:
    return run(k, arguments, grid, builtins=builtins.table())
