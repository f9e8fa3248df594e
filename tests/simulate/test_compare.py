"""Planted faults: the first wrong element, who wrote it, from what, and what kind of fault it is."""

import dataclasses

import numpy as np
import pytest

from phobos_nb.contract import GridRule, GridTerm
from phobos_nb.simulate import advice
from phobos_nb.simulate.compare import compare

TENSORS = [("x", "f32", False), ("y", "f32", True)]
SCALED = """
  %c64 = arith.constant 64 : index %c1 = arith.constant 1 : index %c3 = arith.constant 3 : index
  %c0 = arith.constant 0 : index %c63 = arith.constant 63 : index
  %two = arith.constant 2.0 : f32
  %at = arith.muli %b, %c64 : index
  %i = arith.addi %at, %t : index
  %end = arith.addi %nx, %c0 : index
  %p = arith.cmpi ult, %i, %end : index
  scf.if %p {
    %v = memref.load %x[%i] : memref<?xf32>
    %w = memref.load %y[%i] : memref<?xf32>
    %s = arith.mulf %v, %two : f32 loc("cell":3:9)
    %r = arith.addf %s, %w : f32 loc("cell":3:5)
    memref.store %r, %y[%i] : memref<?xf32> loc("cell":3:1)
  }
"""
THROUGH_SHARED = """
  %c64 = arith.constant 64 : index %c0 = arith.constant 0 : index %c63 = arith.constant 63 : index
  %two = arith.constant 2.0 : f32
  %m = memref.view %smem[%c0][] : memref<256xi8, S> to memref<64xf32, S>
  %o = arith.subi %c63, %t : index
  %at = arith.muli %b, %c64 : index
  %i = arith.addi %at, %t : index
  %j = arith.addi %at, %o : index
  %v = memref.load %x[%i] : memref<?xf32>
  memref.store %v, %m[%t] : memref<64xf32, S>
  "gpu.barrier"() : () -> ()
  %u = memref.load %m[%o] : memref<64xf32, S>
  %w = memref.load %y[%j] : memref<?xf32>
  %s = arith.mulf %u, %two : f32
  %r = arith.addf %s, %w : f32
  memref.store %r, %y[%j] : memref<?xf32>
"""


def differences(make, text, n=200, grid=None, **options):
    """Simulate `y = 2 x + y` as a text does it and compare it with NumPy."""
    k = make(text, TENSORS, shared=256)
    rule = GridRule(axes=((GridTerm("ny", 64),), (), ()))
    contract = dataclasses.replace(k.contract, grid=rule)
    rng = np.random.default_rng(n)
    x, y = rng.standard_normal((2, n)).astype(np.float32)
    result = k.run(grid=grid or (-(-n // 64), 1, 1), x=x, y=y, **options)
    return compare(result, {"y": 2 * x + y}, contract), result


PLANTED = {
    "mask too narrow": ("tail", SCALED, ("arith.addi %nx, %c0", "arith.subi %nx, %c3"), {}),
    "whole tiles only": (
        "tail",
        SCALED,
        ("%end = arith.addi %nx, %c0", "%q = arith.divui %nx, %c64 : index %end = arith.muli %q, %c64"),
        {},
    ),
    "grid too small": ("not written", SCALED, ("", ""), {"grid": (2, 1, 1), "n": 256}),
    "result stored one further": (
        "wrong index",
        SCALED,
        ("memref.store %r, %y[%i]", "%k = arith.xori %i, %c1 : index memref.store %r, %y[%k]"),
        {"n": 256},
    ),
    "result stored backwards": (
        "wrong index",
        SCALED,
        ("memref.store %r, %y[%i]", "%k = arith.xori %i, %c63 : index memref.store %r, %y[%k]"),
        {"n": 256},
    ),
    "minus for plus": ("wrong operation", SCALED, ("arith.addf %s", "arith.subf %s"), {}),
    "plus for times": ("wrong operation", SCALED, ("arith.mulf %v", "arith.addf %v"), {}),
    "wrong factor": ("wrong operation", SCALED, ("arith.constant 2.0", "arith.constant 3.0"), {}),
    "rounded to f16": (
        "rounding",
        SCALED,
        (
            "%r = arith.addf %s, %w",
            "%h = arith.truncf %s : f32 to f16 %e = arith.extf %h : f16 to f32 %r = arith.addf %e, %w",
        ),
        {},
    ),
    "no barrier": ("race", THROUGH_SHARED, ('"gpu.barrier"() : () -> ()', ""), {"n": 256, "seed": 3}),
    "shared memory not written": (
        "memory",
        THROUGH_SHARED,
        (
            "memref.store %v, %m[%t]",
            "%one = arith.constant 1 : index %h = arith.cmpi ult, %t, %one : index "
            "scf.if %h { memref.store %v, %m[%t] : memref<64xf32, S> } //",
        ),
        {"n": 256},
    ),
    "writes outside": (
        "memory",
        SCALED,
        ("memref.store %r, %y[%i]", "%k = arith.subi %i, %c64 : index memref.store %r, %y[%k]"),
        {"n": 256},
    ),
}


def test_the_unchanged_kernels_agree(make):
    """Without a planted fault nothing differs, on whole and on partial tiles."""
    assert differences(make, SCALED)[0] == []
    assert differences(make, THROUGH_SHARED, n=256)[0] == []


@pytest.mark.parametrize("name", PLANTED)
def test_a_planted_fault_is_named(make, name):
    """The kind of each planted fault is what was planted."""
    kind, text, (old, new), options = PLANTED[name]
    assert old in text
    (found,), _ = differences(make, text.replace(old, new, 1) if old else text, **options)
    assert found.kind == kind, str(found)
    assert found.wrong > 0
    assert found.tensor == "y"


@pytest.mark.parametrize("name", [n for n, planted in PLANTED.items() if planted[0] == "memory"])
def test_a_fault_is_told_with_what_mends_it(make, name):
    """A verdict of kind "memory" ends with the help of the fault, as that of a race does."""
    _, text, (old, new), options = PLANTED[name]
    (found,), result = differences(make, text.replace(old, new, 1), **options)
    fault = result.faults[0]
    assert found.explanation == f"{fault}. {advice.FAULTS[fault.kind]}"


def test_the_writer_and_its_operands(make):
    """The first wrong element's CTA, thread, lane and line, and the values that were added."""
    text = SCALED.replace("arith.mulf %v", "arith.addf %v")
    (found,), result = differences(make, text)
    writer = found.writer
    assert (found.index, writer.cta, writer.thread, writer.place.line) == ((0,), (0, 0, 0), 0, 3)
    assert result.writer("y", (130,)).cta == (2, 0, 0)
    _, probed = differences(make, text, probe=("y", (130,)))
    rng = np.random.default_rng(200)
    x, y = rng.standard_normal((2, 200)).astype(np.float32)
    shown = {(o.depth, o.op): o.value for o in probed.operands}
    assert shown[0, "arith.addf"] == x[130] + np.float32(2) + y[130]
    assert shown[2, "memref.load"] == x[130]
    assert "line 3" in str(probed.operands[0])


SCALE = """
kernel scale(X: tensor<f32>[N], Y: tensor<f32>[N]) {
    let i = ctx.block.x * 64
    Y[i :+ 64] = X[i :+ 64] * 2.0 + Y[i :+ 64]
}
"""


def test_a_kernel_compares_itself():
    """`compare` of a kernel takes what it means as the right answer, or the caller's."""
    import phobos_nb as ph

    scale = ph.compile(SCALE, chip="sm_80").scale
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    assert scale.compare(x, y) == []
    assert scale.compare(x, y, seed=2, ref={"Y": 2 * x + 1}) == []
    wrong = 2 * x + 1
    wrong[70] = 0
    (found,) = scale.compare(x, y, ref={"Y": wrong})
    assert (found.tensor, found.index, found.writer.cta) == ("Y", (70,), (1, 0, 0))


def test_a_kernel_takes_the_options_of_the_simulator():
    """Chosen CTAs and traces are reached through the kernel."""
    import phobos_nb as ph

    scale = ph.compile(SCALE, chip="sm_80").scale
    result = scale.simulate(np.ones(100, np.float32), np.zeros(100, np.float32), ctas=[1], trace=1)
    assert result.outputs["Y"].tolist() == [0] * 64 + [2] * 36
    assert {e.cta for e in result.trace} == {(1, 0, 0)}


def test_a_difference_has_what_it_was_computed_from():
    """The operands of the first wrong element, of a masked vector too, are there and printed."""
    import phobos_nb as ph

    scale = ph.compile(SCALE, chip="sm_80").scale
    x, y = np.arange(100, dtype=np.float32), np.ones(100, np.float32)
    wanted = 2 * x + 1
    wanted[70:] = 0
    (found,) = scale.compare(x, y, ref={"Y": wanted})
    assert found.index == (70,)
    values = {o.op: np.ravel(o.value) for o in found.operands}
    assert 2 * x[70] + 1 in values["arith.addf"]
    assert 2 * x[70] in values["arith.mulf"]
    assert "arith.addf (line 4) = " in str(found)


def test_a_difference_has_the_step_of_its_store():
    """`step` is the store's place in the trace of its CTA, whatever ran before it."""
    import phobos_nb as ph

    kernel = ph.load("examples/softmax.ph").softmax
    x = np.random.default_rng(1).standard_normal((40, 300), np.float32)
    y = np.zeros_like(x)
    wanted = {"Y": np.asarray(kernel.simulate(x, y).outputs["Y"]).copy()}
    wanted["Y"][37, 290] = 7
    (found,) = kernel.compare(x, y, ref=wanted)
    assert found.writer is not None
    assert found.step is not None
    trace = kernel.simulate(x, y, ctas=[found.writer.cta[0]], trace=1).trace
    event = trace[found.step]
    assert (event.kind, event.place, event.cta) == ("store", found.writer.place, found.writer.cta)
    at = event.addresses[event.threads.index(found.writer.thread)]
    byte = 4 * (37 * 300 + 290)
    assert at <= byte < at + event.bytes
    assert f", step {found.step} of its CTA" in str(found)


def test_rounding_in_the_source_is_no_tail():
    """Sums in another order round otherwise here and there: still the source means the wrong values."""
    import phobos_nb as ph

    gemm = ph.compile(
        """
@launch(128)
kernel g(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var acc: tile<f32>[32, 32] = 0.0
  for k in range(0, K, 8) {
    acc += dot(A[ctx.block.x * 32 :+ 32, k :+ 8], B[k :+ 8, ctx.block.y * 32 :+ 32])
  }
  C[ctx.block.x * 32 :+ 32, ctx.block.y * 32 :+ 32] = f32(f16(acc))
}
""",
        chip="sm_80",
    ).g
    rng = np.random.default_rng(1)
    a, b = rng.random((50, 37), np.float32), rng.random((37, 61), np.float32)
    (found,) = gemm.compare(
        a, b, np.zeros((50, 61), np.float32), ref=lambda given: {"C": given["A"] @ given["B"]}
    )
    assert found.kind == "rounding", str(found)


def test_infinite_results_read_no_other_elements():
    """Where all is infinite, an operand that does not matter is not taken for one that does."""
    import phobos_nb as ph

    kernel = ph.compile(
        "kernel k(X: tensor<f32>[N], Y: tensor<f32>[N]) {\n"
        "  let i = ctx.block.x * 256 + ctx.thread\n  Y[i] = X[i] / (X[i] - X[i])\n}\n",
        chip="sm_80",
    ).k
    x = np.random.default_rng(1).random(700, dtype=np.float32) + 1
    (found,) = kernel.compare(x, np.zeros(700, np.float32), ref=lambda given: {"Y": given["X"]})
    assert found.kind == "wrong operation", str(found)
