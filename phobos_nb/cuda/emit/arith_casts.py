"""Rows of the conversions in `arith`."""

from __future__ import annotations

from xdsl.ir import Operation

from phobos_nb.cuda.emit.arithmetic import HALVES, narrow, widen
from phobos_nb.cuda.emit.emitter import Emitter
from phobos_nb.cuda.emit.spelling import UNSIGNED
from phobos_nb.cuda.emit.table import row


@row("arith.index_cast", "arith.extsi", "arith.trunci")
def _signed(e: Emitter, op: Operation) -> None:
    source, target = e.scalar_type(op.operands[0]), e.scalar_type(op.results[0])

    def convert(a: str) -> str:
        if source == target:
            return a
        if source == "bool":
            return f"({target})({a} ? -1 : 0)"
        return f"({a} & 1) != 0" if target == "bool" else f"({target}){a}"

    e.elementwise(op.results[0], op.operands, convert)


@row("arith.index_castui", "arith.extui")
def _unsigned(e: Emitter, op: Operation) -> None:
    """Read at the source type's own width; an index held narrower than that is not negative there."""
    source, target = e.scalar_type(op.operands[0]), e.scalar_type(op.results[0])
    value = op.operands[0]
    exact = "long long" if e.ranges.bits(value) == 64 else source
    e.elementwise(
        op.results[0],
        op.operands,
        lambda a: f"({target})({UNSIGNED[exact]}){a}",
    )


@row("arith.fptosi", "arith.fptoui")
def _to_integer(e: Emitter, op: Operation) -> None:
    """Toward zero; values outside the target were clamped before."""
    source, target = e.scalar_type(op.operands[0]), e.scalar_type(op.results[0])
    signed = op.name == "arith.fptosi"
    through = "long long" if target == "long long" else "int"
    if not signed:
        through = UNSIGNED[through]
    e.elementwise(
        op.results[0],
        op.operands,
        lambda a: _integral(widen(e, source, a), through, target),
    )


def _integral(text: str, through: str, target: str) -> str:
    return f"({through}){text} != 0" if target == "bool" else f"({target})({through}){text}"


@row("arith.sitofp", "arith.uitofp")
def _to_float(e: Emitter, op: Operation) -> None:
    """Rounds once, to nearest even, also to the narrow types."""
    source, target = e.scalar_type(op.operands[0]), e.scalar_type(op.results[0])
    signed = op.name == "arith.sitofp"
    through = "long long" if source == "long long" else "int"
    if not signed:
        through = UNSIGNED[through]

    def convert(a: str) -> str:
        if source == "bool":
            text = f"({a} ? {'-1' if signed else '1u'} : {'0' if signed else '0u'})"
        else:
            text = f"({through})({UNSIGNED[source] if not signed else source}){a}"
        return narrow(e, text, target, through) if target in HALVES else f"({target}){text}"

    e.elementwise(op.results[0], op.operands, convert)


@row("arith.extf")
def _extend(e: Emitter, op: Operation) -> None:
    source, target = e.scalar_type(op.operands[0]), e.scalar_type(op.results[0])

    def convert(a: str) -> str:
        wide = widen(e, source, a)
        return wide if target == "float" else f"({target}){wide}"

    e.elementwise(op.results[0], op.operands, convert)


@row("arith.truncf")
def _round(e: Emitter, op: Operation) -> None:
    source, target = e.scalar_type(op.operands[0]), e.scalar_type(op.results[0])
    if target in HALVES:
        e.elementwise(op.results[0], op.operands, lambda a: narrow(e, a, target, source))
    else:
        e.elementwise(op.results[0], op.operands, lambda a: f"({target}){a}")


REINTERPRETED = {
    ("float", "int"): "__float_as_int({})",
    ("int", "float"): "__int_as_float({})",
    ("double", "long long"): "__double_as_longlong({})",
    ("long long", "double"): "__longlong_as_double({})",
    ("f16", "short"): "(short){}.bits",
    ("bf16", "short"): "(short){}.bits",
    ("short", "f16"): "f16{{(unsigned short){}}}",
    ("short", "bf16"): "bf16{{(unsigned short){}}}",
    ("f16", "bf16"): "bf16{{{}.bits}}",
    ("bf16", "f16"): "f16{{{}.bits}}",
}
"""The same bits under another type."""


@row("arith.bitcast")
def _bitcast(e: Emitter, op: Operation) -> None:
    source, target = e.scalar_type(op.operands[0]), e.scalar_type(op.results[0])
    form = "{}" if source == target else REINTERPRETED[source, target]
    e.elementwise(op.results[0], op.operands, lambda a: form.format(a))
