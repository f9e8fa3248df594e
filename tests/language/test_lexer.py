"""Tokens, and which newlines end a statement."""

from __future__ import annotations

import pytest

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.lexer import Token, TokenKind, tokenize
from phobos_nb.source import Source


def tokens(text: str) -> list[Token]:
    diagnostics = Diagnostics(Source(text))
    found = tokenize(Source(text), diagnostics)
    diagnostics.raise_errors()
    return found


def texts(text: str) -> list[str]:
    return [t.text for t in tokens(text)][:-1]


def faults(text: str) -> list[tuple[str, int, int]]:
    source = Source(text)
    diagnostics = Diagnostics(source)
    tokenize(source, diagnostics)
    return [(d.code, *source.position(d.span.start)) for d in diagnostics.errors if d.span]


@pytest.mark.parametrize(
    "before", ["x", "1", "1.5", '"s"', ")", "]", "}", "break", "continue", "return", "true"]
)
def test_newline_ends_after(before: str):
    """A newline ends a statement after a name, a literal, a closing bracket and the leaving words."""
    assert texts(f"{before}\ny")[-2:] == ["\n", "y"]


@pytest.mark.parametrize("before", ["+", "=", ",", "{", ":+", "if", "let", "else", "in", "<"])
def test_newline_goes_on_after(before: str):
    """After an operator, an opening brace or a word that wants more, the statement goes on."""
    assert "\n" not in texts(f"{before}\ny")


def test_newlines_inside_brackets_end_nothing():
    """Inside ( ) and [ ] newlines never end anything."""
    assert texts("f(a\n,\nb\n)") == ["f", "(", "a", ",", "b", ")"]
    assert texts("A[i\n:+\nn\n]") == ["A", "[", "i", ":+", "n", "]"]


def test_open_bracket_does_not_reach_past_a_statement():
    """A forgotten bracket is closed by the next statement word or brace."""
    assert texts("f(a\nlet b = 1\nc\nd")[3:4] == ["\n"]


def test_line_ends_are_alike():
    """LF, CRLF and CR give the same tokens."""
    text = "let a = 1\nlet b = 2\n"
    kinds = [[(t.kind, t.text) for t in tokens(text.replace("\n", end))] for end in ("\n", "\r\n", "\r")]
    assert kinds[0] == kinds[1] == kinds[2]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("12", 12),
        ("1_000", 1000),
        ("0xFf", 255),
        ("1.0", 1.0),
        ("7.", 7.0),
        ("1e-5", 1e-5),
        ("0", 0),
        ("1_0.5", 10.5),
    ],
)
def test_numbers(text: str, value: float):
    """Decimal, hexadecimal, underscores between digits, floats."""
    (token, _) = tokens(text)
    assert token.value == value
    assert type(token.value) is type(value)


@pytest.mark.parametrize("text", [*["1_", "12ab", "0x", "1.0f", "1e", "0xg"], "9" * 20, "1" * 5000])
def test_malformed_numbers(text: str):
    """Misplaced underscores, suffixes and oversized integers are PH002 at the number."""
    assert faults(f"a = {text}") == [("PH002", 1, 5)]


def test_strings():
    """Escapes are resolved, doubled braces stay for the formatting."""
    assert tokens(r'"a\n\"\\{{"')[0].value == 'a\n"\\{{'
    assert faults('"abc\nx') == [("PH003", 1, 1)]
    assert faults('"a\\q"') == [("PH003", 1, 3)]


def test_names():
    """Unicode letters are letters; names reserved elsewhere are names here."""
    kinds = {t.text: t.kind for t in tokens("gr\u00f6\u00dfe class lambda printf tile range")}
    assert set(kinds.values()) - {TokenKind.END} == {TokenKind.NAME}


def test_composed_and_decomposed_names_are_one():
    """The same letters in different Unicode forms are the same name."""
    assert texts("\u00e4 a\u0308") == ["\u00e4", "\u00e4"]


def test_hash_suggests_slashes():
    """A `#` is PH007, and what follows on the line is skipped."""
    assert faults("a = 1\n # NBVAL_SKIP ) ] }\nb = 2") == [("PH007", 2, 2)]


def test_stray_characters():
    """Each stray character is PH001 at its place."""
    assert faults("a $ b\n\u00a0c") == [("PH001", 1, 3), ("PH001", 2, 1)]
