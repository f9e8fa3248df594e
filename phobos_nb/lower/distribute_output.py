"""`print` and `assert` per thread: device output, and a trap where a checked condition is false."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from string import Formatter

from xdsl.dialects.builtin import IndexType, IntegerType, StringAttr, f64, i32, i64
from xdsl.ir import SSAValue

from phobos_nb.ir.dialects import gpu, tile
from phobos_nb.ir.dialects.llvm import ASSERTED, TrapOp
from phobos_nb.ir.dialects.shapes import is_float
from phobos_nb.ir.locations import place_of
from phobos_nb.lower.thread_state import ThreadState
from phobos_nb.source import shown_name

TEXT = "phobos.text"
"""Attribute of `gpu.printf`: the text as the author wrote it, with `{}` for each argument."""

TYPES = "phobos.types"
"""Attribute of `gpu.printf`: the types of the values before they were widened, such as `f32 bool`."""


def distribute_print(state: ThreadState, op: tile.PrintOp) -> None:
    """One line of output; by one thread where it happens once."""
    arguments = [state.get(a) for a in op.arguments]
    state.b.when(_once(state, op.once), partial(_printf, state, op.text.data, arguments))


def distribute_assert(state: ThreadState, op: tile.AssertOp) -> None:
    """With debug: where the condition is false, say so and trap."""
    if not state.debug:
        return
    place = place_of(op)
    where = f"{shown_name(place.name)}:{place.line}: " if place else ""
    where = where.replace("{", "{{").replace("}", "}}")
    arguments = [state.get(a) for a in op.arguments]

    def fail() -> None:
        _printf(state, f"{where}assert failed: {op.text.data}", arguments)
        trap = state.b.insert(TrapOp())
        trap.attributes[ASSERTED] = StringAttr(op.text.data)

    broken = state.b.negate_i1(state.get(op.condition))
    state.b.when(state.both(_once(state, op.once), broken), fail)


def _once(state: ThreadState, once: object) -> SSAValue | None:
    return None if once is None else state.b.cmpi("eq", state.thread, state.b.index(0))


def _printf(state: ThreadState, text: str, arguments: Sequence[SSAValue]) -> None:
    """C's format with arguments widened to what a variadic call takes."""
    passed = [_widened(state, a) for a in arguments]
    forms = iter([form for _, form in passed])
    whole = ""
    for piece, hole, _, _ in Formatter().parse(text):
        whole += piece.replace("%", "%%") + ("" if hole is None else next(forms))
    output = state.b.insert(gpu.PrintfOp(f"{whole}\n", [v for v, _ in passed]))
    output.attributes[TEXT] = StringAttr(text)
    output.attributes[TYPES] = StringAttr(" ".join(_type_name(a) for a in arguments))


def _type_name(value: SSAValue) -> str:
    """The language's name of what is printed."""
    if isinstance(value.type, IndexType):
        return "i64"
    return "bool" if value.type == IntegerType(1) else str(value.type)


def _widened(state: ThreadState, value: SSAValue) -> tuple[SSAValue, str]:
    if is_float(value.type):
        return state.b.extf(value, f64), "%g"
    if isinstance(value.type, IndexType):
        return state.b.index_cast(value, i64), "%lld"
    if value.type == i64:
        return value, "%lld"
    if value.type == IntegerType(1):
        return state.b.extui(value, i32), "%d"
    return state.b.extsi(value, i32), "%d"
