"""Statements that tiles and threads have in common: declarations, assignments, branches, loops."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.fuzz import rules
from tests.fuzz.context import Context, Variable
from tests.fuzz.draw import Want, draw
from tests.fuzz.stores import safe_right
from tests.fuzz.values import (
    CTA,
    DTYPES,
    FLOATS,
    INDEX_LIMIT,
    LANE,
    Shape,
    Unfit,
    Value,
    integer,
    integer_range,
)

Body = Callable[[Context, int], None]
"""Writes the statements of a block, given how deep blocks may still nest."""


def tried(ctx: Context, write: Callable[[], None]) -> bool:
    """Write something as a whole or not at all; whether it was written."""
    marks, lines, tensors = len(ctx.marks), len(ctx.lines), len(ctx.tensors)
    scopes, indent, flow = [list(s) for s in ctx.scopes], ctx.indent, ctx.flow
    shared = list(ctx.shared)
    try:
        write()
    except Unfit:
        del ctx.marks[marks:], ctx.lines[lines:], ctx.tensors[tensors:]
        ctx.scopes, ctx.indent, ctx.flow, ctx.shared = scopes, indent, flow, shared
        return False
    return True


# Declarations ------------------------------------------------------------------------------------


def declare(ctx: Context, dtype: str, shape: Shape, level: int) -> None:
    """`let` or `var` of an expression, its type written or not."""
    value = draw(ctx, Want(dtype, shape, 2, level))
    mutable = ctx.chance(0.5) and dtype != "index" and (not value.error)
    name, keyword = ctx.fresh("v"), "var" if mutable else "let"
    written = ctx.tile_type(dtype, shape) if shape else ctx.spell(dtype)
    typed = dtype != "index" and ctx.chance(0.6)
    if mutable and value.constant:
        typed = True
    ctx.emit(f"{keyword} {name}{f': {written}' if typed else ''} = {value.text}")
    ctx.mark(f"{keyword}:{'tile' if shape else 'scalar'}:{dtype}")
    value = replace(value.named(name), level=max(value.level, level if mutable else 0))
    ctx.bind(_bounds(value) if mutable else value, mutable=mutable)


def _bounds(value: Value) -> Value:
    """The range that a variable keeps to: all of an integer's type, a wider one of a float."""
    if value.dtype == "bool":
        return value
    if value.dtype in FLOATS:
        value = replace(value, grain=None)
        bound = 2.0 ** max(3, int(value.magnitude).bit_length())
        return replace(value, low=-bound, high=bound, grain=None)
    return integer(value, *integer_range(value.dtype))


def zero(ctx: Context, dtype: str, shape: Shape, level: int) -> None:
    """A `var` that starts at zero because nothing is said."""
    name = ctx.fresh("z")
    ctx.emit(f"var {name}: {ctx.tile_type(dtype, shape) if shape else ctx.spell(dtype)}")
    ctx.mark("var:zero")
    ctx.bind(_bounds(Value(name, dtype, shape, grain=1, level=level)), mutable=True)


def guarded(ctx: Context, level: int) -> None:
    """A division that only runs where `&&` or `||` lets it."""
    dtype = ctx.pick(["i32", "i64", "i8", "u8"])
    divisor = draw(ctx, Want(dtype, (), 1, level))
    flow, ctx.flow = ctx.flow, LANE
    amount = draw(ctx, Want(dtype, (), 1, level))
    ctx.flow = flow
    if divisor.constant or divisor.low == divisor.high:
        raise Unfit
    name, kept = ctx.fresh("d"), ctx.fresh("q")
    ctx.emit(f"let {name} = {divisor.text}")
    op = ctx.pick("/%")
    own = ctx.flow
    text, joint = (f"{name} != 0", "&&") if ctx.chance(0.5) else (f"{name} == 0", "||")
    ctx.emit(f"let {kept} = {text} {joint} {amount.operand} {op} {name} > 1")
    level = max(divisor.level, amount.level, own)
    ctx.bind(Value(kept, "bool", low=0, high=1, grain=1, level=level))
    ctx.mark("short circuit")


def fill(ctx: Context, dtype: str, shape: Shape) -> None:
    """A tile of its own from a scalar."""
    value = draw(ctx, Want(dtype, (), 1, CTA), exact=True)
    name = ctx.fresh("t")
    ctx.emit(f"var {name}: {ctx.tile_type(dtype, shape)} = {value.text}")
    ctx.mark("var:filled tile")
    ctx.bind(_bounds(value.named(name).shaped(shape)), mutable=True)


# Assignments -------------------------------------------------------------------------------------


def assign(ctx: Context, level: int) -> None:
    """`=` or a compound assignment of a mutable variable."""
    options = [v for scope in ctx.scopes for v in scope if v.mutable and _assignable(v, level, ctx.flow)]
    target = ctx.pick(options).value
    if ctx.chance(0.6) and target.dtype != "bool":
        _compound(ctx, target)
        return
    value = draw(ctx, Want(target.dtype, target.shape, 2, target.level), exact=True)
    ctx.emit(f"{target.text} = {_kept(value, target).text}")
    ctx.mark("assign")


def _assignable(variable: Variable, level: int, flow: int) -> bool:
    value = variable.value
    return value.level >= flow and (level > CTA or value.level == CTA) and not (flow and value.shape)


def _kept(value: Value, target: Value) -> Value:
    """The value clamped to what the variable may hold."""
    if value.error or (value.special and not target.special):
        raise Unfit
    if value.dtype not in FLOATS or (value.low >= target.low and value.high <= target.high):
        return value
    if value.constant:
        raise Unfit
    return replace(value, text=f"min(max({value.text}, {target.low}), {target.high})")


def _compound(ctx: Context, target: Value) -> None:
    """`t op= e`; a float is clamped by a second assignment."""
    is_float = target.dtype in FLOATS
    op = ctx.pick("+-*" if is_float else ["+", "-", "*", "&", "|", "^", "<<", ">>", "/", "%"])
    shapes = [target.shape, ()] if target.shape else [()]
    right = draw(ctx, Want(target.dtype, ctx.pick(shapes), 1, target.level), exact=True)
    right = safe_right(ctx, op, right)
    result = rules.binary(op, target, right, target.dtype)
    if result.error or (result.special and not target.special):
        raise Unfit
    ctx.emit(f"{target.text} {op}= {right.text}")
    if is_float:
        ctx.emit(f"{target.text} = max(min({target.text}, {target.high}), {target.low})")
    ctx.mark(f"assign:{op}=")


# Control flow ------------------------------------------------------------------------------------


def condition(ctx: Context, level: int) -> Value:
    """A condition that may differ within `level`."""
    value = draw(ctx, Want("bool", (), 2, level))
    if value.constant:
        raise Unfit
    return value


def branch(ctx: Context, body: Body, depth: int, level: int) -> None:
    """`if`, with `else`, `else if` or without."""
    test = condition(ctx, level)
    form = ctx.pick(["if", "else", "else if"])
    kind, parted = "lane" if level else "CTA", test.level
    with ctx.block(f"if {test.text}", test.level):
        body(ctx, depth - 1)
    if form == "else if":
        flow, ctx.flow = ctx.flow, max(ctx.flow, test.level)
        other = condition(ctx, level)
        ctx.flow = flow
        ctx.lines[-1] += f" else if {other.text} {{"
        parted = max(parted, other.level)
        _rest(ctx, body, depth, parted)
    if form != "if":
        ctx.lines[-1] += " else {"
        _rest(ctx, body, depth, parted)
    ctx.mark(f"{form}:{kind}", f"nesting:{depth}")


def _rest(ctx: Context, body: Body, depth: int, level: int) -> None:
    """A block whose header stands on the line of the brace before."""
    header = ctx.lines.pop()
    with ctx.block(header.strip().removesuffix("{").strip(), level):
        body(ctx, depth - 1)


def loop(ctx: Context, body: Body, depth: int, level: int) -> None:
    """A `for` with a short range: up, down, by steps, unrolled, with run-time bounds."""
    name = ctx.fresh("i")
    header, low, high, own = _range(ctx, level)
    unroll = f"<unroll {ctx.pick([2, 4, 3])}> " if ctx.chance(0.2) else ""
    if unroll:
        ctx.mark("for:unroll")
    leaving = _leaving(ctx, level, name)
    with ctx.block(f"for {unroll}{name} in range({header})", max(own, leaving.level)):
        ctx.bind(Value(name, "index", low=low, high=high, grain=1, level=ctx.flow))
        leaving.write(ctx, first=True)
        body(ctx, depth - 1)
        leaving.write(ctx, first=False)
    ctx.mark(f"for:{'lane' if own else 'CTA'}", f"nesting:{depth}")


@dataclass(frozen=True)
class Leaving:
    """A `break` or `continue` planned for a loop. level: who may part by it."""

    word: str = ""
    test: str = ""
    first: bool = False
    level: int = CTA

    def write(self, ctx: Context, *, first: bool) -> None:
        """Write it, at the start or at the end of the body."""
        if self.word and first == self.first:
            ctx.emit(f"if {self.test} {{")
            ctx.emit(f"  {self.word}")
            ctx.emit("}")
            ctx.mark(f"{self.word}:{'lane' if self.level else 'CTA'}")


def _leaving(ctx: Context, level: int, name: str) -> Leaving:
    """Sometimes a `break` or `continue`, when the loop's variable has a value or on any condition."""
    if not ctx.chance(0.5):
        return Leaving()
    word, first = ctx.pick(["break", "continue"]), ctx.chance(0.5)
    if ctx.chance(0.5) or level == CTA:
        return Leaving(word, f"{name} == {ctx.rng.randrange(4)}", first)
    flow, ctx.flow = ctx.flow, level
    test = condition(ctx, level)
    ctx.flow = flow
    return Leaving(word, test.text, first, test.level)


def _range(ctx: Context, level: int) -> tuple[str, float, float, int]:
    form = ctx.pick(["count", "from", "step", "down", "run-time", "run-time", "empty"])
    ctx.mark(f"range:{form}")
    start, count, step = ctx.rng.randrange(-2, 4), ctx.rng.randrange(1, 5), ctx.pick([1, 2, 3, 5])
    if form == "count":
        return str(count), 0, count - 1, CTA
    if form == "from":
        return f"{start}, {start + count}", start, start + count - 1, CTA
    if form == "step":
        return f"{start}, {start + count * step - (step > 1)}, {step}", start, start + count * step, CTA
    if form == "down":
        return f"{start + count * step}, {start}, -{step}", start, start + count * step, CTA
    if form == "empty":
        return f"{start + 1}, {start}", start, start + 1, CTA
    bound = draw(ctx, Want("i32", (), 1, level))
    small = f"({bound.operand} & 3)"
    if ctx.chance(0.5):
        return small, 0, 2, bound.level
    return f"{small} + 1, -1, -1", 0, 4, bound.level


def repeat(ctx: Context, body: Body, depth: int, level: int) -> None:
    """A `while` that counts down from a small number, or goes on until it breaks."""
    name = ctx.fresh("n")
    start = draw(ctx, Want("i32", (), 1, level))
    ctx.emit(f"var {name}: i32 = {start.operand} & 3")
    form = ctx.pick(["counts", "breaks"])
    own = max(start.level, ctx.flow)
    more = ""
    if ctx.chance(0.3):
        flow, ctx.flow = ctx.flow, LANE
        test = condition(ctx, level)
        ctx.flow = flow
        own, more = max(own, test.level), f" && {test.operand}"
        ctx.mark("while:&&")
    ctx.bind(Value(name, "i32", low=-1, high=3, grain=1, level=own))
    leaving = _leaving(ctx, level, name) if own == CTA or level else Leaving()
    with ctx.block(
        f"while {name} > 0{more}" if form == "counts" else "while true", max(own, leaving.level)
    ):
        ctx.emit(f"{name} -= 1")
        if form == "breaks":
            ctx.emit(f"if {name} < 0 {{")
            ctx.emit("  break")
            ctx.emit("}")
        leaving.write(ctx, first=True)
        body(ctx, depth - 1)
        leaving.write(ctx, first=False)
    ctx.mark(f"while:{'lane' if own else 'CTA'}", f"while:{form}", f"nesting:{depth}")


# Output to people --------------------------------------------------------------------------------


def say(ctx: Context, level: int) -> None:
    """`print` of values whose bits everyone agrees on."""
    values = [
        draw(ctx, Want(ctx.pick(["i32", "u8", "i64", "bool", "i8"]), (), 1, level)) for _ in range(2)
    ]
    ctx.emit(f'print("a {{}} b {{}}", {", ".join(v.text for v in values)})')
    ctx.mark("print", f"print:{'lane' if level else 'CTA'}")


def claim(ctx: Context, level: int) -> None:
    """An `assert` that holds."""
    dtype = ctx.pick(["i32", "i64", "u8"])
    value = draw(ctx, Want(dtype, (), 1, level))
    ctx.emit(f'assert {value.operand} == {value.operand}, "equal to itself"')
    ctx.mark("assert")


def any_dtype(ctx: Context) -> str:
    """A type of values."""
    return ctx.pick(DTYPES)


def small(value: Value) -> bool:
    """Whether an index is far from overflowing."""
    return value.magnitude < INDEX_LIMIT / 4
