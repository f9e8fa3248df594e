"""Rows of the dialect `scf`: loops, branches, and copies under a condition."""

from __future__ import annotations

import re
from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from phobos_nb.cuda.emit import memory
from phobos_nb.cuda.emit.emitter import Emitter, Spelled
from phobos_nb.cuda.emit.table import row
from phobos_nb.cuda.intervals import INT32
from phobos_nb.cuda.reading import either, integer
from phobos_nb.cuda.reading import text as text_of

ORDERED = ("gpu.barrier", "nvgpu.", "gpu.shuffle", "phobos.", "nvvm.")
"""Operations by whose order a loop was shaped; the compiler is asked not to unroll such a loop again."""


@row("scf.for")
def _for(e: Emitter, op: Operation) -> None:
    lower, upper, step = op.operands[:3]
    block = op.regions[0].block
    counter, *carried = block.args
    _carry(e, op.operands[3:], carried, op.results)
    head = _head(e, counter, lower, upper, step)
    pragma = _unrolling(op)
    if pragma:
        e.line(pragma)
    with e.braces(head):
        e.block(block)
        _assign(e, carried, _last(block).operands)


def _carry(
    e: Emitter, initial: Sequence[SSAValue], carried: Sequence[SSAValue], results: Sequence[SSAValue]
) -> None:
    """One mutable variable for each carried value: argument of the body and result of the loop."""
    for start, argument, result in zip(initial, carried, results, strict=True):
        if argument.name_hint is None:
            argument.name_hint = result.name_hint
        e.declare(argument, e.text(start, e.ctype(argument)))
        e.bind(result, e.spelled(argument), owned=True)


def _head(e: Emitter, counter: SSAValue, lower: SSAValue, upper: SSAValue, step: SSAValue) -> str:
    """The loop's head, with a counter that cannot overflow on its way past the upper bound."""
    last, by = e.ranges.of(upper), e.ranges.of(step)
    natural = last.natural and e.ranges.of(lower).natural
    signed = last.hi - 1 + by.hi <= INT32.hi
    narrow = e.scalar_type(counter) == e.scalar_type(upper) == "int" and (signed or natural)
    ctype = "int" if narrow or e.ranges.bits(counter) == 32 else "long long"
    name = e.names.fresh(counter.name_hint)
    e.bind(counter, Spelled(name, ctype))
    start, stop, add = (e.text(x, ctype) for x in (lower, upper, step))
    if ctype == "int" and natural and not signed:
        stepped = f"{name} = (int)((unsigned){name} + (unsigned){add})"
        return f"for (int {name} = {start}; (unsigned){name} < (unsigned){stop}; {stepped})"
    return f"for ({ctype} {name} = {start}; {name} < {stop}; {name} += {add})"


def _unrolling(op: Operation) -> str:
    """`phobos.unroll` decides; without it a loop shaped by its barriers and copies is left as it is."""
    wanted = either(op, "phobos.unroll")
    if wanted is not None:
        factor = integer(wanted)
        return f"#pragma unroll {factor}" if factor else "#pragma unroll"
    shaped = any(x.name.startswith(ORDERED) for x in op.walk())
    return "#pragma unroll 1" if shaped else ""


def _last(block: Block) -> Operation:
    last = block.last_op
    assert last is not None
    return last


def _assign(e: Emitter, targets: Sequence[SSAValue], sources: Sequence[SSAValue]) -> None:
    """Assign all at once: a source that an earlier assignment would overwrite is kept first."""
    moves = [(e.text(t), e.text(s, e.ctype(t)), t) for t, s in zip(targets, sources, strict=True)]
    moves = [m for m in moves if m[0] != m[1]]
    for place, (name, text, target) in enumerate(moves):
        if any(_mentions(text, earlier[0]) for earlier in moves[:place]):
            kept = e.names.fresh(f"{name}_next")
            e.line(f"const {_plain(e.ctype(target))} {kept} = {text};")
            moves[place] = (name, kept, target)
    for name, text, _ in moves:
        e.line(f"{name} = {text};")


def _plain(ctype: str) -> str:
    """A pointer type with the `const` that stands in front of it binding to the pointer."""
    return f"{ctype} const" if ctype.endswith("*") else ctype


def _mentions(text: str, name: str) -> bool:
    return re.search(rf"\b{re.escape(name)}\b", text) is not None


@row("scf.if")
def _if(e: Emitter, op: Operation) -> None:
    if predicable(op):
        _predicated(e, op)
        return
    if _is_guarded_load(op):
        _guarded_load(e, op)
        return
    for result in op.results:
        e.declare(result)
    then, other = op.regions
    with e.braces(f"if ({e.text(op.operands[0])})", "}" if not _has_else(op) else "} else {"):
        _branch(e, op, then.block)
    if _has_else(op):
        e.depth += 1
        _branch(e, op, other.block)
        e.depth -= 1
        e.line("}")


def _is_guarded_load(op: Operation) -> bool:
    """Whether a branch only loads one element where the other yields a value known before."""
    if len(op.results) != 1:
        return False
    then, other = (list(region.block.ops) for region in op.regions)
    loads = len(then) == 2 and len(other) == 1 and then[0].name == "memref.load"
    return loads and then[1].operands[0] is then[0].results[0]


def _guarded_load(e: Emitter, op: Operation) -> None:
    """`condition ? A[i] : other`, which reads as the mask that it is."""
    load, other = op.regions[0].block.first_op, _last(op.regions[1].block).operands[0]
    result = op.results[0]
    assert load is not None
    own = e.ctype(result)
    element = memory.element(e, load.operands[0], load.operands[1:])
    if e.scalar_type(load.operands[0]) != own:
        element = f"({own}){element}"
    e.define(result, f"{e.text(op.operands[0])} ? {element} : {e.text(other, own)}")


def _has_else(op: Operation) -> bool:
    other = op.regions[1]
    return bool(other.blocks) and (len(list(other.block.ops)) > 1 or bool(op.results))


def _branch(e: Emitter, op: Operation, block: Block) -> None:
    e.block(block)
    for result, source in zip(op.results, _last(block).operands, strict=True):
        e.line(f"{e.text(result)} = {e.text(source, e.ctype(result))};")


COPY = "nvgpu.device_async_copy"


def predicable(op: Operation) -> bool:
    """Whether a branch holds only copies and pure arithmetic for them.

    Then the arithmetic is done always and each copy carries the condition: as a branch the compiler
    splits the loop around it, which cost up to 5 % of a GEMM. `phobos.guard` "branch" keeps it.
    """
    if text_of(op.attributes.get("phobos.guard")) == "branch":
        return False
    inner = [x.name for x in op.regions[0].block.ops]
    plain = all(n == COPY or n == "scf.yield" or n.startswith("arith.") for n in inner)
    return not op.results and plain and COPY in inner and not _has_else(op)


def _predicated(e: Emitter, op: Operation) -> None:
    outer, e.predicate = e.predicate, e.text(op.operands[0])
    if outer:
        raise NotImplementedError("copies under two conditions")
    e.block(op.regions[0].block)
    e.predicate = outer


@row("scf.while")
def _while(e: Emitter, op: Operation) -> None:
    """The first region decides in the middle of each round; its values go on or out."""
    before, after = (region.block for region in op.regions)
    for start, argument in zip(op.operands, before.args, strict=True):
        e.declare(argument, e.text(start, e.ctype(argument)))
    for result in op.results:
        e.declare(result)
    if any(x.name.startswith(ORDERED) for x in op.walk()):
        e.line("#pragma unroll 1")
    with e.braces("while (true)"):
        e.block(before)
        condition, *passed = _last(before).operands
        for result, source in zip(op.results, passed, strict=True):
            e.line(f"{e.text(result)} = {e.text(source, e.ctype(result))};")
        e.line(f"if (!{e.text(condition)}) break;")
        for argument, source in zip(after.args, passed, strict=True):
            e.bind(argument, e.spelled(source))
        e.block(after)
        _assign(e, before.args, _last(after).operands)
