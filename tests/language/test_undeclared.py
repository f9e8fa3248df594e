"""Undeclared names: each is reported, and only those."""

from __future__ import annotations

from tests.language.programs import body_errors


def test_all_names_of_a_statement_are_reported() -> None:
    """One undeclared name does not hide the others of its statement."""
    found = body_errors("x[0 :+ 4] = aa * x[j :+ 4] + Z[0 :+ 4]")
    assert found == [("PH101", 2, 13), ("PH101", 2, 20), ("PH101", 2, 30)]


def test_declared_names_are_not_reported() -> None:
    """Declarations, loop variables, types, functions, numbers and faulty declarations are known."""
    assert body_errors("let a = max(x[0], inf) + wrong\nlet b = a + 1.0\nx[0] = b + a") == [
        ("PH101", 2, 26)
    ]
    loop = "for i in range(0, n) {\n x[i] = f32(i) + ctx.thread\n}"
    assert body_errors(loop) == [("PH101", 2, 19)]
