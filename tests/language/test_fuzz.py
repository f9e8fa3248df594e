"""Whatever the text, checking ends with a kernel or with placed diagnostics."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from phobos_nb.builtins import table
from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.lexer import Token, TokenKind, tokenize
from phobos_nb.source import Source
from tests.language.programs import FLASH, GEMM, failure

SHARED = """
fn last(A: tensor<f32>[N], v: f32) -> f32 { for i in range(N) { if A[i] > v { return A[i] } }
return v }
@launch(64)
kernel reduce(x: tensor<f32>[N], o: tensor<f32>[M], w: tensor<i32>[M]) {
  var s: shared<f32>[64]
  s[ctx.thread] = x[ctx.block.x * 64 + ctx.thread]
  barrier()
  var step: i32 = 32
  while step > 0 {
    if ctx.thread < step { s[ctx.thread] += s[ctx.thread + step] }
    barrier()
    step = step >> 1
  }
  if ctx.thread == 0 && last(x, 1.5) > 0.0 { o[ctx.block.x] = s[0] } else { atomic_add(w, 0, 1) }
  o[:] = o[:] * rowsum(exp(pad(x[:], -inf)))
  assert step == 0, "step"
  print("{} {{}}", block_sum(s[ctx.lane]))
}
"""


def tokens(text: str) -> list[Token]:
    return tokenize(Source(text), Diagnostics())[:-1]


PROGRAMS = [tokens(text) for text in (GEMM, FLASH, SHARED)]
WORDS = sorted({t.text for p in PROGRAMS for t in p} | set(table()) | {"shared", "until"})
ALL = [t for program in PROGRAMS for t in program]
ALIKE = {kind: sorted({t.text for t in ALL if t.kind is kind}) for kind in TokenKind}


@st.composite
def mutated(draw: st.DrawFn) -> str:
    """A program with a few tokens replaced, removed, added or exchanged for one of their kind."""
    program = list(draw(st.sampled_from(PROGRAMS)))
    texts = [t.text for t in program]
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, len(program) - 1))
        change = draw(st.sampled_from(["replace", "remove", "add", "alike", "alike", "name"]))
        if change == "alike":
            texts[place] = draw(st.sampled_from(ALIKE[program[place].kind]))
        elif (change == "name" and program[place].kind is TokenKind.NAME) or change == "replace":
            texts[place] = draw(st.sampled_from(WORDS))
        elif change == "remove":
            texts[place] = ""
        elif change == "add":
            texts[place] += " " + draw(st.sampled_from(WORDS))
    return " ".join(texts)


def test_the_programs_themselves_are_good():
    """What is mutated checks as it stands."""
    assert [failure(text) for text in (GEMM, FLASH, SHARED)] == [None, None, None]


@settings(max_examples=400, deadline=None)
@given(mutated())
def test_mutated_programs_are_checked_or_reported(text: str):
    """A mutated program gives a kernel or diagnostics that can be shown, never a traceback."""
    error = failure(text)
    assert error is None or str(error)
