"""Floating-point work of operations, by kind, from their types: what a lane or a warp does in one step.

Counted are additions, products, quotients, extrema, functions and multiply-adds (two each); conversions,
comparisons, selections and negations are not. Slots of a tile that lie outside a tensor count: the GPU
computes them too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation

from phobos_nb.ir.dialects.nvgpu import MmaSyncOp
from phobos_nb.ir.dialects.shapes import element_of, shape_of
from phobos_nb.ir.dialects.subgroup_mma import MatrixType, SubgroupMmaComputeOp
from phobos_nb.ir.dialects.vector import MultiReductionOp
from phobos_nb.ir.dialects.wgmma import WgmmaOp
from phobos_nb.simulate.strand import WARP

Flops = Mapping[str, int]
"""Kind, such as "f32 fma", "f32 add" or "f16 tensor" -> floating-point operations."""

MULTIPLY_ADD = 2

WARPGROUP = 4 * WARP
"""Lanes that do one `wgmma` together."""

FLOATS = frozenset({"f16", "bf16", "f32", "f64", "tf32"})

ONE_EACH: Mapping[str, str] = {
    "arith.addf": "add",
    "arith.subf": "add",
    "arith.mulf": "mul",
    "arith.divf": "div",
    "arith.remf": "div",
    "arith.maximumf": "max",
    "arith.minimumf": "max",
    "arith.maxnumf": "max",
    "arith.minnumf": "max",
    "memref.atomic_rmw": "atomic",
}
"""Operation -> kind, one operation for each element of the result."""

FREE_FUNCTIONS = frozenset({"math.absf", "math.copysign", "math.ctpop"})
"""Of the dialect `math`: bits are changed or counted, nothing is computed."""


def flops_of_lane(op: Operation) -> tuple[str, int]:
    """The kind and number of operations that one lane does in one step; `("", 0)` for none."""
    if not op.results:
        return "", 0
    if isinstance(op, MmaSyncOp | WgmmaOp | SubgroupMmaComputeOp):
        return _product(op)
    if not _is_float(element_of(op.results[0].type)):
        return "", 0
    dtype, count = str(element_of(op.results[0].type)), _elements(op.results[0].type)
    if isinstance(op, MultiReductionOp):  # the accumulator takes part
        return f"{dtype} {_REDUCED.get(op.kind.data.value, 'max')}", _elements(op.source.type)
    if op.name in ("vector.outerproduct", "math.fma", "vector.fma"):
        return f"{dtype} fma", MULTIPLY_ADD * count
    if op.name in ONE_EACH:
        return f"{dtype} {ONE_EACH[op.name]}", count
    if op.name.startswith("math.") and op.name not in FREE_FUNCTIONS:
        return f"{dtype} {op.name.removeprefix('math.')}", count
    return "", 0


def _product(op: MmaSyncOp | WgmmaOp | SubgroupMmaComputeOp) -> tuple[str, int]:
    """A lane's part of a product on tensor cores; f32 operands are tf32's, integers are none of ours."""
    lanes = WARPGROUP if isinstance(op, WgmmaOp) else WARP
    if isinstance(op, WgmmaOp):
        operand = str(op.operand)
    else:
        operand = str(op.a.type.element if isinstance(op.a.type, MatrixType) else element_of(op.a.type))
    if operand not in FLOATS:
        return "", 0
    operand = "tf32" if operand == "f32" else operand
    return f"{operand} tensor", MULTIPLY_ADD * math.prod(op.mnk) // lanes


_REDUCED = {"add": "add", "mul": "mul"}
"""Kinds of reductions; the others take the larger or the smaller."""


def _elements(type_: Attribute) -> int:
    return math.prod(shape_of(type_) or ())


def flops_of_run(operations: Sequence[Operation], warps: Sequence[int]) -> dict[str, int]:
    """All operations' work; `warps[i]` is how many warps executed the operation i."""
    found: dict[str, int] = {}
    for op, count in zip(operations, warps, strict=True):
        kind, each = flops_of_lane(op) if count else ("", 0)
        if kind:
            found[kind] = found.get(kind, 0) + each * count * WARP
    return dict(sorted(found.items()))


def _is_float(element: Attribute) -> bool:
    return str(element) in FLOATS
