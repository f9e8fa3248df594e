"""Statements that read an element and write it again, such as `H[v] = H[v] + 1`.

Where several threads have one element, no barrier makes that right: each writes what it alone added.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from phobos_nb.language.tree import (
    Along,
    At,
    CallExpression,
    CallStatement,
    Declare,
    Expression,
    Float,
    Infix,
    Integer,
    Name,
    Prefix,
    Program,
    Subscripted,
    Update,
)
from phobos_nb.language.tree_walk import nodes
from phobos_nb.simulate.records import Race
from phobos_nb.simulate.text_paths import TextPath, common_depth, line_of, with_block

ATOMICS = {"+": "atomic_add", "-": "atomic_add", "max": "atomic_max", "min": "atomic_min"}


def together(
    program: Program,
    read: TextPath,
    write: TextPath,
    race: Race,
    takes: Callable[[Program], bool],
) -> str:
    """What makes an element that several threads read and write again right; empty of other races.

    read, write: the statements, one and the same or two of one block. takes: whether the checker takes
    a changed program.
    """
    update = write.node
    if not isinstance(update, Update) or not isinstance(update.target, Subscripted):
        return ""
    if common_depth(read, write) != len(write.steps) - 1 or len(read.steps) != len(write.steps):
        return ""
    target = update.target
    found = _whole(update) if read == write else _from_variable(read, update)
    if found is None or (read == write and not _meets(program, race, update)):
        return ""
    line = line_of(program, update)
    start = f"in line {line} several threads read one element of `{target.base.text}` and write it again"
    if race.tensor == "shared":
        return f"{start}: let one thread do it, or use an atomic on a tensor, as shared arrays have none"
    call = _atomic(target, found)
    if call is None or not takes(_instead(program, write, call)):
        return f"{start}, which no barrier makes right: let one thread do it, or use an atomic"
    text = f"{call.callee.text}({target.base.text}, ..)"
    if all(isinstance(s, At) for s in target.subscripts):
        text = _text(program, call, found[1])
    return f"{start}, which no barrier makes right: use `{text}`"


Operation = tuple[str, Expression]
"""What is done to the element, and with what."""


def _whole(update: Update) -> Operation | None:
    """What `H[v] += x` or `H[v] = H[v] + x` does."""
    if update.op:
        return update.op, update.value
    return _done_to(update.value, update.target)


def _from_variable(read: TextPath, update: Update) -> Operation | None:
    """What `let o = H[v]` and `H[v] = o + x` do."""
    node = read.node
    if not isinstance(node, Declare) or node.value != update.target or update.op:
        return None
    return _done_to(update.value, Name(node.name.text))


def _done_to(value: Expression, old: Expression) -> Operation | None:
    if isinstance(value, Infix) and value.left == old:
        return value.op, value.right
    if isinstance(value, Infix) and value.right == old and value.op != "-":
        return value.op, value.left
    if isinstance(value, CallExpression) and len(value.arguments) == 2 and old in value.arguments:
        one, other = value.arguments
        return value.callee.text, other if one == old else one
    return None


def _meets(program: Program, race: Race, update: Update) -> bool:
    """Whether the race is of the element itself, not of another one that the statement reads.

    Of several readers the race names the last, which may be the writer itself: that tells nothing.
    """
    if race.several and race.first_thread == race.second_thread and _reads(update) > 1:
        return False
    load = race.first if race.kind == "write after read" else race.second
    if race.kind == "write after write":
        return True
    target = update.target
    if update.op and _reads(update) == 1:
        return True
    offset = program.source.offset(load.line, load.column)
    text = program.source.text
    end = offset + (target.span.stop - target.span.start)
    return text[offset:end] == text[target.span.start : target.span.stop]


def _reads(update: Update) -> int:
    """How many elements of its target's array a statement reads."""
    base = cast(Subscripted, update.target).base
    read = sum(isinstance(n, Subscripted) and n.base == base for n in nodes(update.value))
    return read + bool(update.op)


def _atomic(target: Subscripted, found: Operation) -> CallExpression | None:
    name = ATOMICS.get(found[0])
    if name is None:
        return None
    value = Prefix("-", found[1]) if found[0] == "-" else found[1]
    starts: list[Expression] = []
    for subscript in target.subscripts:
        match subscript:
            case At(index=start) | Along(start=start, until=None):
                starts.append(start)
            case _:
                return None
    return CallExpression(Name(name), (Name(target.base.text), *starts, value))


def _instead(program: Program, write: TextPath, call: CallExpression) -> Program:
    depth = len(write.steps) - 1
    step = write.steps[depth]
    block = (*step.block[: step.index], CallStatement(call), *step.block[step.index + 1 :])
    return with_block(program, write, depth, block)


def _text(program: Program, call: CallExpression, operand: Expression) -> str:
    """The call as one writes it; operand: what is added, or taken away."""
    text = program.source.text
    *places, last = call.arguments
    shown = text[operand.span.start : operand.span.stop]
    written = [p.text if isinstance(p, Name) else text[p.span.start : p.span.stop] for p in places]
    if last is not operand:
        shown = f"-{shown}" if isinstance(operand, Name | Integer | Float) else f"-({shown})"
    return f"{call.callee.text}({', '.join([*written, shown])})"
