"""What `compile` is given in place of the text of kernels: no text at all, or the path of a file."""

from __future__ import annotations

import os

from phobos_nb.arguments.findings import ArgumentTypeError
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.source import Source, Span

EXAMPLE = 'a text is `ph.compile("kernel k(A: tensor<f32>[N]) { ... }")`'


def expect_text(text: object) -> None:
    """Raise PH702, a `TypeError` too, for what is no `str`."""
    if isinstance(text, str):
        return
    message = f"compile: wanted the text of kernels (str), got {type(text).__name__}"
    raise ArgumentTypeError([Diagnostic("PH702", message, stage="load", help=_help(text))])


def _help(value: object) -> str:
    if isinstance(value, bytes | bytearray):
        return 'decode it first: `text.decode("utf-8")`'
    if isinstance(value, os.PathLike):
        return "`ph.load(path)` reads a file"
    return f"{EXAMPLE}; `ph.load(path)` reads a file"


def no_path(text: str, name: str) -> None:
    """Raise PH004 for one line that ends in `.ph`: the name of a file, which `load` reads."""
    path = text.strip()
    if not path.endswith(".ph") or "\n" in path or "{" in path or path.startswith("//"):
        return
    help = f"`ph.load({path!r})` reads a file; `compile` takes the text itself"
    start = text.index(path)
    place = Span(start, start + len(path))
    found = Diagnostic("PH004", "this is the name of a file, and no text", place, help=help)
    raise PhobosError([found], Source(text, name))
