"""`phobos-nb bench`: the benchmarks of `phobos_nb/bench` on the command line."""

from __future__ import annotations

import argparse

from phobos_nb.cli.options import Commands


def register(commands: Commands) -> None:
    """Add the command."""
    from phobos_nb.bench.command import add_arguments

    parser = commands.add_parser("bench", help="the bundled kernels against cuBLAS and torch")
    add_arguments(parser)
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Run the chosen benchmarks."""
    from phobos_nb.bench import command

    return command.run(parsed)
