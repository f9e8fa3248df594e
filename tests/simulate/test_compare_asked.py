"""What `compare` takes as the right answer, and that it proposes no change that a fault explains."""

import numpy as np
import pytest

import phobos_nb as ph

SUM = """
kernel k(X: tensor<f32>[M, 64], Y: tensor<f32>[M]) {
  let i = ctx.block.x * 8
  Y[i :+ 8] = flat(rowsum(X[i :+ 8, :]))
}
"""
COUNT = """
@launch(128)
kernel k(X: tensor<i32>[N], H: tensor<i32>[64]) {
  let i = ctx.block.x * 128 + ctx.thread
  if i < N {
    let b = X[i]
    H[b] = H[b] + 1
  }
}
"""
TWO = """
kernel k(X: tensor<f32>[N], Y: tensor<f32>[N], Z: tensor<f32>[N]) {
  let i = ctx.block.x * 32
  Y[i :+ 32] = X[i :+ 32]
  Z[i :+ 32] = X[i :+ 32]
}
"""


def summed():
    """The kernel of one output and its arguments."""
    x = np.random.default_rng(0).standard_normal((20, 64)).astype(np.float32)
    return ph.compile(SUM)["k"], x, np.zeros(20, np.float32)


@pytest.mark.parametrize("function", [False, True])
def test_of_one_output_the_bare_array_will_do(function):
    """An array, and a function that returns one, are those of the only output, right or wrong."""
    kernel, x, y = summed()
    right = (lambda given: given["X"].sum(1)) if function else x.sum(1)
    wrong = (lambda given: given["X"].sum(1) + 1) if function else x.sum(1) + 1
    assert not kernel.compare(x, y, ref=right)
    assert [d.tensor for d in kernel.compare(x, y, ref=wrong)] == ["Y"]


def test_a_function_of_other_arguments_is_refused_with_how_to_write_it():
    """PH715 says that it gets one dict, and shows the outputs by name."""
    kernel, x, y = summed()
    for ref in (lambda: 0, lambda X, Y: X.sum(1)):
        with pytest.raises(ph.PhobosError) as caught:
            kernel.compare(x, y, ref=ref)
        (found,) = caught.value.diagnostics
        assert found.code == "PH715"
        assert "one dict, the arguments by name" in str(caught.value)
        assert '{"Y": ...}' in str(caught.value)
        assert 'given["X"]' in str(caught.value)


@pytest.mark.parametrize("given", [0, None, (np.zeros(32), np.zeros(32)), np.zeros(32)])
def test_of_two_outputs_names_are_wanted(given):
    """PH715 shows the dict to write."""
    x, y, z = np.zeros((3, 32), np.float32)
    with pytest.raises(ph.PhobosError, match=r'PH715.*\{"Y": \.\.\., "Z": \.\.\.\}'):
        ph.compile(TWO)["k"].compare(x, y, z, ref=lambda _: given)


def test_what_the_function_raises_is_its_own_with_a_note():
    """A `KeyError` of the reference stays one, and a note says where it comes from."""
    kernel, x, y = summed()
    with pytest.raises(KeyError) as caught:
        kernel.compare(x, y, ref=lambda given: given["Q"])
    assert "`ref`" in caught.value.__notes__[0]
    assert "X, Y" in caught.value.__notes__[0]


def test_no_change_is_proposed_for_values_that_a_race_made():
    """With every bin hit twice `+ 2` fits the values that are right, and the race stays."""
    x = np.tile(np.arange(64, dtype=np.int32), 2)
    ref = {"H": np.full(64, 2, np.int32)}
    (found,) = ph.compile(COUNT)["k"].compare(x, np.zeros(64, np.int32), ref=ref, grid=1)
    assert found.kind == "race"
    assert found.change is None
    assert found.candidates == ()


def test_a_change_that_removes_the_race_too_is_told():
    """Threads that write into another's place race; the index that is right does not."""
    text = """
@launch(64)
kernel k(X: tensor<f32>[64], Y: tensor<f32>[64]) {
  let t = ctx.thread
  Y[t / 2] = X[t]
}
"""
    x = np.random.default_rng(0).standard_normal(64).astype(np.float32)
    (found,) = ph.compile(text)["k"].compare(x, np.zeros(64, np.float32), ref={"Y": x}, grid=1)
    assert found.kind == "race"
    assert found.change.line == 5
    assert found.candidates[0].endswith("and without a race or a fault")


def test_roundings_are_counted_in_the_type_that_the_source_has():
    """A product of bf16 numbers is off by roundings to bf16, whatever the number of them."""
    text = """
kernel k(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  let i = ctx.block.y * 16
  let j = ctx.block.x * 16
  var s: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    s += dot(f32(bf16(A[i :+ 16, k :+ 16])), f32(bf16(B[k :+ 16, j :+ 16])))
  }
  C[i :+ 16, j :+ 16] = s
}
"""
    a, b = np.random.default_rng(0).standard_normal((2, 32, 32)).astype(np.float32)
    (found,) = ph.compile(text)["k"].compare(a, b, np.zeros_like(a), ref=a @ b)
    assert found.kind == "rounding"
    assert "roundings to bf16" in found.explanation
    assert "f16 " not in found.explanation.replace("bf16 ", "")


def test_a_reference_of_another_function_is_named_as_a_candidate():
    """Where no change of the kernel gives what is wanted, the reference may be what is wrong."""
    kernel, x, y = summed()
    (found,) = kernel.compare(x, y, ref=np.sin(x).sum(1) * 3 + np.arange(20))
    assert not found.certain
    assert any("`ref`" in candidate for candidate in found.candidates)


SEGMENTS = """
kernel k(X: tensor<f32>[N], S: tensor<i32>[L], Y: tensor<f32>[N]) {
  let end = S[ctx.block.x + 1]
  for i in range(S[ctx.block.x], end, 32) {
    Y[i :+ 32 %s] = %s
  }
}
"""


@pytest.mark.parametrize("function", [True, False])
@pytest.mark.parametrize(
    ("value", "right"),
    [
        ("X[i :+ 32 until end] * 2.0", lambda g: {"Y": g["X"] * 2}),
        ("flat(cumsum(transpose(X[i :+ 32 until end]))) + f32(end)", None),
    ],
)
def test_a_store_that_lost_its_end_is_told_by_the_change(value, right, function):
    """The CTAs' order decides the values, and one change parts them: the end that the read has."""
    x = np.random.default_rng(0).standard_normal(200).astype(np.float32)
    segments = np.array([0, 37, 90, 91, 200], np.int32)
    good, bad = (ph.compile(SEGMENTS % (end, value)).k for end in ("until end", ""))
    arrays = (x, segments, np.zeros(200, np.float32))
    ref = right({"X": x}) if right else {"Y": good.simulate(*arrays, grid=4).outputs["Y"]}
    ref = right if right and function else ref
    (found,) = bad.compare(*arrays, ref=ref, grid=4)
    assert (found.kind, found.lines[0]) == ("race", 5)
    assert (found.change.was, found.change.should) == ("Y[i :+ 32]", "Y[i :+ 32 until end]")
    assert found.candidates == (
        "line 5: right with `Y[i :+ 32 until end]` in place of `Y[i :+ 32]`, and without a race or a "
        "fault",
    )
    assert not good.compare(*arrays, ref=ref, grid=4)
