"""Rows of the dialect `math`: CUDA's own functions, with their error bounds.

Bounds are in units in the last place over the whole range, from the CUDA C++ Programming Guide,
appendix "Mathematical Functions", tables of single and double precision; f16 and bf16 are computed
in f32 and rounded once, which adds half a unit of their own.
"""

from __future__ import annotations

from typing import NamedTuple

from xdsl.ir import Operation

from phobos_nb.cuda.emit.arithmetic import fused, in_float
from phobos_nb.cuda.emit.emitter import Emitter
from phobos_nb.cuda.emit.spelling import UNSIGNED
from phobos_nb.cuda.emit.table import row


class Function(NamedTuple):
    """A function of the CUDA math library and its largest error in f32 and f64, in ulp."""

    name: str
    single: float = 0
    double: float = 0


FUNCTIONS = {
    "math.absf": Function("fabs"),
    "math.acos": Function("acos", 2, 2),
    "math.acosh": Function("acosh", 4, 3),
    "math.asin": Function("asin", 2, 2),
    "math.asinh": Function("asinh", 3, 3),
    "math.atan": Function("atan", 2, 2),
    "math.atan2": Function("atan2", 3, 2),
    "math.atanh": Function("atanh", 3, 2),
    "math.cbrt": Function("cbrt", 1, 1),
    "math.ceil": Function("ceil"),
    "math.copysign": Function("copysign"),
    "math.cos": Function("cos", 2, 2),
    "math.cosh": Function("cosh", 2, 1),
    "math.erf": Function("erf", 2, 2),
    "math.exp": Function("exp", 2, 1),
    "math.exp2": Function("exp2", 2, 1),
    "math.expm1": Function("expm1", 1, 1),
    "math.floor": Function("floor"),
    "math.log": Function("log", 1, 1),
    "math.log10": Function("log10", 2, 1),
    "math.log1p": Function("log1p", 1, 1),
    "math.log2": Function("log2", 1, 1),
    "math.powf": Function("pow", 4, 2),
    "math.round": Function("round"),
    "math.roundeven": Function("rint"),
    "math.rsqrt": Function("rsqrt", 2, 1),
    "math.sin": Function("sin", 2, 2),
    "math.sinh": Function("sinh", 3, 2),
    "math.sqrt": Function("sqrt"),
    "math.tan": Function("tan", 4, 2),
    "math.tanh": Function("tanh", 2, 1),
    "math.trunc": Function("trunc"),
}
"""Operation -> function; the f32 one has an `f` after its name."""


@row(*FUNCTIONS)
def _function(e: Emitter, op: Operation) -> None:
    ctype = e.scalar_type(op.results[0])
    name = FUNCTIONS[op.name].name + ("" if ctype == "double" else "f")
    if len(op.operands) == 1:
        compute = in_float(e, ctype, lambda a: f"{name}({a})")
    else:
        compute = in_float(e, ctype, lambda a, b: f"{name}({a}, {b})")
    e.elementwise(op.results[0], op.operands, compute)


@row("math.fma")
def _fma(e: Emitter, op: Operation) -> None:
    e.elementwise(op.results[0], op.operands, fused(e, e.scalar_type(op.results[0])))


@row("math.absi")
def _absolute(e: Emitter, op: Operation) -> None:
    own = e.scalar_type(op.results[0])
    negated = f"({own})(0 - ({UNSIGNED[own]}){{0}})"
    e.elementwise(op.results[0], op.operands, lambda a: f"{a} < 0 ? {negated.format(a)} : {a}", (own,))


BIT_COUNTS = {"math.ctpop": "__popc", "math.ctlz": "__clz", "math.cttz": "__ffs"}


@row("math.ctpop", "math.ctlz", "math.cttz")
def _bit_count(e: Emitter, op: Operation) -> None:
    """`__ffs` counts from one and gives 0 for no bit at all, where the answer is the width."""
    value, own = op.operands[0], e.scalar_type(op.results[0])
    bits = e.ranges.bits(value)
    wide = "long long" if bits == 64 else "int"
    name = BIT_COUNTS[op.name] + ("ll" if bits == 64 else "")
    unsigned = {8: "unsigned char", 16: "unsigned short"}.get(bits, wide)
    surplus = 32 - bits if bits < 32 else 0

    def compute(a: str) -> str:
        found = f"{name}(({wide})({unsigned}){a})"
        if op.name == "math.cttz":
            found = f"({a} == 0 ? {bits} : {found} - 1)"
        elif op.name == "math.ctlz" and surplus:
            found = f"({found} - {surplus})"
        return f"({own}){found}"

    e.elementwise(op.results[0], op.operands, compute)
