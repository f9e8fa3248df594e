"""Text to tokens, with the rule that decides which newlines end a statement."""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from enum import Enum

from phobos_nb.diagnostics import Diagnostics
from phobos_nb.language.hints import CHARACTERS, unseen_help
from phobos_nb.source import Source, Span


class TokenKind(Enum):
    """What a token is."""

    NAME = "a name"
    KEYWORD = "a keyword"
    INTEGER = "an integer"
    FLOAT = "a number"
    STRING = "a string"
    OPERATOR = "an operator"
    TERMINATOR = "the end of the statement"
    END = "the end of the text"


@dataclass(frozen=True)
class Token:
    """One token; `text` is what is compared, `value` what a literal stands for."""

    kind: TokenKind
    text: str
    span: Span
    value: int | float | str | None = None

    def __str__(self) -> str:
        if self.kind is TokenKind.TERMINATOR:
            return "`;`" if self.text == ";" else "the end of the line"
        return self.kind.value if self.kind is TokenKind.END else f"`{self.text}`"


KEYWORDS = frozenset(
    {"kernel", "fn", "let", "var", "if", "else", "for", "in", "while", "break", "continue"}
    | {"return", "assert", "true", "false"}
)
OPERATORS = (
    *("<<=", ">>="),
    *("+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "&&", "||", "==", "!=", "<=", ">=", "<<", ">>"),
    *("->", ":+", "+", "-", "*", "/", "%", "&", "|", "^", "<", ">", "=", "!", "~", "(", ")", "[", "]"),
    *("{", "}", ",", ":", ".", "@"),
)
# Words that only ever start a statement or a declaration: an open bracket cannot reach past them, so
# a forgotten `)` spoils its own line only.
_OPENERS = KEYWORDS - {"in", "true", "false", "else"}
_ENDING_KEYWORDS = frozenset({"break", "continue", "return", "true", "false"})
_ENDING_KINDS = (TokenKind.NAME, TokenKind.INTEGER, TokenKind.FLOAT, TokenKind.STRING)
_ESCAPES = {"n": "\n", '"': '"', "\\": "\\"}

_BLANK = re.compile(r"[ \t\f\v]+|//[^\n]*")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F_]+|[0-9][0-9_]*(?:\.[0-9_]*)?(?:[eE][+-]?[0-9_]+)?", re.ASCII)
_DIGITS = re.compile(r"(?:0[xX])?[0-9a-fA-F]+(?:_+[0-9a-fA-F]+)*")
_STRING = re.compile(r'"(?:[^"\\\n]|\\[^\n])*"')
_OPERATOR = re.compile("|".join(re.escape(op) for op in OPERATORS))
_LARGEST = 2**64 - 1


def tokenize(source: Source, diagnostics: Diagnostics) -> list[Token]:
    """The tokens of a text, ending with one of kind END; faults are recorded and skipped."""
    return _Lexer(source, diagnostics).run()


class _Lexer:
    def __init__(self, source: Source, diagnostics: Diagnostics) -> None:
        self.text = source.text
        self.diagnostics = diagnostics
        self.tokens: list[Token] = []
        self.at = 1 if source.text.startswith("\ufeff") else 0
        self.open = 0
        self.newline: Span | None = None

    def run(self) -> list[Token]:
        while self.at < len(self.text):
            self.step()
        self.emit(TokenKind.END, "", Span(len(self.text), len(self.text)))
        return self.tokens

    def step(self) -> None:
        text, at = self.text, self.at
        char = text[at]
        if blank := _BLANK.match(text, at):
            self.at = blank.end()
        elif char == "\n":
            self.newline = self.newline or Span(at, at + 1)
            self.at += 1
        elif char == ";":
            self.emit(TokenKind.TERMINATOR, ";", Span(at, at + 1))
        elif char.isidentifier():
            self.word()
        elif char.isascii() and char.isdigit():
            self.number()
        elif char == '"':
            self.string()
        elif operator := _OPERATOR.match(text, at):
            self.emit(TokenKind.OPERATOR, operator.group(), Span(*operator.span()))
        else:
            self.stray(char)

    def emit(
        self, kind: TokenKind, text: str, span: Span, value: int | float | str | None = None
    ) -> None:
        if text in _OPENERS and kind is TokenKind.KEYWORD:
            self.open = 0
        if self.newline is not None and self.open == 0 and self.ends_statement():
            self.tokens.append(Token(TokenKind.TERMINATOR, "\n", self.newline))
        self.newline = None
        self.tokens.append(Token(kind, text, span, value))
        self.at = span.stop
        if kind is TokenKind.OPERATOR:
            self.bracket(text)

    def bracket(self, text: str) -> None:
        if text in "([":
            self.open += 1
        elif text in ")]":
            self.open = max(0, self.open - 1)
        elif text in "{}":
            self.open = 0

    def ends_statement(self) -> bool:
        if not self.tokens:
            return False
        last = self.tokens[-1]
        if last.kind is TokenKind.KEYWORD:
            return last.text in _ENDING_KEYWORDS
        return last.kind in _ENDING_KINDS or (last.kind is TokenKind.OPERATOR and last.text in ")]}")

    def word(self) -> None:
        stop = self.at + 1
        while stop < len(self.text) and ("_" + self.text[stop]).isidentifier():
            stop += 1
        name = unicodedata.normalize("NFC", self.text[self.at : stop])
        kind = TokenKind.KEYWORD if name in KEYWORDS else TokenKind.NAME
        self.emit(kind, name, Span(self.at, stop))

    def number(self) -> None:
        match = _NUMBER.match(self.text, self.at)
        assert match is not None
        stop = match.end()
        while stop < len(self.text) and ("_" + self.text[stop]).isidentifier():
            stop += 1
        span = Span(self.at, stop)
        text = self.text[self.at : stop]
        value = _number_value(match.group()) if stop == match.end() else None
        if value is None:
            self.fault("PH002", f"`{text[:40]}` is not a number", span, _number_help(text))
            value = 0
        elif isinstance(value, int) and value > _LARGEST:
            self.fault("PH002", f"`{text[:40]}` is above {_LARGEST}, the largest integer", span)
            value = 0
        kind = TokenKind.INTEGER if isinstance(value, int) else TokenKind.FLOAT
        self.emit(kind, text, span, value)

    def string(self) -> None:
        match = _STRING.match(self.text, self.at)
        if match is None:
            end = self.text.find("\n", self.at)
            span = Span(self.at, len(self.text) if end < 0 else end)
            self.fault("PH003", "this string is not closed on its line", span, 'end it with `"`')
            self.emit(TokenKind.STRING, self.text[span.start : span.stop], span, "")
            return
        span = Span(*match.span())
        self.emit(TokenKind.STRING, match.group(), span, self.unescape(match.group()[1:-1], span))

    def unescape(self, body: str, span: Span) -> str:
        def escape(found: re.Match[str]) -> str:
            char = found.group(1)
            if char not in _ESCAPES:
                place = Span(span.start + 1 + found.start(), span.start + 1 + found.end())
                self.fault(
                    "PH003", f"`\\{char}` is not an escape", place, r"the escapes are \n, \" and \\"
                )
            return _ESCAPES.get(char, char)

        return re.sub(r"\\(.)", escape, body)

    def stray(self, char: str) -> None:
        span = Span(self.at, self.at + 1)
        self.at += 1
        help = CHARACTERS.get(char, "")
        if char == "#":
            self.fault("PH007", "`#` does not start a comment", span, help)
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif char.isprintable():
            self.fault("PH001", f"`{char}` does not belong here", span, help)
        else:
            shown = f"U+{ord(char):04X}"
            message = f"the character {shown} does not belong here"
            self.fault("PH001", message, span, unseen_help(char))

    def fault(self, code: str, message: str, span: Span, help: str = "") -> None:
        self.diagnostics.error(code, message, span, help=help, stage="text")


def _number_value(text: str) -> int | float | None:
    """The value of a number, or None when an underscore or a digit is missing or misplaced."""
    hexadecimal = text[:2] in ("0x", "0X")
    pieces = [text] if hexadecimal else [p for p in re.split(r"[.eE][+-]?", text) if p]
    if not all(_DIGITS.fullmatch(p) for p in pieces):
        return None
    plain = text.replace("_", "")
    if hexadecimal:
        return int(plain, 16)
    if re.fullmatch("[0-9]+", plain):
        return int(plain) if len(plain.lstrip("0")) <= 20 else _LARGEST + 1
    return float(plain)


def _number_help(text: str) -> str:
    if re.fullmatch(r"[0-9.]+[fFhHlLuU]+", text):
        return "a number has no suffix; convert with a call such as `f32(...)`"
    return "`_` stands between digits, and a name does not start with a digit"
