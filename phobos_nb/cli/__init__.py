"""The command line: `phobos-nb emit | run | simulate | tune | bench | doctor | cache`.

Exit codes: 0 done, 1 the program or its data is at fault (the diagnostic is on standard error),
2 the command line is.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from phobos_nb import __version__
from phobos_nb.diagnostics import PhobosError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit code."""
    parsed = parser().parse_args(arguments)
    try:
        return int(parsed.run(parsed))
    except PhobosError as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, OSError) else 1
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        print(f"error: {error}", file=sys.stderr)
        return 2


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    from phobos_nb.cli import bench, cache, doctor, emit, run, tune

    top = argparse.ArgumentParser(
        prog="phobos-nb", description="GPU kernels in the Phobos tile language"
    )
    top.add_argument("--version", action="version", version=f"phobos_nb {__version__}")
    commands = top.add_subparsers(required=True, metavar="COMMAND")
    for module in (emit, run, tune, bench, doctor, cache):
        module.register(commands)
    return top
