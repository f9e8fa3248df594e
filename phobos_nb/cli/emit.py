"""`phobos-nb emit`: one stage of a compilation as text."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path

from phobos_nb.cli.options import Commands, add_source, add_target, kernels
from phobos_nb.compilation.compilation import Compilation
from phobos_nb.diagnostics import Severity
from phobos_nb.files import write_whole

STAGES: dict[str, Callable[[Compilation], str]] = {
    "tile": lambda c: c.tile_mlir,
    "thread": lambda c: c.thread_generic,
    "cuda": lambda c: c.cuda,
    "ptx": lambda c: c.ptx,
    "sass": lambda c: c.sass,
    "smem": lambda c: _ruler(c),
}

SPLIT = {"tile": "// -----\n", "thread": "// -----\n"}
"""What stands between kernels of one file, as upstream's `-split-input-file` reads it."""


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser("emit", help="print a stage of the compilation")
    add_source(parser)
    add_target(parser)
    parser.add_argument(
        "--stage", choices=STAGES, default="thread", help="what to print (default: thread)"
    )
    parser.add_argument("-o", dest="output", metavar="OUT", help="write to a file, all or nothing")
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Compile and print; warnings, and what was decided below tile MLIR, go to standard error."""
    texts: list[str] = []
    for kernel in kernels(parsed):
        compilation = kernel.compile()
        texts += _texts(compilation, parsed.stage)
        lowered = parsed.stage != "tile"
        for note in compilation.notes if lowered else compilation.typed.findings:
            if note.severity is Severity.WARNING or note.stage == "lower":
                print(note.render(compilation.source), file=sys.stderr)
    text = SPLIT.get(parsed.stage, "\n").join(t if t.endswith("\n") else t + "\n" for t in texts)
    if parsed.output:
        write_whole(Path(parsed.output), text)
    else:
        sys.stdout.write(text)
    return 0


def _texts(compilation: Compilation, stage: str) -> list[str]:
    """A stage of every launch, each under its name where there are several; tile MLIR is one for all."""
    launches = compilation.launches
    if stage == "tile" or len(launches) == 1:
        return [STAGES[stage](compilation)]
    from phobos_nb.views.from_compilation import heading

    return [f"{heading(launches, n)}\n{STAGES[stage](launch)}" for n, launch in enumerate(launches)]


def _ruler(compilation: Compilation) -> str:
    from phobos_nb.views.from_compilation import memory_of
    from phobos_nb.views.shared_memory import to_text

    return to_text(memory_of(compilation))
