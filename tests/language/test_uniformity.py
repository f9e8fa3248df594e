"""Who shares a value, who runs together, and what that forbids (LANGUAGE section 4)."""

from __future__ import annotations

import pytest

from phobos_nb.language import typed as t
from phobos_nb.language.types import Uniformity
from phobos_nb.language.walk import statements
from tests.language.programs import body, body_errors, failure, findings

PARAMETERS = "A: tensor<f32>[M, N], x: tensor<f32>[N], w: tensor<i32>[N], n: i32"


def shared_by(expression: str, before: str = "") -> Uniformity:
    """Who shares the value of an expression after some statements."""
    kernel = body(f'{before}\nprint("{{}}", {expression})', PARAMETERS)
    return printed(kernel)[-1].arguments[0].uniformity


def printed(kernel: t.TypedKernel) -> list[t.Print]:
    return [s for s in statements(kernel.body) if isinstance(s, t.Print)]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("ctx.block.x + N + n", Uniformity.CTA),
        ("ctx.warp * 2", Uniformity.WARP),
        ("ctx.thread", Uniformity.LANE),
        ("ctx.lane + ctx.warp", Uniformity.LANE),
        ("x[n]", Uniformity.CTA),
        ("x[ctx.warp]", Uniformity.WARP),
        ("x[ctx.thread]", Uniformity.LANE),
        ("exp(f32(ctx.warp))", Uniformity.WARP),
        ("lane_sum(ctx.thread)", Uniformity.WARP),
        ("block_sum(ctx.thread)", Uniformity.CTA),
        ("shuffle(n, 0)", Uniformity.LANE),
        ("atomic_add(w, 0, 1)", Uniformity.LANE),
    ],
)
def test_expressions(expression: str, expected: Uniformity):
    """A value is shared as widely as what it is computed from; atomics and shuffles are per lane."""
    assert shared_by(expression) is expected


@pytest.mark.parametrize(
    ("before", "expected"),
    [
        ("var a = 0", Uniformity.CTA),
        ("var a = 0\nif ctx.thread < 4 { a = 1 }", Uniformity.LANE),
        ("var a = 0\nif ctx.warp < 1 { a = 1 }", Uniformity.WARP),
        ("var a = 0\nif n < 1 { a = 1 } else { a = ctx.warp }", Uniformity.WARP),
        ("var a = ctx.thread\na = 0", Uniformity.CTA),
        ("var a = 0\nfor i in range(ctx.thread) { a += 1 }", Uniformity.LANE),
        ("var a = 0\nfor i in range(4) { a += i }", Uniformity.CTA),
        ("var a = 0\nvar b = 0\nfor i in range(4) { a = b\nb = ctx.thread }", Uniformity.LANE),
        ("var a = 0\nfor i in range(8) { if x[ctx.lane] > 0.0 { break }\na += 1 }", Uniformity.LANE),
        ("var a = 0\nfor i in range(8) { if ctx.lane > 1 { continue }\na += 1 }", Uniformity.LANE),
        ("var a = 0\nfor i in range(8) { if n > 1 { break }\na += 1 }", Uniformity.CTA),
        ("var a = 0\nwhile a < n { a += 1 }", Uniformity.CTA),
        ("var a = ctx.warp\nwhile a < n { a += 1 }", Uniformity.WARP),
        ("var a = 0\nvar s = 1\nwhile s < n { if ctx.lane < 2 { s = 9 }\na = 1 }", Uniformity.LANE),
        ("var a = 0\nif n > 0 { return }\na = 1", Uniformity.CTA),
        ("var a = 0\nif ctx.thread > 0 { return }\na = 1", Uniformity.LANE),
    ],
)
def test_variables(before: str, expected: Uniformity):
    """A variable differs where what was stored, or whether it was stored, differed; loops to the end."""
    assert shared_by("a", before) is expected


def test_gathering_from_a_tensor_leaves_its_loads_uniform():
    """`gather` only reads its table."""
    assert shared_by("w[n]", "let g = gather(w, iota(4))") is Uniformity.CTA


def test_loads_of_written_tensors_are_per_lane():
    """A load with a uniform index is uniform only while nothing in the kernel writes the tensor."""
    assert shared_by("x[0]", "A[0, 0] = 1.0") is Uniformity.CTA
    assert shared_by("x[0]", "x[ctx.thread] = 1.0") is Uniformity.LANE
    assert shared_by("w[0]", "atomic_add(w, 1, 2)") is Uniformity.LANE
    assert shared_by("s[0]", "var s: shared<f32>[4]") is Uniformity.LANE


TILE = "var t = A[0 :+ 4, 0 :+ 4]"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"if ctx.thread < 4 {{\n{TILE}\n}}", [("PH301", 3, 9)]),
        (f"if ctx.warp < 4 {{\n{TILE}\n}}", [("PH301", 3, 9)]),
        (f"if x[ctx.thread] > 0.0 {{\n}} else {{\n{TILE}\n}}", [("PH301", 4, 9)]),
        (f"if n < 4 {{\n{TILE}\n}}", []),
        (f"for i in range(ctx.lane) {{\n{TILE}\n}}", [("PH301", 3, 9)]),
        (f"while x[ctx.lane] > 0.0 {{\n{TILE}\n}}", [("PH301", 3, 9)]),
        (f"for i in range(4) {{\n{TILE}\nif ctx.lane == i {{ break }}\n}}", [("PH301", 3, 9)]),
        (f"for i in range(4) {{\n{TILE}\nif ctx.lane == i {{ continue }}\n}}", []),
        (f"for i in range(4) {{\nif ctx.lane == i {{ continue }}\n{TILE}\n}}", [("PH301", 4, 9)]),
        (f"for i in range(4) {{\nif ctx.lane == i {{ break }}\n}}\n{TILE}", []),
        (f"if ctx.thread > 0 {{ return }}\n{TILE}", [("PH301", 3, 9)]),
        (f"if n > 0 {{ return }}\n{TILE}", []),
        ("if ctx.thread < 4 { barrier() }", [("PH301", 2, 21)]),
        ("while block_sum(1.0) > f32(ctx.lane) { }", [("PH301", 2, 7)]),
        ("while block_sum(1.0) > f32(n) { if ctx.lane > 2 { break } }", [("PH301", 2, 7)]),
        ("while block_sum(1.0) > f32(n) { if n > 2 { break } }", []),
        ("if ctx.warp < 4 { barrier() }", [("PH301", 2, 19)]),
        ("if ctx.thread < 4 { let s = block_sum(1.0) }", [("PH301", 2, 29)]),
        ("if ctx.thread < 4 { let s = lane_sum(1.0) }", [("PH302", 2, 29)]),
        ("if ctx.warp < 4 { let s = lane_sum(1.0) }", []),
        ("if ctx.thread < 4 { let s = shuffle(1.0, 0) }", [("PH302", 2, 29)]),
        ("if ctx.thread < 4 {\nA[0 :+ 4, 0 :+ 4] = 0.0\n}", [("PH301", 3, 1)]),
        ("var t: tile<f32>[4] = 0.0\nif ctx.thread < 4 {\nt = 1.0\n}", [("PH301", 4, 1)]),
        ("let t = A[0 :+ 4, 0 :+ 4] * f32(ctx.thread)", [("PH303", 2, 29)]),
        ("var t: tile<f32>[4] = f32(ctx.thread)", [("PH303", 2, 23)]),
        ("A[0 :+ 4, 0 :+ 4] = f32(ctx.thread)", [("PH303", 2, 21)]),
        ("let t = ctx.lane > 1 && block_sum(1.0) > 2.0", [("PH301", 2, 25)]),
    ],
)
def test_operations_that_need_all_threads(text: str, expected: list[tuple[str, int, int]]):
    """Tile operations, barriers and collectives are refused where their threads may have parted."""
    assert body_errors(text, PARAMETERS) == expected


def test_the_error_names_the_condition():
    """The message says in which line the threads part."""
    text = f"kernel k({PARAMETERS}) {{\n\nif ctx.thread < 4 {{\nif n > 0 {{\nbarrier()\n}}\n}}\n}}"
    error = failure(text)
    assert error is not None
    assert "the condition in line 3 differs" in error.diagnostics[0].message


def test_uniform_scalar_statements_happen_once():
    """A store, print or assert of uniform operands happens once per CTA, unless threads have parted."""
    text = (
        'x[0] = 1.0\nx[n] += 2.0\nx[ctx.thread] = 1.0\nprint("a")\nprint("{}", ctx.lane)\n'
        'assert n > 0, "n"\nif ctx.thread == 0 {\nx[0] = 1.0\nprint("b")\n}'
    )
    found = [s for s in statements(body(text, PARAMETERS).body) if not isinstance(s, t.If)]
    once = [s.once for s in found if isinstance(s, t.StoreElement | t.Print | t.Assert)]
    assert once == [True, True, False, True, False, True, False, False]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x[0] = f32(ctx.thread)", [("PH305", 2, 1)]),
        ("x[ctx.thread] = f32(ctx.thread)", []),
        ("if ctx.thread == 0 { x[0] = f32(ctx.thread) }", []),
        ("x[0] = 1.0", []),
        ("x[ctx.warp] = f32(ctx.lane)", [("PH305", 2, 1)]),
        ("atomic_add(w, 0, 1)", [("PH304", 2, 1)]),
        ("atomic_add(w, ctx.thread, 1)", []),
        ("if ctx.thread == 0 { atomic_add(w, 0, 1) }", []),
    ],
)
def test_races_and_repeated_atomics_warn(text: str, expected: list[tuple[str, int, int]]):
    """Different values stored to one address, and an atomic that every thread repeats, warn."""
    assert findings(body(text, PARAMETERS)) == expected
