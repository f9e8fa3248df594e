"""Names, declarations, views, slices and stores (LANGUAGE section 3)."""

from __future__ import annotations

import pytest

from phobos_nb.contract import TensorParameter
from phobos_nb.diagnostics import PhobosError
from phobos_nb.dtypes import F32
from phobos_nb.language import typed as t
from phobos_nb.language.types import TileType
from phobos_nb.language.walk import all_expressions, statements
from tests.language.programs import FLASH, GEMM, body, body_errors, errors, placed, typed

MATRIX = "A: tensor<f32>[M, N], B: tensor<f32>[M, 8], s: f32"


def only(kernel: t.TypedKernel, kind: type[t.Statement]) -> list[t.Statement]:
    return [s for s in statements(kernel.body) if type(s) is kind]


def test_gemm_accumulates_a_dot():
    """`acc += dot(a, b)` is the accumulator set to itself plus the dot."""
    kernel = typed(GEMM, TILE_M=64)
    (loop,) = only(kernel, t.For)
    assert isinstance(loop, t.For)
    update = loop.body[2]
    assert isinstance(update, t.Assign)
    assert isinstance(update.value, t.Binary)
    assert isinstance(update.value.left, t.VariableRead)
    assert update.value.left.variable is update.variable
    assert isinstance(update.value.right, t.Call)
    assert update.value.right.builtin == "dot"
    assert update.variable.type == TileType(F32, (64, 32))


def test_parameters_say_what_is_read_and_written():
    """A tensor is read where a slice or element of it is, and written by stores and atomics."""
    kernel = typed(GEMM)
    found = {p.name: (p.reads, p.writes) for p in kernel.parameters if isinstance(p, TensorParameter)}
    assert found == {"A": (True, False), "B": (True, False), "C": (True, True)}
    atomic = body("atomic_add(x, 0, 1.0)", "x: tensor<f32>[N]")
    assert atomic.tensor_parameters[0].writes


def test_let_of_a_slice_is_a_view():
    """A view is read at each use; the copy of a `var` is read once."""
    text = "let v = A[0 :+ 4, 0 :+ 4]\nvar c = A[0 :+ 4, 4 :+ 4]\nB[0 :+ 4, 0 :+ 4] = v * v + c"
    kernel = body(text, MATRIX)
    reads = [e for e in all_expressions(kernel.body) if isinstance(e, t.TileRead)]
    assert len(reads) == 3
    (store,) = only(kernel, t.StoreTile)
    assert len([e for e in all_expressions((store,)) if isinstance(e, t.TileRead)]) == 2


def test_positions_of_a_view_are_evaluated_once():
    """What a view's position depends on may change later without moving the view."""
    kernel = body("var i = 0\nlet v = A[i :+ 4, 0 :+ 4]\ni += 4\nB[0 :+ 4, 0 :+ 4] = v", MATRIX)
    (store,) = only(kernel, t.StoreTile)
    reads = [e for e in all_expressions((store,)) if isinstance(e, t.VariableRead)]
    assert [r.variable.mutable for r in reads] == [False]


def test_a_view_of_a_view_is_the_same_view():
    """`let w = v` is another name, `var w = v` a copy."""
    kernel = body("let v = A[0 :+ 4, 0 :+ 4]\nlet w = v\nB[0 :+ 4, 0 :+ 4] = w", MATRIX)
    assert [type(s) for s in kernel.body] == [t.StoreTile]


@pytest.mark.parametrize(
    ("subscripts", "shape"),
    [
        ("0 :+ 4, 1", (4,)),
        ("1, 0 :+ 4", (4,)),
        ("s0 :+ 2 * 3, 0 :+ 4", (6, 4)),
        ("s0 : s0 + 4, 3 : 8", (4, 5)),
        ("2 * s0 + 8 : 8 + 2 * (s0 + 3), :", (6, 8)),
        (": 4, :", (4, 8)),
        ("0 :+ 4 until N, 2 :", (4, 6)),
        ("-1 :+ 2, : 3", (2, 3)),
    ],
)
def test_slice_shapes(subscripts: str, shape: tuple[int, ...]):
    """Points drop their axis, spans and ranges keep it, `:` takes a constant extent whole."""
    kernel = body(f"let s0 = ctx.block.x * 4\nvar c = B[{subscripts}]", "B: tensor<f32>[N, 8]")
    copy = kernel.body[-1]
    assert isinstance(copy, t.Assign)
    assert copy.variable.type == TileType(F32, shape)


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("var c = A[0 :+ 4]", [("PH202", 2, 9)]),
        ("var c = A[0 :+ M, 0]", [("PH203", 2, 16)]),
        ("var c = A[0 : M, 0]", [("PH203", 2, 11)]),
        ("var c = A[0 :+ 0, 0]", [("PH203", 2, 16)]),
        ("var c = A[4 : 2, 0]", [("PH203", 2, 11)]),
        ("var c = A[4 :, 0]", [("PH203", 2, 11)]),
        ("var c = A[1.5, 0]", [("PH104", 2, 11)]),
        ("var c = A[s :+ 4, 0]", [("PH104", 2, 11)]),
        ("var c = A[ctx.thread :+ 4, 0]", [("PH303", 2, 11)]),
        ("var c = A[0 :+ 4, ctx.lane]", [("PH303", 2, 19)]),
        ("let v = A[0 :+ 4, 0 :+ 4]\nlet w = v[0, 0]", [("PH205", 3, 9)]),
        ("var c = A[0 :+ 4, 0 :+ 4]\nc[0, 0] = 1.0", [("PH205", 3, 1)]),
        ("let q = s[0]", [("PH205", 2, 9)]),
        ("let q = Z[0]", [("PH101", 2, 9)]),
        ("var m: shared<f32>[4]\nvar c = m[0 :+ 4]", [("PH205", 3, 11)]),
        ("var m: shared<f32>[4] = 0.0", [("PH104", 2, 25)]),
        ("var m: tensor<f32>[4]", [("PH104", 2, 8)]),
        ("let q = pad(s, 0.0)", [("PH104", 2, 13)]),
    ],
)
def test_subscripts_refused(statements: str, expected: list[tuple[str, int, int]]):
    """Wrong counts, run-time lengths, per-thread tile positions and things without elements."""
    assert body_errors(statements, MATRIX) == expected


def test_run_time_extent_taken_whole_says_how_to_fix_it():
    """`:` on a symbol is PH207, and is legal once the symbol is fixed."""
    text = "kernel k(A: tensor<f32>[M, N]) {\n  var c = A[0 :+ 4, :]\n}"
    assert errors(text) == [("PH207", 2, 21)]
    kernel = typed(text, N=64)
    assert kernel.tensor_parameters[0].dims == ("M", 64)


@pytest.mark.parametrize(
    ("statements", "expected"),
    [
        ("let a = 1\na = 2", [("PH103", 3, 1)]),
        ("let a = ctx.thread\na += 2", [("PH103", 3, 1)]),
        ("for i in range(4) { i = 2 }", [("PH103", 2, 21)]),
        ("s = 2.0", [("PH103", 2, 1)]),
        ("M = 2", [("PH103", 2, 1)]),
        ("A = 2.0", [("PH103", 2, 1)]),
        ("let v = A[0 :+ 4, 0 :+ 4]\nv = 1.0", [("PH103", 3, 1)]),
        ("var a = 1\nvar a = 2", [("PH102", 3, 5)]),
        ("let a", [("PH104", 2, 5)]),
        ("let a: f32", [("PH104", 2, 5)]),
        ("if true { let a = 1 }\nlet b = a", [("PH101", 3, 9)]),
        ("let b = alhpa", [("PH101", 2, 9)]),
        ("let b = ctx.bolck.x", [("PH101", 2, 9)]),
        ("let b = ctx.block", [("PH101", 2, 9)]),
        ("let b = s.x", [("PH101", 2, 9)]),
        ("let b = foo(1)", [("PH101", 2, 9)]),
        ("let sqrt = 1.0\nlet b = sqrt(2.0)", [("PH107", 3, 9)]),
        ("let b = ctx.thread\nexp(s)", [("PH110", 3, 1)]),
        ("break", [("PH114", 2, 1)]),
        ("continue", [("PH114", 2, 1)]),
        ("return 1", [("PH113", 2, 8)]),
        ("for i in range(0, 4, 0) { }", [("PH116", 2, 22)]),
        ("for i in range(s) { }", [("PH104", 2, 16)]),
        ('print("{}")', [("PH118", 2, 7)]),
        ('print("{", s)', [("PH118", 2, 7)]),
        ("print(s)", [("PH107", 2, 1)]),
        ('assert s > 0.0, "{}"', [("PH118", 2, 17)]),
        ("let b = program_id(3)", [("PH105", 2, 20)]),
        ("let b = extent(A, 2)", [("PH105", 2, 19)]),
        ("let b = extent(s, 0)", [("PH104", 2, 16)]),
    ],
)
def test_statements_refused(statements: str, expected: list[tuple[str, int, int]]):
    """Names that do not exist or cannot be set, and statements that mean nothing."""
    assert body_errors(statements, MATRIX) == expected


def test_a_broken_declaration_is_reported_once():
    """Uses of a name whose declaration failed add no errors, other errors are all there."""
    text = "let a = nope\nlet b = a + 1\nA[a, b] = b\nlet c = nada\n"
    assert body_errors(text, MATRIX) == [("PH101", 2, 9), ("PH101", 5, 9)]


def test_names_are_shadowed_in_inner_blocks():
    """An inner declaration hides an outer one until its block ends."""
    kernel = body("var a = 1.0\nif s > 0.0 { var a = 2\na = 3 }\na = 4.0", MATRIX)
    first, branch, last = kernel.body
    assert isinstance(first, t.Assign)
    assert isinstance(last, t.Assign)
    assert isinstance(branch, t.If)
    assert last.variable is first.variable
    assert branch.then[0] is not first


def test_untaken_branches_are_not_checked():
    """`if` on a constant keeps one branch and never looks at the other."""
    flash = typed(FLASH)
    causal = typed(FLASH, CAUSAL=1)
    assert len(list(statements(causal.body))) == len(list(statements(flash.body))) + 2
    assert body("if 1 > 2 { nope() } else if true { } else { nope() }").body == ()


def test_dtype_parameters_take_the_arrays_dtype():
    """A dtype parameter has its default, or what the caller found in the arrays."""
    kernel = typed(FLASH, dtypes={"T": F32})
    assert {p.dtype for p in kernel.tensor_parameters} == {"f32"}
    assert {p.dtype for p in typed(FLASH).tensor_parameters} == {"f16"}
    assert kernel.constants == {"BR": 32, "BC": 32, "D": 64, "CAUSAL": 0}


def test_pad_takes_the_tensors_type():
    """`pad` reads its value outside, converted to the element type."""
    kernel = body("let v = pad(A[0 :+ 4, 0 :+ 4], -inf)\nB[0 :+ 4, 0 :+ 4] = v", MATRIX)
    (read,) = [e for e in all_expressions(kernel.body) if isinstance(e, t.TileRead)]
    assert isinstance(read.pad, t.Constant)
    assert read.pad.value == float("-inf")


def test_compound_store_evaluates_its_position_once():
    """A position that reads memory is kept before it is used for the read and the store."""
    kernel = body("A[i32(x[0]), 0 :+ 4] += 1.0", "A: tensor<f32>[M, N], x: tensor<f32>[N]")
    reads = [e for e in all_expressions(kernel.body) if isinstance(e, t.ElementRead)]
    assert len(reads) == 1


def test_declared_without_a_value_is_zero():
    """A `var` with a type and no value starts at zero."""
    kernel = body("var a: f32\nvar b: tile<i32>[2, 2]\nvar c: bool", MATRIX)
    values = [s.value for s in kernel.body if isinstance(s, t.Assign)]
    assert isinstance(values[0], t.Constant)
    assert values[0].value == 0.0
    assert isinstance(values[1], t.Fill)
    assert isinstance(values[2], t.Constant)
    assert values[2].value is False


def test_an_unknown_function_is_reported_once_per_name() -> None:
    """The first call of each name that is no function; later calls of it add nothing."""
    text = (
        "kernel k(A: tensor<f32>[N]) {\n  A[0] = foo(1.0)\n  A[1] = foo(2.0)\n"
        "  A[2] = bar(A[0])\n  A[3] = foo(bar(1.0))\n}"
    )
    with pytest.raises(PhobosError) as caught:
        typed(text)
    places = [placed(d, caught.value.source) for d in caught.value.diagnostics]
    assert places == [("PH101", 2, 10), ("PH101", 4, 10)]
