"""Rows of the dialect `arith`: integers and floats, comparisons and selection."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IndexType
from xdsl.ir import Operation, SSAValue

from phobos_nb.cuda.emit.arithmetic import binary, extremum, in_float, larger, smaller
from phobos_nb.cuda.emit.emitter import Emitter, Spelled
from phobos_nb.cuda.emit.spelling import UNSIGNED, constant, constant_elements
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.intervals import full
from phobos_nb.cuda.ranges import PREDICATES
from phobos_nb.cuda.reading import element_type, integer, is_vector

WIDTHS = ("bool", "signed char", "short", "int", "long long")
"""Integer types from narrow to wide."""


@row("arith.constant")
def _constant(e: Emitter, op: Operation) -> None:
    result, value = op.results[0], op.properties["value"]
    ctype = e.ctype(result)
    if not is_vector(result):
        e.bind(result, Spelled(constant(value), ctype))
        return
    elements = constant_elements(value)
    if len(elements) == 1:
        element = elements[0]
        text = f"{ctype}{{}}" if element in ZEROS else e.call("splat", element, template=f"<{ctype}>")
    else:
        text = f"{ctype}{{{', '.join(elements)}}}"
    e.bind(result, Spelled(text, ctype, elements=elements))


ZEROS = frozenset({"0", "0.0f", "0.0", "false", "f16{0x0000}", "bf16{0x0000}"})
"""Literals whose bits are all zero, which is what `{}` gives."""


def widest(e: Emitter, values: Sequence[SSAValue]) -> str:
    """The widest C++ integer type among the elements of the values, at least `int`."""
    found = [e.scalar_type(x) for x in values]
    return WIDTHS[max(WIDTHS.index("int"), *(WIDTHS.index(x) for x in found))]


def _unsigned_exact(e: Emitter, values: Sequence[SSAValue]) -> str:
    """A type in which unsigned arithmetic of the values means what it does at their own width.

    A negative index held in 32 bits reads as a huge 64-bit number, so it has to be widened first.
    """
    widths = {e.ranges.bits(x) for x in values}
    natural = all(e.ranges.of(x).natural for x in values)
    return "long long" if not natural and 64 in widths else widest(e, values)


SYMBOLS = {"arith.addi": "+", "arith.subi": "-", "arith.muli": "*"}


@row("arith.addi", "arith.subi", "arith.muli")
def _sum(e: Emitter, op: Operation) -> None:
    """Two's complement; signed C++ only where the range shows that it cannot overflow.

    A 64-bit index is an offset in memory or a part of one, which is far from 2^63.
    """
    result, symbol = op.results[0], SYMBOLS[op.name]
    own = e.scalar_type(result)
    wide = widest(e, (result, *op.operands))
    unsigned = UNSIGNED[wide]
    bits = e.ranges.bits(result)
    offset = bits == 64 and isinstance(element_type(result.type), IndexType)
    if offset or e.ranges.of(result) != full(bits):
        types = e.promoted(op.operands, wide)
        e.elementwise(result, op.operands, lambda a, b: _as(own, wide, f"{a} {symbol} {b}"), types)
        return

    def wrapping(a: str, b: str) -> str:
        return f"({own})({_unsigned(unsigned, a)} {symbol} {_unsigned(unsigned, b)})"

    e.elementwise(result, op.operands, wrapping)


def _as(own: str, computed: str, text: str) -> str:
    return text if own == computed else f"({own})({text})"


DIVISIONS = {"arith.divsi": "{} / {}", "arith.remsi": "{} % {}"}


@row("arith.divsi", "arith.remsi")
def _divide(e: Emitter, op: Operation) -> None:
    result, form = op.results[0], DIVISIONS[op.name]
    own, wide = e.scalar_type(result), widest(e, (op.results[0], *op.operands))
    types = e.promoted(op.operands, wide)
    e.elementwise(result, op.operands, lambda a, b: _as(own, wide, form.format(a, b)), types)


@row("arith.divui", "arith.remui")
def _divide_unsigned(e: Emitter, op: Operation) -> None:
    result, symbol = op.results[0], "/" if op.name == "arith.divui" else "%"
    own, wide = e.scalar_type(result), _unsigned_exact(e, (op.results[0], *op.operands))
    unsigned = UNSIGNED[_at_least(wide, e, op)]
    e.elementwise(
        result,
        op.operands,
        lambda a, b: f"({own})({_unsigned(unsigned, a)} {symbol} {_unsigned(unsigned, b)})",
    )


def _at_least(wide: str, e: Emitter, op: Operation) -> str:
    """Narrow integers divide at their own width: an i8 of -1 reads as 255, not as 2^32 - 1."""
    types = {e.scalar_type(x) for x in op.operands}
    return types.pop() if types <= {"signed char"} or types <= {"short"} else wide


def _unsigned(ctype: str, text: str) -> str:
    if text.isdigit():
        return f"{text}u" if ctype == "unsigned" else f"{text}ull"
    return f"({ctype}){text}"


ROUNDED = {
    "arith.floordivsi": "floor_div",
    "arith.ceildivsi": "ceil_div",
    "arith.ceildivui": "ceil_div_unsigned",
}


@row("arith.floordivsi", "arith.ceildivsi", "arith.ceildivui")
def _divide_rounded(e: Emitter, op: Operation) -> None:
    result, name = op.results[0], ROUNDED[op.name]
    own = e.scalar_type(result)
    wide = widest(e, (result, *op.operands))
    if op.name == "arith.ceildivui":
        wide = UNSIGNED[_at_least(_unsigned_exact(e, (result, *op.operands)), e, op)]
    e.elementwise(
        result,
        op.operands,
        lambda a, b: f"({own}){e.call(name, a, b, template=f'<{wide}>')}",
    )


@row("arith.minsi", "arith.maxsi")
def _extremum_signed(e: Emitter, op: Operation) -> None:
    result, pick = op.results[0], smaller if op.name == "arith.minsi" else larger
    own, wide = e.scalar_type(result), widest(e, (op.results[0], *op.operands))
    e.elementwise(result, op.operands, lambda a, b: f"({own})({pick(a, b)})", (wide, wide))


@row("arith.minui", "arith.maxui")
def _extremum_unsigned(e: Emitter, op: Operation) -> None:
    """Widening a signed value keeps the order of the unsigned readings."""
    result, sign = op.results[0], "<" if op.name == "arith.minui" else ">"
    own, wide = e.scalar_type(result), widest(e, (op.results[0], *op.operands))
    unsigned = UNSIGNED[wide]
    if all(e.ranges.of(x).natural for x in op.operands):
        signed = smaller if sign == "<" else larger
        e.elementwise(result, op.operands, lambda a, b: _as(own, wide, signed(a, b)), (wide, wide))
        return

    def pick(a: str, b: str) -> str:
        return f"({own})({_unsigned(unsigned, a)} {sign} {_unsigned(unsigned, b)} ? {a} : {b})"

    e.elementwise(result, op.operands, pick, (wide, wide))


BITWISE = {"arith.andi": ("&", "&&"), "arith.ori": ("|", "||"), "arith.xori": ("^", "!=")}


@row("arith.andi", "arith.ori", "arith.xori")
def _bitwise(e: Emitter, op: Operation) -> None:
    result = op.results[0]
    own = e.scalar_type(result)
    if own == "bool":
        e.elementwise(result, op.operands, lambda a, b: f"{a} {BITWISE[op.name][1]} {b}")
        return
    wide, symbol = widest(e, (result, *op.operands)), BITWISE[op.name][0]
    types = e.promoted(op.operands, wide)
    e.elementwise(result, op.operands, lambda a, b: _as(own, wide, f"{a} {symbol} {b}"), types)


@row("arith.shli", "arith.shrsi", "arith.shrui")
def _shift(e: Emitter, op: Operation) -> None:
    result = op.results[0]
    own, wide = e.scalar_type(result), widest(e, (op.results[0], op.operands[0]))
    unsigned = UNSIGNED[wide]
    if op.name == "arith.shrui":
        wide = _at_least(_unsigned_exact(e, (result, op.operands[0])), e, op)
        unsigned = UNSIGNED[wide]
    forms = {
        "arith.shli": f"({own})(({unsigned}){{}} << {{}})",
        "arith.shrsi": f"({own})({{}} >> {{}})",
        "arith.shrui": f"({own})(({unsigned}){{}} >> {{}})",
    }
    e.elementwise(result, op.operands, lambda a, b: forms[op.name].format(a, b), (wide, None))


COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}


@row("arith.cmpi")
def _compare(e: Emitter, op: Operation) -> None:
    predicate = PREDICATES[integer(op.properties["predicate"])]
    symbol = COMPARISONS[predicate[-2:]]
    wide = widest(e, op.operands)
    if predicate[0] != "u" or all(e.ranges.of(x).natural for x in op.operands):
        types = e.promoted(op.operands, wide)
        e.elementwise(op.results[0], op.operands, lambda a, b: f"{a} {symbol} {b}", types)
        return
    unsigned = UNSIGNED[wide]
    e.elementwise(
        op.results[0],
        op.operands,
        lambda a, b: f"{_unsigned(unsigned, a)} {symbol} {_unsigned(unsigned, b)}",
    )


FLOAT_COMPARISONS = (
    "false",
    "{a} == {b}",
    "{a} > {b}",
    "{a} >= {b}",
    "{a} < {b}",
    "{a} <= {b}",
    "{a} < {b} || {a} > {b}",
    "{a} == {a} && {b} == {b}",
    "!({a} < {b} || {a} > {b})",
    "!({a} <= {b})",
    "!({a} < {b})",
    "!({a} >= {b})",
    "!({a} > {b})",
    "{a} != {b}",
    "{a} != {a} || {b} != {b}",
    "true",
)
"""The predicates of `arith.cmpf` by number; the second half is true when an operand is NaN."""


@row("arith.cmpf")
def _compare_float(e: Emitter, op: Operation) -> None:
    form = FLOAT_COMPARISONS[integer(op.properties["predicate"])]
    ctype = e.scalar_type(op.operands[0])

    def compare(a: str, b: str) -> str:
        if ctype in ("f16", "bf16"):
            a, b = e.call(f"f32.{ctype}", a), e.call(f"f32.{ctype}", b)
        return form.format(a=a, b=b)

    e.elementwise(op.results[0], op.operands, compare)


@row("arith.select")
def _select(e: Emitter, op: Operation) -> None:
    result = op.results[0]
    condition, lhs, rhs = op.operands
    own = e.scalar_type(result)
    if e.spelled(lhs).memory is not None:
        pick = f"{e.text(condition)} ? {e.text(lhs)} : {e.text(rhs)}"
        e.define(result, pick, memory=e.spelled(lhs).memory)
        return
    e.elementwise(result, op.operands, lambda c, a, b: f"{c} ? {a} : {b}", (None, own, own))


FLOAT_SYMBOLS = {"arith.addf": "+", "arith.subf": "-", "arith.mulf": "*", "arith.divf": "/"}


@row("arith.addf", "arith.subf", "arith.mulf", "arith.divf")
def _float(e: Emitter, op: Operation) -> None:
    symbol, ctype = FLOAT_SYMBOLS[op.name], e.scalar_type(op.results[0])
    compute = binary(e, ctype, lambda a, b: f"{a} {symbol} {b}")
    e.elementwise(op.results[0], op.operands, compute)


@row("arith.negf")
def _negate(e: Emitter, op: Operation) -> None:
    ctype = e.scalar_type(op.results[0])
    e.elementwise(op.results[0], op.operands, in_float(e, ctype, lambda a: f"-{a}"))


@row("arith.maximumf", "arith.minimumf")
def _extremum(e: Emitter, op: Operation) -> None:
    name = "max_nan" if op.name == "arith.maximumf" else "min_nan"
    compute = extremum(e, name, e.scalar_type(op.results[0]))
    e.elementwise(op.results[0], op.operands, compute)


LIBRARY = {"arith.maxnumf": "fmax", "arith.minnumf": "fmin", "arith.remf": "fmod"}
"""Functions of two floats; the f32 one has an `f` after its name. `fmod` is exact."""


@row(*LIBRARY)
def _library(e: Emitter, op: Operation) -> None:
    ctype = e.scalar_type(op.results[0])
    name = LIBRARY[op.name] + ("" if ctype == "double" else "f")
    e.elementwise(op.results[0], op.operands, binary(e, ctype, lambda a, b: f"{name}({a}, {b})"))
