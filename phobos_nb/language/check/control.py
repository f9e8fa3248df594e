"""Control flow: which statements run, and how that divides the threads."""

from __future__ import annotations

from collections.abc import Callable

from phobos_nb.dtypes import INDEX, DType
from phobos_nb.language.check.block import check_block, check_statements
from phobos_nb.language.check.checker import Checker
from phobos_nb.language.check.conversions import (
    common_dtype,
    converted,
    dtype_of,
    index_constant,
)
from phobos_nb.language.check.expressions import check_condition, check_scalar
from phobos_nb.language.check.flow import Loop, State, join
from phobos_nb.language.tree import (
    BreakStatement,
    ContinueStatement,
    Expression,
    ForStatement,
    IfStatement,
    ReturnStatement,
    WhileStatement,
)
from phobos_nb.language.typed import (
    Break,
    Constant,
    Continue,
    Expr,
    For,
    If,
    Return,
    Statement,
    Unary,
    Variable,
    While,
)
from phobos_nb.language.types import ScalarType, Uniformity
from phobos_nb.source import Span


def check_if(checker: Checker, node: IfStatement) -> None:
    """A branch; one on a constant is decided now, and what is not taken is not checked."""
    condition = check_condition(checker, node.condition, "the condition of `if`")
    if isinstance(condition, Constant):
        taken = node.then if condition.value else (node.otherwise or ())
        with checker.nested_scope():
            check_statements(checker, taken)
        return
    flow = checker.flow
    before = dict(flow.values)
    with flow.under(condition.uniformity, condition.span):
        then = check_block(checker, node.then)
        after_then = flow.values
        flow.values = before
        otherwise = check_block(checker, node.otherwise or ())
    flow.values = join(after_then, flow.values)
    checker.emit(If(condition=condition, then=then, otherwise=otherwise, span=node.span))


def check_for(checker: Checker, node: ForStatement) -> None:
    """A counted loop; its bounds meet in one integer dtype."""
    start, stop, step = _bounds(checker, node)
    trips = max(start.uniformity, stop.uniformity, step.uniformity)
    dtype = dtype_of(stop)
    variable = Variable(node.name.text, ScalarType(dtype), False, node.name.span)
    counter = max(start.uniformity, step.uniformity)

    def body() -> tuple[Statement, ...]:
        checker.flow.values[variable] = max(counter, checker.flow.level)
        with checker.nested_scope() as scope:
            scope.names[node.name.text] = variable
            return check_block(checker, node.body)

    statements = check_loop(checker, body, lambda: (trips, stop.span))
    checker.emit(
        For(
            variable=variable,
            start=start,
            stop=stop,
            step=step,
            body=statements,
            unroll=node.unroll or 1,
            span=node.span,
        )
    )


def _bounds(checker: Checker, node: ForStatement) -> tuple[Expr, Expr, Expr]:
    start = _bound(checker, node.start, 0, node)
    stop = _bound(checker, node.stop, 0, node)
    step = _bound(checker, node.step, 1, node)
    if isinstance(step, Constant) and step.value == 0:
        help = "without a step the loop counts up by 1"
        raise checker.error("PH116", "the step of a `range` is not 0", step.span, help)
    dtype = _loop_dtype(checker, (start, stop, step), node.span)
    return (
        converted(checker, start, dtype),
        converted(checker, stop, dtype),
        converted(checker, step, dtype),
    )


def _bound(checker: Checker, node: Expression | None, default: int, loop: ForStatement) -> Expr:
    if node is None:
        return index_constant(default, loop.span)
    bound = check_scalar(checker, node, "a bound of `range`")
    if not dtype_of(bound).is_integer:
        message = f"a bound of `range` is an integer, found {bound.type}"
        raise checker.error("PH104", message, bound.span, "convert it with `i32(...)`")
    return bound


def _loop_dtype(checker: Checker, bounds: tuple[Expr, Expr, Expr], span: Span) -> DType:
    """`index`, or i64 where a bound is: loop variables are never narrower."""
    index = index_constant(0, span)
    wide = [b for b in bounds if not isinstance(b, Constant)]
    out = INDEX
    for bound in wide:
        if dtype_of(bound) != INDEX and common_dtype(checker, bound, index, span).bits == 64:
            out = dtype_of(bound)
    return out


def check_while(checker: Checker, node: WhileStatement) -> None:
    """A loop whose condition is evaluated anew each time."""
    found: list[Expr] = []

    def condition() -> tuple[Uniformity, Span]:
        found[:] = [_loop_condition(checker, node, prologue)]
        return found[0].uniformity, node.condition.span

    prologue: list[Statement] = []

    def body() -> tuple[Statement, ...]:
        return check_block(checker, node.body)

    statements = check_loop(checker, body, condition)
    test = found[0]
    if isinstance(test, Constant) and not test.value:
        return
    if prologue:
        statements = (*prologue, _exit_unless(test), *statements)
        test = Constant(type=test.type, span=test.span, value=True)
    checker.emit(While(condition=test, body=statements, span=node.span))


def _loop_condition(checker: Checker, node: WhileStatement, prologue: list[Statement]) -> Expr:
    with checker.collect() as emitted:
        test = check_condition(checker, node.condition, "the condition of `while`")
    prologue[:] = emitted
    return test


def _exit_unless(test: Expr) -> If:
    """`if !test { break }`, for a condition that takes statements to compute."""
    negated = Unary(type=test.type, span=test.span, uniformity=test.uniformity, op="!", operand=test)
    return If(condition=negated, then=(Break(span=test.span),), span=test.span)


def check_loop(
    checker: Checker,
    body: Callable[[], tuple[Statement, ...]],
    trips: Callable[[], tuple[Uniformity, Span]],
) -> tuple[Statement, ...]:
    """Check a loop's body until what is known at its head holds for every iteration.

    `trips` says who agrees on going on, given the state at the head. Trial rounds leave no findings;
    the state only ever grows, so the rounds end.
    """
    flow = checker.flow
    head, parted, returned = dict(flow.values), Uniformity.CTA, flow.returned
    cause = flow.cause or Span(0, 0)
    while True:
        mark = checker.mark()
        flow.values, loop = dict(head), Loop(parted)
        with flow.under(parted, cause):
            level, cause = trips()
        after_condition = dict(flow.values)
        with flow.under(max(level, parted), cause), flow.inside(loop):
            statements = body()
        loop.broken = max(loop.broken, level)
        back = head
        for state in (flow.values, *loop.continues):
            back = join(back, state)
        if _holds(head, back) and loop.broken <= parted and flow.returned <= returned:
            break
        head, parted, returned = back, loop.broken, max(returned, flow.returned)
        checker.rewind(mark)
    flow.values = _exit_state(after_condition, back, loop)
    return statements


def _holds(head: State, back: State) -> bool:
    """Whether what was assumed at the head of the loop is still so at its end."""
    return all(back[variable] == uniformity for variable, uniformity in head.items())


def _exit_state(after_condition: State, back: State, loop: Loop) -> State:
    out = join(after_condition, back)
    for state in loop.exits:
        out = join(out, state)
    return out


_LEAVE = "`return` ends the kernel for the thread"


def check_break(checker: Checker, node: BreakStatement) -> None:
    """`break`."""
    if checker.flow.loop is None:
        raise checker.error("PH114", "`break` stands outside a loop", node.span, _LEAVE)
    checker.flow.leave_loop()
    checker.emit(Break(span=node.span))


def check_continue(checker: Checker, node: ContinueStatement) -> None:
    """`continue`."""
    if checker.flow.loop is None:
        raise checker.error("PH114", "`continue` stands outside a loop", node.span, _LEAVE)
    checker.flow.next_iteration()
    checker.emit(Continue(span=node.span))


def check_return(checker: Checker, node: ReturnStatement) -> None:
    """`return` of a kernel; those of functions have been resolved before."""
    if node.value is not None:
        message = "a kernel returns no value"
        raise checker.error("PH113", message, node.value.span, "store results to a tensor")
    checker.flow.leave_kernel()
    checker.emit(Return(span=node.span))
