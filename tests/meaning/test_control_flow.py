"""Per-thread control flow: every thread sees its own loop, break, continue and return."""

from __future__ import annotations

import numpy as np
import pytest

from phobos_nb.diagnostics import PhobosError
from phobos_nb.dtypes import I32
from phobos_nb.language import typed
from tests.meaning.trees import (
    BREAK,
    CONTINUE,
    HERE,
    RETURN,
    THREAD,
    assign,
    binary,
    branch,
    compare,
    element,
    execute,
    get,
    integer,
    kernel,
    let,
    logical,
    loop,
    per_thread,
    shared,
    store,
    tensor,
    variable,
)

i, s, n = variable("i"), variable("s"), variable("n")


def add(amount: typed.Expr) -> typed.Assign:
    return assign(s, binary("+", get(s), amount))


def test_both_branches_run_for_their_threads() -> None:
    """`if` on the thread id runs each side for the threads it names, and joins them after it."""
    body = branch(compare("<", THREAD, integer(5)), (add(integer(1)),), (add(integer(2)),))
    assert per_thread(let(s, integer(0)), body, add(integer(10)), result=s) == [11] * 5 + [12] * 27


def test_break_leaves_only_the_threads_that_ran_it() -> None:
    """`break` per thread: thread t counts to min(t, 7), and all go on after the loop."""
    body = (branch(compare(">=", get(i), THREAD), (BREAK,)), add(integer(1)))
    out = per_thread(let(s, integer(0)), loop(i, 0, integer(7), body), add(integer(100)), result=s)
    assert out == [100 + min(t, 7) for t in range(32)]


def test_continue_skips_the_rest_of_one_iteration() -> None:
    """`continue` per thread: thread t adds all i but those equal to t."""
    body = (branch(compare("==", get(i), THREAD), (CONTINUE,)), add(get(i)))
    out = per_thread(let(s, integer(0)), loop(i, 0, integer(10), body), result=s)
    assert out == [45 - t if t < 10 else 45 for t in range(32)]


def test_return_ends_a_thread_inside_nested_loops() -> None:
    """`return` in an inner loop: the thread never comes back, the others finish both loops."""
    j = variable("j")
    leave = branch(
        logical("&&", compare("==", THREAD, integer(3)), compare("==", get(j), integer(1))), (RETURN,)
    )
    inner = loop(j, 0, integer(3), (leave, add(integer(1))))
    out = per_thread(let(s, integer(0)), loop(i, 0, integer(2), (inner,)), result=s)
    assert out == [-1 if t == 3 else 6 for t in range(32)]


def test_a_break_in_an_inner_loop_leaves_the_outer_one_alone() -> None:
    """`break` belongs to the innermost loop."""
    j = variable("j")
    inner = loop(j, 0, integer(4), (branch(compare("==", get(j), THREAD), (BREAK,)), add(integer(1))))
    out = per_thread(let(s, integer(0)), loop(i, 0, integer(3), (inner,)), result=s)
    assert out == [3 * min(t, 4) for t in range(32)]


def test_trip_counts_may_differ_by_thread() -> None:
    """A `range` bound or a `while` condition per thread gives each thread its own count."""
    counted = per_thread(let(s, integer(0)), loop(i, 0, THREAD, (add(integer(1)),)), result=s)
    condition = compare("<", binary("*", get(s), integer(2)), THREAD)
    spun = per_thread(
        let(s, integer(0)),
        typed.While(span=HERE, condition=condition, body=(add(integer(1)),)),
        result=s,
    )
    assert counted == list(range(32))
    assert spun == [(t + 1) // 2 for t in range(32)]


def test_a_negative_step_counts_down() -> None:
    """range(5, 0, -2) visits 5, 3, 1."""
    body = loop(
        i, 5, integer(0), (assign(s, binary("+", binary("*", get(s), integer(10)), get(i))),), step=-2
    )
    assert per_thread(let(s, integer(0)), body, result=s) == [531] * 32


def test_short_circuit_guards_the_right_side() -> None:
    """`&&` evaluates its right side only for the threads where the left holds."""
    guard = logical(
        "&&",
        compare("!=", THREAD, integer(0)),
        compare("==", binary("/", integer(31), THREAD), integer(1)),
    )
    out = per_thread(let(s, integer(0)), branch(guard, (add(integer(1)),)), result=s)
    assert out == [int(t > 15) for t in range(32)]


def test_faults_of_the_program_name_their_line() -> None:
    """Division by zero, an oversized shift, a zero step and a failed assert raise at their place."""
    wrong = {
        "PH802": let(s, binary("/", integer(1), THREAD)),
        "PH803": let(s, binary("<<", integer(1), integer(64))),
        "PH804": loop(i, 0, integer(3), (), step=0),
        "PH801": typed.Assert(span=HERE, condition=compare("<", THREAD, integer(9)), text="too far"),
    }
    for code, statement in wrong.items():
        with pytest.raises(PhobosError) as error:
            per_thread(let(s, integer(0)), statement, result=s)
        (found,) = error.value.diagnostics
        assert (found.code, found.span) == (code, HERE)
        assert "k.ph:2:1" in str(error.value)


def test_a_failed_assert_names_the_first_thread() -> None:
    """The message says which thread and CTA failed."""
    statement = typed.Assert(span=HERE, condition=compare("<", THREAD, integer(9)), text="too far")
    with pytest.raises(PhobosError, match=r"too far \(thread 9\), in CTA \(0, 0, 0\)"):
        per_thread(let(s, integer(0)), statement, result=s)


def test_shared_memory_is_read_and_written_per_thread() -> None:
    """Threads reverse an array through shared memory; an index outside it is a fault."""
    box, out = shared("box", (32,), I32), tensor("out", ("N",), I32)
    thread = typed.Convert(type=get(variable("x", I32)).type, span=HERE, operand=THREAD)
    back = binary("-", integer(31), THREAD)
    body = (store(box, THREAD, thread), store(out, THREAD, element(box, back)))
    array = np.zeros(32, np.int32)
    execute(kernel((out,), body, shared=(box,)), out=array)
    assert array.tolist() == list(range(31, -1, -1))
    outside = store(box, binary("+", THREAD, integer(1)), thread)
    with pytest.raises(PhobosError) as error:
        execute(kernel((out,), (outside,), shared=(box,)), out=array)
    (found,) = error.value.diagnostics
    assert found.code == "PH805"
    assert "box[32] lies outside the shared array `box`: shared<i32>[32] (thread 31)" in found.message
    assert "axis 0 takes 0 to 31" in found.help


def test_printing_happens_once_per_thread_or_once_per_cta() -> None:
    """Uniform operands print once; lines are ordered by CTA, thread and sequence."""
    once = typed.Print(span=HERE, text="cta {}", arguments=(integer(7),), once=True)
    each = typed.Print(span=HERE, text="thread {}", arguments=(THREAD,))
    body = (branch(compare("<", THREAD, integer(2)), (each, each)), once)
    result = execute(kernel((), body), grid=(2, 1, 1))
    per_cta = ["thread 0", "thread 0", "cta 7", "thread 1", "thread 1"]
    assert [p.text for p in result.printed] == per_cta * 2
    assert [p.block[0] for p in result.printed] == [0] * 5 + [1] * 5
