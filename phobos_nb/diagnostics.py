"""Diagnostics: what is wrong, where, what was wanted and found, and how to mend it."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from contextlib import contextmanager
from dataclasses import dataclass, field
from enum import Enum

from phobos_nb.source import Source, Span


class Severity(Enum):
    """How much a diagnostic stops: errors raise, warnings and notes are shown."""

    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True)
class Diagnostic:
    """One finding about a program.

    `code` is `PH` and three digits: 0xx text, 1xx names and types, 2xx tiles and slices,
    3xx uniformity and threads, 4xx attributes and configuration, 5xx lowering,
    6xx back end (NVRTC, driver), 7xx launch, 8xx simulation. `stage` names the part of the compiler.
    """

    code: str
    message: str
    span: Span | None = None
    severity: Severity = Severity.ERROR
    stage: str = "check"
    help: str = ""

    def render(self, source: Source | None) -> str:
        """The diagnostic as text: header, place, source line with a caret span, help."""
        lines = [f"{self.severity.value}[{self.code}]: {self.message}"]
        if source is not None and self.span is not None:
            lines += self._excerpt(source, self.span)
        elif source is not None:
            lines.append(f"  --> {source.shown_name}")
        if self.help:
            lines.append(f"  help: {self.help}")
        return "\n".join(lines)

    @staticmethod
    def _excerpt(source: Source, span: Span) -> list[str]:
        line, column = source.position(span.start)
        text = source.line_text(line)
        width = max(1, min(span.stop - span.start, len(text) - column + 1))
        gutter = " " * len(str(line))
        pad = "".join("\t" if c == "\t" else " " for c in text[: column - 1])
        return [
            f"{gutter}--> {source.shown_name}:{line}:{column}",
            f"{gutter} |",
            f"{line} | {text}",
            f"{gutter} | {pad}{'^' * width}",
        ]


SHOWN = 20
"""Diagnostics that an error's text has; one slip may lead to hundreds."""


class PhobosError(Exception):
    """Raised for a user's mistake; carries every diagnostic found, and shows the first `SHOWN`."""

    def __init__(self, diagnostics: Iterable[Diagnostic], source: Source | None = None) -> None:
        self.diagnostics = tuple(diagnostics)
        self.source = source
        super().__init__("\n\n".join([*(d.render(source) for d in self.shown), *self.rest]))

    @property
    def shown(self) -> tuple[Diagnostic, ...]:
        """The diagnostics that the text has."""
        return self.diagnostics[:SHOWN]

    @property
    def rest(self) -> list[str]:
        """A line that counts the diagnostics that the text leaves out, if there are any."""
        more = len(self.diagnostics) - SHOWN
        return [f"and {more} more"] if more > 0 else []

    def __reduce__(self) -> tuple[object, ...]:
        """Errors come back whole from other processes, whatever the constructor of their kind takes."""
        return _restored, (type(self), self.args, self.__dict__.copy())

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the frames of the user's own code and the message."""
        from phobos_nb.colored import shown_error

        return shown_error(self)


class PhobosWarning(UserWarning):
    """What a text's author should look at: Python's form of a diagnostic that is a warning."""


def _restored(
    kind: type[PhobosError], args: tuple[object, ...], fields: dict[str, object]
) -> PhobosError:
    error = kind.__new__(kind, *args)
    error.args = args
    error.__dict__.update(fields)
    return error


class Stop(Exception):
    """Leaves a construct whose error has been reported; caught where checking can go on."""


@dataclass
class Diagnostics:
    """Collects the findings of one compilation; `raise_errors` ends a stage."""

    source: Source | None = None
    items: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def error(
        self, code: str, message: str, span: Span | None, *, help: str = "", stage: str = "check"
    ) -> Stop:
        """Record an error and return a `Stop` to raise where the construct cannot go on."""
        self.items.append(Diagnostic(code, message, span, Severity.ERROR, stage, help))
        return Stop(message)

    def warn(
        self, code: str, message: str, span: Span | None, *, help: str = "", stage: str = "check"
    ) -> None:
        """Record a warning: shown, never stops."""
        self.items.append(Diagnostic(code, message, span, Severity.WARNING, stage, help))

    def note(
        self, code: str, message: str, span: Span | None, *, help: str = "", stage: str = "check"
    ) -> None:
        """Record a note: something the compiler decided that the author should see."""
        self.items.append(Diagnostic(code, message, span, Severity.NOTE, stage, help))

    @property
    def errors(self) -> list[Diagnostic]:
        """The errors, in source order."""
        found = [d for d in self.items if d.severity is Severity.ERROR]
        return sorted(found, key=lambda d: d.span or Span(0, 0))

    def raise_errors(self) -> None:
        """Raise one `PhobosError` with every error collected so far, if there is any."""
        if self.errors:
            raise PhobosError(self.errors, self.source)

    @contextmanager
    def recover(self) -> Generator[None]:
        """Go on after a construct whose error has been recorded."""
        try:
            yield
        except Stop:
            return
