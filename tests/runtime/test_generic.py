"""Generic kernels: dtypes from the arrays of a call, ints and bools from defaults or the caller."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.cli import main
from phobos_nb.cli.options import constant
from phobos_nb.diagnostics import PhobosError
from phobos_nb.dtypes import F32
from tests.examples.case import EXAMPLES

TEXT = """\
@autotune(TILE in [256, 2048])
kernel scale<T: dtype = f16, TWICE: bool = false>(X: tensor<T>[N], Y: tensor<T>[N], a: f32) {
  let i = ctx.block.x * TILE
  let x = X[i :+ TILE]
  if TWICE {
    Y[i :+ TILE] = 2.0 * a * x
  } else {
    Y[i :+ TILE] = a * x
  }
}
"""
DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "i32": np.int32,
}


def kernel(**settings) -> ph.Kernel:
    return ph.compile(TEXT, **settings).scale


def codes(error: pytest.ExceptionInfo[PhobosError]) -> list[str]:
    return [d.code for d in error.value.diagnostics]


@pytest.mark.parametrize("name", DTYPES)
def test_a_call_takes_the_dtype_of_its_arrays(name: str) -> None:
    """Calls, bound calls and simulations of one kernel on arrays of each dtype, bf16 by ml_dtypes."""
    scale = kernel()
    x = np.arange(300).astype(DTYPES[name]) % DTYPES[name](50)
    y = np.zeros_like(x)
    scale(x, y, 2.0)
    assert np.array_equal(y, x + x)
    y[:] = 0
    scale.bind(x, Y=y, a=2.0)()
    assert np.array_equal(y, x + x)
    found = scale.simulate(x, y, 1.0).outputs["Y"]
    assert found.dtype == x.dtype
    assert np.array_equal(found, x)


def test_a_dtype_met_before_is_not_compiled_again() -> None:
    """Two calls with equal dtypes are of one specialised kernel, by position and by name."""
    scale = kernel()
    x, y = np.ones(4, np.float32), np.ones(4, np.float32)
    first = scale.for_call((x, y, 1.0), {})
    assert scale.for_call((y.copy(), x, 3.0), {}) is first
    assert scale.for_call((x,), {"Y": y, "a": 1.0}) is first
    assert scale.for_call((x.astype("f8"), y, 1.0), {}) is not first


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("twice", ["true", "false"])
def test_cuda_is_that_of_the_source_specialised_by_hand(name: str, twice: str) -> None:
    """Putting values for the names into the text gives the same CUDA, character by character."""
    generics = "<T: dtype = f16, TWICE: bool = false>"
    hand = TEXT.replace(generics, " " * len(generics)).replace("<T>", f"<{name}>")
    hand = hand.replace("if TWICE", f"if {twice}")
    made = kernel().compile(T=name, TWICE=int(twice == "true"))
    assert made.cuda == ph.compile(hand).scale.compile().cuda


def test_ways_to_fix_a_dtype_agree() -> None:
    """`specialize`, `compile`, options of the text, a `DType` and the command line's -D."""
    wanted = kernel().compile(T="f32").cuda
    assert kernel().specialize(T="f32").compile().cuda == wanted
    assert kernel(T="f32").compile().cuda == wanted
    assert kernel().compile(T=F32).cuda == wanted
    assert kernel(**dict([constant("T=f32")])).compile().cuda == wanted
    assert kernel().compile().cuda == kernel(T="f16").compile().cuda != wanted


def test_a_fixed_dtype_is_no_longer_inferred() -> None:
    """Arrays of another dtype are refused as for a kernel that is not generic."""
    x = np.ones(4, np.float32)
    with pytest.raises(TypeError, match=r"X: wanted tensor<f16>\[N\], got dtype f32") as error:
        kernel().specialize(T="f16")(x, x.copy(), 1.0)
    assert codes(error) == ["PH702", "PH702"]


def test_the_first_array_of_a_dtype_counts() -> None:
    """Where arrays of one dtype parameter differ, the later one is at fault."""
    with pytest.raises(TypeError, match=r"Y: wanted tensor<f32>\[N\], got dtype f64") as error:
        kernel()(np.ones(4, np.float32), np.ones(4), 1.0)
    assert codes(error) == ["PH702"]


def test_what_is_no_array_meets_the_check_of_arguments() -> None:
    """A list gives no dtype: the default stands, and the list is refused."""
    with pytest.raises(TypeError, match="X: wanted") as error:
        kernel()([1.0], [2.0], 1.0)
    assert codes(error) == ["PH702", "PH702"]


@pytest.mark.parametrize(
    ("settings", "code", "text"),
    [
        ({"T": "f17"}, "PH405", "`T` is a dtype, found f17"),
        ({"TILE": "f32"}, "PH404", "no dtype parameter `TILE`"),
        ({"T": 3}, "PH404", "no constant `T`"),
        ({"target": "sm_75"}, "PH404", 'a GPU is chosen by `chip="sm_75"`'),
    ],
)
def test_values_of_the_wrong_kind_are_refused(settings, code: str, text: str) -> None:
    """An unknown dtype, a dtype for a number, a number for a dtype, a GPU by a wrong name."""
    with pytest.raises(PhobosError, match=text) as error:
        kernel().specialize(**settings)
    assert codes(error) == [code]


def test_a_dtype_without_a_default_waits_for_arrays() -> None:
    """It is checked with the first stand-in that suits, and shown by its name."""
    bits = ph.compile("kernel k<T: dtype>(X: tensor<T>[N]) { X[ctx.block.x] = X[ctx.block.x] & 3 }").k
    assert bits.signature == "k(X: tensor<T>[N])"
    x = np.arange(9, dtype=np.int64)
    bits(x)
    assert x.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0]
    with pytest.raises(PhobosError) as error:
        bits(np.ones(3))
    assert codes(error) == ["PH104"]


def test_a_dtype_that_no_array_has_must_be_given() -> None:
    """PH111 at the call; a specialised kernel runs."""
    text = "kernel k<T: dtype>(X: tensor<f32>[N], s: T) { X[ctx.block.x] = f32(s) }"
    x = np.zeros(2, np.float32)
    with pytest.raises(TypeError, match="no array gives the dtype T") as error:
        ph.compile(text).k(x, 3)
    assert codes(error) == ["PH111"]
    ph.compile(text, T="i32").k(x, 3)
    assert x.tolist() == [3.0, 3.0]


@pytest.mark.parametrize("causal", ["true", "false"])
@pytest.mark.parametrize("name", ["f16", "bf16", "f32"])
def test_the_generic_attention_is_every_attention(name: str, causal: str) -> None:
    """One source in three dtypes, causal and not, with the CUDA of the text specialised by hand."""
    text = (EXAMPLES / "attention.ph").read_text("utf-8")
    generics = "<T: dtype = f16, CAUSAL: bool = false, D: int = 64>"
    hand = (
        text.replace(generics, "<D: int = 64>").replace("<T>", f"<{name}>").replace("T(p)", f"{name}(p)")
    )
    hand = hand.replace("if CAUSAL", f"if {causal}")
    made = ph.compile(text).attention.compile(T=name, CAUSAL=int(causal == "true"))
    assert made.cuda == ph.compile(hand).attention.compile().cuda


def test_the_command_line_makes_arrays_of_the_given_dtype(tmp_path, capsys) -> None:
    """`run` with one array of f64 makes the other one f64 as well; `-D` decides without arrays."""
    source, array = tmp_path / "scale.ph", tmp_path / "x.npy"
    source.write_text(TEXT, "utf-8")
    np.save(array, np.ones(5))
    assert main(["run", str(source), f"X={array}"]) == 0
    assert "Y: float64[5]" in capsys.readouterr().out
    assert main(["run", str(source), "N=5", "-D", "T=f32"]) == 0
    assert "Y: float32[5]" in capsys.readouterr().out
