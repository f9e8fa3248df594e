"""Kernels given as text, run by the meaning."""

from __future__ import annotations

from typing import Any

from phobos_nb import attributes, builtins
from phobos_nb.language.frontend import check, parse
from phobos_nb.language.meaning import MeaningResult, run
from phobos_nb.source import Source


def meant(
    text: str, grid: Any = None, constants: dict[str, int] | None = None, **arguments: Any
) -> MeaningResult:
    """Check the only kernel of a text and run it on the arguments."""
    program = parse(Source(text, "k.ph"))
    (kernel,) = program.kernels
    typed = check(program, kernel.name, constants or {}, builtins.table(), attributes.table())
    return run(typed, arguments, grid, builtins=builtins.table())
