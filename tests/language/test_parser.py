"""Syntax: what parses, what is reported where, and the round trip."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phobos_nb.diagnostics import PhobosError
from phobos_nb.language import tree
from phobos_nb.language.parser import parse
from phobos_nb.language.parser.expressions import LEVELS
from phobos_nb.language.unparse import unparse
from phobos_nb.source import Source
from tests.language.programs import FLASH, GEMM

EVERYTHING = """\
@autotune(X in [1, 2,], Y in [4])
@launch(128, 2,)
@tensorcore(wmma)
kernel all<T: dtype = f16, D: int = 64, C: bool = false>(A: tensor<T>[M, D], s: i32,) {
  var t: tile<T>[2 * D, 8] = 0.0; let u = A[s, :]
  var b: shared<f32>[8, 9]
  for i in range(8) { continue }
  for<unroll 4> j in range(0, M, -1,) { break }
  while s < 3 && !C || ~s == -s { s <<= 1; s %= 7 }
  if C { return } else if s > 2 { barrier() } else {
    A[s, 0 : 4] += u; A[s, : 4] = u; A[s, s :] = u
    A[0 :+ 4 until s, 1] = (1 + 2) * 3 - (4 - 5)
  }
  assert s > 0, "text {{}}\\n"
  print("a {} b", ctx.block.x, f(x, 1.5e3, inf,))
}
fn f(x: tile<f32>[R, C]) -> tile<f32>[R, 1] { return x }
fn g<N: int>(A: tensor<f32>[N]) {}
"""


def located(text: str) -> list[tuple[str, int, int]]:
    source = Source(text)
    try:
        parse(source)
    except PhobosError as error:
        return [(d.code, *source.position(d.span.start)) for d in error.diagnostics if d.span]
    return []


@pytest.mark.parametrize("text", [GEMM, FLASH, EVERYTHING])
def test_round_trip(text: str):
    """Parsing what unparse prints gives an equal tree."""
    program = parse(Source(text))
    assert parse(Source(unparse(program))) == program


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_do_not_matter(end: str):
    """CRLF and CR texts, tabs, trailing spaces and a missing last newline give the same tree."""
    program = parse(Source(GEMM))
    assert parse(Source(GEMM.replace("\n", " \t" + end).replace("  ", "\t").rstrip())) == program


def test_precedence():
    """Every operator binds looser than those of the next level, and associates to the left."""
    for loose, tight in itertools.pairwise(LEVELS):
        value = first_value(f"a {loose[0]} b {tight[0]} c {loose[0]} d")
        assert isinstance(value, tree.Infix)
        assert value.op == loose[0]
        assert isinstance(value.left, tree.Infix)
        assert value.left.op == loose[0]
        assert isinstance(value.left.right, tree.Infix)


def first_value(expression: str) -> tree.Expression:
    program = parse(Source(f"kernel k() {{ x = {expression} }}"))
    update = program.kernels[0].body[0]
    assert isinstance(update, tree.Update)
    return update.value


def test_else_on_its_own_line():
    """`}` newline `else` says that `else` stands on the line of the brace."""
    text = "kernel k(a: i32) {\n  if a {\n  }\n  else {\n  }\n}"
    with pytest.raises(PhobosError, match="`else` stands on the line of the `}` before it"):
        parse(Source(text))
    assert located(text) == [("PH005", 4, 3)]


def test_brace_on_its_own_line():
    """A `{` on the next line is reported where the line ends, and parsing goes on."""
    assert located("kernel k()\n{\n  let = 1\n}") == [("PH004", 1, 11), ("PH004", 3, 7)]


def test_independent_errors_are_reported_together():
    """One fault does not hide the next, in other statements, blocks and kernels."""
    text = (
        "kernel a(x: f32) {\n"
        "  let = 1\n"
        "  if x { y = ) }\n"
        "  z = foo(1\n"
        "  let w = 2 +\n"
        "}\n"
        "kernel (x: f32) { }\n"
        "kernel c(x f32) { }\n"
    )
    assert located(text) == [
        ("PH004", 2, 7),
        ("PH004", 3, 14),
        ("PH004", 4, 12),
        ("PH004", 6, 1),
        ("PH004", 7, 8),
        ("PH004", 8, 12),
    ]


@pytest.mark.parametrize(
    ("statement", "column"),
    [
        ("1 + 2", 1),
        ("f(1) = 2", 1),
        ("x[1][2] = 3", 5),
        ("assert x, 1", 11),
        ("for i in rang(4) {}", 10),
        ("for i in range() {}", 15),
        ("for<unroll 0> i in range(4) {}", 12),
        ("let kernel = 1", 5),
        ("x = A[]", 6),
        ("var t: tile[4] = 0.0", 12),
        ("a b", 3),
    ],
)
def test_statement_faults(statement: str, column: int):
    """Each fault is reported once, at the token that does not fit."""
    found = located(f"kernel k() {{\n{statement}\n}}")
    assert [(line, at) for _, line, at in found] == [(2, column)]


def test_misspelt_declaration_is_guessed():
    """`kernal` suggests `kernel`."""
    with pytest.raises(PhobosError, match="did you mean `kernel`"):
        parse(Source("kernal k() {}"))


def test_names_are_declared_once():
    """Two kernels or functions of one name are PH102 at the second."""
    assert located("kernel k() {}\nfn k() {}") == [("PH102", 2, 4)]


def test_contextual_words_are_names():
    """Words such as `tile`, `range` and `dot` may name parameters and variables."""
    parse(Source("kernel tensor(tile: f32, range: f32) { let dot = tile + range; let until = dot }"))


DEEP = {
    "parentheses": "x = " + "(" * 5000 + "1" + ")" * 5000,
    "sum": "x = 1" + " + 1" * 5000,
    "prefix": "x = " + "-" * 5000 + "1",
    "blocks": "if a {" * 5000,
    "else if": "if a {} " + "else if a {} " * 5000,
    "calls": "x = " + "f(" * 5000,
    "subscripts": "x = " + "A[" * 5000,
    "fields": "x = a" + ".b" * 5000,
}


@pytest.mark.parametrize("kind", DEEP)
def test_deep_nesting_is_a_diagnostic(kind: str):
    """Nesting far beyond any program is one PH006, not a crash."""
    assert [code for code, _, _ in located(f"kernel k() {{\n{DEEP[kind]}\n}}")] == ["PH006"]


WORDS = """
kernel fn let var if else for in while break return assert true k x A ( ) [ ] { } , : :+ ; . @ = +=
+ - * / && || ! < > << 1 2.5 "s" tensor tile f32 range unroll ctx # // $
"""


def failure(text: str) -> PhobosError | None:
    try:
        parse(Source(text))
    except PhobosError as error:
        return error
    return None


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from([*WORDS.split(), "\n"]), max_size=60))
def test_any_text_parses_or_is_reported(pieces: list[str]):
    """No text makes the parser raise anything but a `PhobosError` with placed diagnostics."""
    error = failure("kernel k(A: tensor<f32>[N]) { " + " ".join(pieces))
    assert error is None or error.diagnostics
    assert error is None or all(d.span is not None for d in error.diagnostics)


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=40))
def test_any_characters_lex_or_are_reported(text: str):
    """Arbitrary Unicode is read or reported, never a crash."""
    error = failure(text)
    assert error is None or str(error)


NAMES = st.sampled_from(["a", "b", "ctx", "dot"]).map(tree.Name)
LITERALS = st.one_of(
    st.integers(0, 2**64 - 1).map(tree.Integer),
    st.floats(0, allow_nan=False, allow_infinity=False).map(tree.Float),
    st.booleans().map(tree.Boolean),
)


def _subscripts(inner: st.SearchStrategy[tree.Expression]) -> st.SearchStrategy[tree.Subscript]:
    optional = st.none() | inner
    return st.one_of(
        st.builds(tree.At, inner),
        st.builds(tree.Between, optional, optional),
        st.builds(tree.Along, inner, inner, optional),
    )


def _compound(inner: st.SearchStrategy[tree.Expression]) -> st.SearchStrategy[tree.Expression]:
    subscripts = st.lists(_subscripts(inner), min_size=1, max_size=3).map(tuple)
    operators = st.sampled_from([op for level in LEVELS for op in level])
    return st.one_of(
        st.builds(tree.Infix, operators, inner, inner),
        st.builds(tree.Prefix, st.sampled_from("-!~"), inner),
        st.builds(tree.CallExpression, NAMES, st.lists(inner, max_size=3).map(tuple)),
        st.builds(tree.Subscripted, NAMES, subscripts),
        st.builds(tree.Field, NAMES, st.sampled_from("xyz")),
    )


@settings(max_examples=300, deadline=None)
@given(st.recursive(NAMES | LITERALS, _compound, max_leaves=25))
def test_expressions_round_trip(expression: tree.Expression):
    """Any expression tree is printed so that parsing gives it back."""
    update = tree.Update(tree.Name("x"), "", expression)
    kernel = tree.KernelNode("k", (), (), (), (update,))
    program = tree.Program((kernel,), (), Source(""))
    assert parse(Source(unparse(program))) == program
