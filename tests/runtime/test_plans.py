"""Launch plans: their plain form, the grids and scratch of a call, device output; no GPU is needed."""

import json

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.contract import (
    GridRule,
    GridTerm,
    Launch,
    LaunchContract,
    LaunchPlan,
    Output,
    ScalarParameter,
    Scratch,
    TensorParameter,
    Variant,
    entry_arguments,
    plan_from_plain,
    plan_to_plain,
    single_launch,
)
from phobos_nb.cuda.output_form import RECORDS
from phobos_nb.cuda.outputs import read_records, words_per_record
from phobos_nb.cuda.scratch import ScratchMemory

X = TensorParameter("X", "f32", ("N",))
Y = TensorParameter("Y", "f32", ("N",), writes=True)
PARTS = TensorParameter("parts", "f32", ("S", "N"), writes=True)
A = ScalarParameter("a", "f32")


def contract(name, parameters, axes=((), (), ()), outputs=()):
    variant = Variant(True, True, 64)
    arguments = entry_arguments(parameters, variant)
    rule = GridRule(axes)
    fixed = (128, 128, 0, False, variant, "sm_80")
    return LaunchContract(name, name, parameters, arguments, rule, *fixed, outputs=outputs)


def two_launches():
    split = contract("split", (X, PARTS), (((GridTerm("N", 128),), (GridTerm(4, 1),), ())))
    finish = contract("finish", (PARTS, Y, A), (((GridTerm("N", 256),), (), ())))
    scratch = Scratch("parts", "f32", (GridTerm(4, 1), GridTerm("N", 1)), clear=True)
    launches = (Launch(split), Launch(finish, "fix-up"))
    return LaunchPlan("k", (X, Y, A), launches, (scratch,))


def test_plans_survive_json():
    """A plan with two launches, scratch and outputs is the same after JSON."""
    printing = contract("p", (X,), outputs=(Output("x {}", 3, False, ("f32",)),))
    for plan in (two_launches(), single_launch(printing)):
        assert plan_from_plain(json.loads(json.dumps(plan_to_plain(plan)))) == plan


def test_grids_of_a_call():
    """The main launch takes the caller's grid, others their own rule; nothing runs for an empty one."""
    plan = two_launches()
    assert plan.main.kernel == "split"
    assert plan.grids((9, 4, 1), {"N": 1000}) == ((9, 4, 1), (4, 1, 1))
    assert plan.grids((0, 4, 1), {"N": 0}) == ((0, 0, 0), (0, 0, 0))


def test_scratch_is_described_as_an_array():
    """Extents are numbers of blocks, strides those of a C-contiguous array, in bytes."""
    memory = ScratchMemory(two_launches().scratch, {"N": 1000})
    parts = memory.described["parts"]
    assert (parts.shape, parts.strides, parts.dtype) == ((4, 1000), (4000, 4), "f32")


def records(*rows):
    return np.array(rows, np.uint64)


def bits(value):
    return int(np.float64(value).view(np.uint64))


PRINTS = contract(
    "p",
    (X,),
    outputs=(Output("x {} i {}", 3, False, ("f32", "i64")), Output("c:5: bad {}", 5, True, ("bool",))),
)


def test_output_is_ordered_by_cta_thread_and_ticket():
    """Values are written as NumPy writes their types; negative integers keep their sign."""
    held = records(
        [1, 0, 1, bits(0.5), 7],
        [0, 3, 1, bits(np.float32(0.1)), 2**64 - 2],
        [0, 3, 1, bits(np.inf), 0],
        [0, 1, 1, bits(1 / 3), 1],
    )
    shown = read_records(PRINTS, 4, held)
    assert shown.lines == ("x 0.33333334 i 1", "x 0.1 i -2", "x inf i 0", "x 0.5 i 7")
    assert shown.dropped == 0
    assert not shown.failures


def test_overflow_is_counted_and_a_failure_is_kept():
    """The last record belongs to failed assertions; unused, it says nothing."""
    held = np.zeros((RECORDS + 1, 5), np.uint64)
    held[:RECORDS, 2] = 1
    shown = read_records(PRINTS, RECORDS + 10, held)
    assert (len(shown.lines), shown.dropped, shown.failures) == (RECORDS, 10, ())
    held[RECORDS] = [2, 5, 2, 1, 0]
    (failure,) = read_records(PRINTS, RECORDS + 10, held).failures
    assert failure.message == "p: c:5: bad True (CTA 2, thread 5)"
    assert failure.code == "PH801"


PRINTING = """
kernel show(X: tensor<f32>[N]) {
  X[ctx.block.x * 64 :+ 64] = 1.0
  if ctx.thread < 2 {
    print("t {} of {}", ctx.thread, N)
  }
  assert N > 3, "too few"
}
"""


@pytest.mark.parametrize("debug", [False, True])
def test_places_that_print_are_in_the_contract(debug):
    """In order, with the line; assertions with debug alone; CUDA writes records and ends the thread."""
    found = ph.compile(PRINTING, name="cell").show.compile(chip="sm_80", debug=debug)
    places = [(o.text, o.line, o.fails) for o in found.contract.outputs]
    assert places[0] == ("t {} of {}", 5, False)
    assert places[1:] == ([("cell:7: assert failed: too few", 7, True)] if debug else [])
    words = words_per_record(found.contract.outputs)
    assert f"ph_output[{1 + (RECORDS + 1) * words}]" in found.cuda
    assert ("return;" in found.cuda) == debug
    assert "printf" not in found.cuda
    assert "ph_output" in found.ptx


SAME = """
kernel show(X: tensor<f32>[N], H: tensor<f16>[N], n: i64) {
  X[ctx.block.x * 64 :+ 64] = 1.0
  let i = ctx.thread
  if i < 3 {
    print("{{{}}} x {} h {} {}", i - 1, X[i] / 3.0, H[i], X[i] > 0.5)
  }
  print("100% of {}", n)
}
"""


def test_prints_look_the_same_on_the_cpu_and_in_the_simulator(capsys):
    """Both write values as NumPy writes scalars of their types, in the order of the threads."""
    kernel = ph.compile(SAME).show
    x, h = np.zeros(64, np.float32), np.arange(64, dtype=np.float16) / 10
    simulated = kernel.simulate(x, h, 2**40).printed
    kernel(x, h, 2**40)
    lines = capsys.readouterr().out.splitlines()
    assert sorted(simulated) == sorted(lines)
    assert "{-1} x 0.33333334 h 0.0 True" in lines
    assert "100% of 1099511627776" in lines
