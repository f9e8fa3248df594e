"""Small changes of a kernel's text: what a user's slip is undone by is among them."""

import pytest

from phobos_nb import builtins
from phobos_nb.language.frontend import parse
from phobos_nb.language.slips import slips
from phobos_nb.language.slips.floats import with_floats
from phobos_nb.language.unparse import unparse
from phobos_nb.source import Source

TEXT = """\
@launch(64)
kernel k(X: tensor<f32>[M, N], B: tensor<f32>[N], Y: tensor<f32>[M, N], scale: f32) {
  let i = ctx.block.x * 8
  var acc: tile<f16>[8, 32] = 0.0
  for j in range(0, N, 32) {
    var x = X[i :+ 8, j :+ 32]
    acc += x - B[j :+ 32]
  }
  if i < M {
    Y[i :+ 8, 0 :+ 32] = sqrt(acc)
  }
}
"""

WANTED = {
    "an operand for another": "acc += x - B[j :+ 32]|acc += x - Y[j :+ 32]",
    "an operator": "acc += x - B[j :+ 32]|acc += x + B[j :+ 32]",
    "an index": "X[i :+ 8, j :+ 32]|X[j :+ 8, j :+ 32]",
    "subscripts exchanged": "X[i :+ 8, j :+ 32]|X[j :+ 32, i :+ 8]",
    "a position by one": "B[j :+ 32]|B[j + 1 :+ 32]",
    "a comparison": "if i < M|if i <= M",
    "an extent": "range(0, N, 32)|range(0, M, 32)",
    "a step": "range(0, N, 32)|range(0, N, 64)",
    "a function left out": "sqrt(acc)|acc",
    "a function forgotten": "sqrt(acc)|exp(sqrt(acc))",
    "a factor that is never used": "sqrt(acc)|sqrt(acc) * scale",
    "another way to assign": "acc += x - B[j :+ 32]|acc = x - B[j :+ 32]",
    "a wider type": "acc: tile<f16>[8, 32]|acc: tile<f32>[8, 32]",
    "a start value": "[8, 32] = 0.0|[8, 32] = -inf",
    "a padding": "= X[i :+ 8, j :+ 32]|= pad(X[i :+ 8, j :+ 32], -inf)",
    "a mask": "x - B[j :+ 32]|where(iota(32) < N - j, x - B[j :+ 32], 0.0)",
    "a statement left out": "    acc += x - B[j :+ 32]\n|",
}


@pytest.mark.parametrize("name", WANTED)
def test_a_change_is_among_the_slips(name):
    """The program with that change is one of those that are tried."""
    old, new = WANTED[name].split("|")
    program = parse(Source(TEXT))
    text = unparse(program)
    assert old in text
    wanted = parse(Source(text.replace(old, new, 1)))
    assert any(slip.program == wanted for slip in slips(program, "k"))


def test_a_slip_names_its_place():
    """The span of a change is that of what was changed in the text."""
    program = parse(Source(TEXT))
    (place,) = {
        TEXT[slip.span.start : slip.span.stop]
        for slip in slips(program, "k")
        if slip.words == "with `i <= M` in place of `i < M`"
    }
    assert place == "i < M"


def test_floats_of_one_type():
    """Types, conversions and numbers become those of the type; integers stay."""
    text = unparse(with_floats(parse(Source(TEXT)), "f64"))
    assert "tile<f64>[8, 32] = f64(0.0)" in text
    assert "f16" not in text
    assert "f32" not in text


def test_every_function_that_is_taken_for_another_exists():
    """Families name built-ins or conversions only."""
    from phobos_nb.language.slips.calls import COLLECTIVE, FAMILIES, FORGOTTEN, TYPES

    known = {*builtins.table(), *TYPES}
    assert {n for family in FAMILIES for n in family} | {*COLLECTIVE, *FORGOTTEN} <= known
