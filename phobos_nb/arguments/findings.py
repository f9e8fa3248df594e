"""The errors a call can raise: diagnostics that are also Python's own TypeError or ValueError."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field

from phobos_nb.diagnostics import Diagnostic, PhobosError


class ArgumentTypeError(PhobosError, TypeError):
    """An argument is of the wrong kind, dtype or rank, missing or unknown."""


class ArgumentValueError(PhobosError, ValueError):
    """An argument's shape, layout, memory or value does not suit the kernel."""


@dataclass
class Findings:
    """Collects what is wrong with one call, so that all of it is reported together."""

    kernel: str
    types: list[Diagnostic] = field(default_factory=list[Diagnostic])
    values: list[Diagnostic] = field(default_factory=list[Diagnostic])

    def type_error(self, code: str, message: str, help: str = "") -> None:
        """Record what will raise `ArgumentTypeError`."""
        self.types.append(self._diagnostic(code, message, help))

    def value_error(self, code: str, message: str, help: str = "") -> None:
        """Record what will raise `ArgumentValueError`."""
        self.values.append(self._diagnostic(code, message, help))

    def _diagnostic(self, code: str, message: str, help: str) -> Diagnostic:
        return Diagnostic(code, f"{self.kernel}: {message}", stage="launch", help=help)

    def raise_errors(self) -> None:
        """Raise if anything was recorded; a TypeError where any finding is one."""
        if self.types:
            raise ArgumentTypeError([*self.types, *self.values])
        if self.values:
            raise ArgumentValueError(self.values)


@contextmanager
def findings(kernel: str) -> Generator[Findings]:
    """A `Findings` that raises what it collected when the block ends."""
    found = Findings(kernel)
    yield found
    found.raise_errors()
