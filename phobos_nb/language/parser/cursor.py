"""A position in the tokens: looking, taking, complaining, and finding a place to go on."""

from __future__ import annotations

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import TypeVar

from phobos_nb.diagnostics import Diagnostics, Stop
from phobos_nb.language.hints import FOREIGN
from phobos_nb.language.lexer import Token, TokenKind
from phobos_nb.source import Span

MAX_EXPRESSION_DEPTH = 100
MAX_BLOCK_DEPTH = 40
"""Limits that keep every walk over the tree well inside Python's default stack."""

_STATEMENT_WORDS = frozenset(
    {"let", "var", "if", "for", "while", "break", "continue", "return", "assert"}
)
_DECLARATION_WORDS = frozenset({"kernel", "fn"})
_T = TypeVar("_T")


class Cursor:
    """Reads a token list from left to right."""

    def __init__(self, tokens: list[Token], diagnostics: Diagnostics) -> None:
        self.tokens = tokens
        self.diagnostics = diagnostics
        self.index = 0
        self.depth = 0
        self.blocks = 0
        self.abandoned = False

    @property
    def current(self) -> Token:
        """The token to be taken next."""
        return self.tokens[self.index]

    @property
    def previous(self) -> Span:
        """The span of the token taken last."""
        return self.tokens[max(0, self.index - 1)].span

    def ahead(self, count: int = 1) -> Token:
        """The token `count` places after the current one; the last one stays END."""
        return self.tokens[min(self.index + count, len(self.tokens) - 1)]

    def at(self, *texts: str) -> bool:
        """Whether the current token is one of these operators, keywords or plain words."""
        return self.current.text in texts and self.current.kind is not TokenKind.STRING

    def at_kind(self, *kinds: TokenKind) -> bool:
        """Whether the current token is of one of these kinds."""
        return self.current.kind in kinds

    def take(self) -> Token:
        """Take the current token; END is never passed."""
        token = self.current
        if token.kind is not TokenKind.END:
            self.index += 1
        return token

    def accept(self, text: str) -> Token | None:
        """Take the current token if it is `text`."""
        return self.take() if self.at(text) else None

    def expect(self, text: str, where: str, help: str = "") -> Token:
        """Take `text` or report that it was wanted `where`."""
        if self.at(text):
            return self.take()
        raise self.unexpected(f"`{text}` {where}", help)

    def expect_name(self, what: str) -> Token:
        """Take a name or report that `what` was wanted."""
        if self.at_kind(TokenKind.NAME):
            return self.take()
        help = ""
        if self.at_kind(TokenKind.KEYWORD):
            help = f"`{self.current.text}` is a keyword; choose another name"
        raise self.unexpected(what, help)

    def unexpected(self, wanted: str, help: str = "") -> Stop:
        """Report the current token as not what was wanted."""
        if self.abandoned:
            return Stop()
        token = self.current
        message = f"expected {wanted}, found {token}"
        for word in (token, self.tokens[max(0, self.index - 1)]):
            if word.kind is TokenKind.NAME and word.text in FOREIGN:
                help = FOREIGN[word.text]
                break
        return self.diagnostics.error("PH004", message, token.span, help=help, stage="parse")

    def skip_terminators(self) -> None:
        """Take newlines and semicolons."""
        while self.at_kind(TokenKind.TERMINATOR):
            self.take()

    def listed(self, item: Callable[[], _T], close: str, where: str) -> tuple[_T, ...]:
        """Items separated by commas up to `close`, which is taken; a trailing comma is allowed."""
        items: list[_T] = []
        opening = self.tokens[max(0, self.index - 1)]
        while not self.at(close):
            items.append(item())
            if not self.accept(",") and not self.at(close):
                raise self.unexpected(f"`,` or `{close}` {where}", self.opened(opening))
        self.take()
        return tuple(items)

    def opened(self, token: Token) -> str:
        """Where a bracket was opened, for the help of a fault before it is closed."""
        source = self.diagnostics.source
        if source is None:
            return ""
        line, column = source.position(token.span.start)
        return f"the `{token.text}` was opened in line {line}, column {column}"

    @contextmanager
    def deeper(self) -> Generator[None]:
        """One level of expression nesting, or a diagnostic when there are too many."""
        self.depth += 1
        try:
            if self.depth > MAX_EXPRESSION_DEPTH:
                raise self.too_deep(
                    f"an expression may nest {MAX_EXPRESSION_DEPTH} levels", self.current.span
                )
            yield
        finally:
            self.depth -= 1

    @contextmanager
    def deeper_block(self) -> Generator[None]:
        """One level of block nesting, or a diagnostic when there are too many."""
        self.blocks += 1
        try:
            if self.blocks > MAX_BLOCK_DEPTH:
                raise self.too_deep(f"blocks may nest {MAX_BLOCK_DEPTH} levels", self.current.span)
            yield
        finally:
            self.blocks -= 1

    def too_deep(self, limit: str, span: Span) -> Stop:
        """Report nesting beyond a limit and leave the rest of the text unread."""
        if self.abandoned:
            return Stop()
        self.abandoned = True
        self.index = len(self.tokens) - 1
        help = "name parts of it with `let`, or move them to a function"
        return self.diagnostics.error("PH006", limit, span, help=help, stage="parse")

    def recover_statement(self, start: int) -> None:
        """After a fault, go to where the next statement may start, at this block's nesting.

        `start` is where the faulty statement began, so that at least one token is passed.
        """
        nested = 0
        while not self.at_kind(TokenKind.END):
            token = self.current
            operator = token.kind is TokenKind.OPERATOR
            if operator and token.text == "{":
                nested += 1
            elif operator and token.text == "}":
                if nested == 0:
                    return
                nested -= 1
            elif nested == 0 and self.index > start and self.starts_afresh(token):
                return
            self.index += 1

    def starts_afresh(self, token: Token) -> bool:
        """Whether parsing can go on at this token after a fault."""
        if token.kind is TokenKind.KEYWORD and token.text in _DECLARATION_WORDS:
            before = self.tokens[max(0, self.index - 1)]
            return before.kind is TokenKind.TERMINATOR or before.text == "}"
        if token.kind is TokenKind.KEYWORD:
            return token.text in _STATEMENT_WORDS
        return token.kind is TokenKind.TERMINATOR

    def recover_declaration(self, start: int) -> None:
        """After a fault outside blocks, go to the next kernel, function or attribute."""
        while not self.at_kind(TokenKind.END):
            word = self.at_kind(TokenKind.KEYWORD) and self.current.text in _DECLARATION_WORDS
            if self.index > start and (word or self.at_attribute()):
                return
            self.index += 1

    def at_attribute(self) -> bool:
        """Whether an attribute starts here."""
        return self.at("@") and self.at_kind(TokenKind.OPERATOR)
