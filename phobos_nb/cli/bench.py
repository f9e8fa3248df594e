"""`phobos-nb bench`: the benchmarks of `phobos_nb/bench` on the command line."""

from __future__ import annotations

import argparse
import math
import sys
from pathlib import Path

import phobos_nb
from phobos_nb.cli.options import Commands
from phobos_nb.cli.paths import unwritable

EXIT_CODES = (
    "exit codes: 0; 1 an output was wrong, or a kernel is slower than its baseline; "
    "2 options or a baseline that cannot be used; 3 no GPU, nothing was timed"
)


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "bench", help="the bundled kernels against cuBLAS and torch", epilog=EXIT_CODES
    )
    _add_what(parser)
    _add_how(parser)
    _add_files(parser)
    parser.set_defaults(run=run)


def _add_what(parser: argparse.ArgumentParser) -> None:
    from phobos_nb.bench.command import pins
    from phobos_nb.bench.table import WORKLOADS

    parser.add_argument(
        "--bench",
        nargs="+",
        action="extend",
        type=benchmark,
        metavar="NAME",
        help=f"which: {', '.join(WORKLOADS)} (default: all)",
    )
    parser.add_argument(
        "--examples",
        type=Path,
        default=examples(),
        help="folder of the .ph files (default: %(default)s)",
    )
    parser.add_argument(
        "--sizes",
        nargs="+",
        metavar="SIZE",
        help="instead of the usual ones: 4096 for the largest extents, or all of them, 4096x4096x512",
    )
    parser.add_argument(
        "--autotune",
        nargs="?",
        type=pins,
        const={},
        metavar='"X=V ..."',
        help="run these values of tuning names; without any, search first (default: the recorded "
        "winner, else the kernel's defaults)",
    )
    parser.add_argument("--cpu", action="store_true", help="the NumPy meaning instead of the GPU")


def _add_how(parser: argparse.ArgumentParser) -> None:
    from phobos_nb.bench.workload import PEAKS

    parser.add_argument(
        "--rounds",
        type=positive,
        default=28,
        help="interleaved rounds, up to four times as many where times vary (default: 28)",
    )
    parser.add_argument(
        "--sittings",
        type=positive,
        default=4,
        metavar="N",
        help="sets of arrays that share the rounds, as far as memory allows (default: 4)",
    )
    parser.add_argument("--inner", type=positive, default=4, help="calls per round (default: 4)")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs (default: 0)")
    for unit, meaning in PEAKS.items():
        parser.add_argument(
            f"--peak-{unit}", type=above_zero, metavar="T", help=f"the card's TFLOP/s of {meaning}"
        )


def _add_files(parser: argparse.ArgumentParser) -> None:
    from phobos_nb.bench.baseline import MARGIN

    parser.add_argument(
        "--csv",
        nargs="?",
        const=Path("bench.csv"),
        type=Path,
        metavar="PATH",
        help="write the figures to a file (default: bench.csv)",
    )
    parser.add_argument(
        "--json",
        nargs="?",
        const=Path("bench.json"),
        type=Path,
        metavar="PATH",
        help="write all times to a file, a later baseline (default: bench.json)",
    )
    parser.add_argument(
        "--against",
        type=Path,
        metavar="PATH",
        help="compare with an earlier --json file; exit code 1 if a kernel is slower",
    )
    parser.add_argument(
        "--margin",
        type=not_negative,
        default=100 * MARGIN,
        metavar="PERCENT",
        help="differences up to this are no differences (default: %(default)g)",
    )
    parser.add_argument(
        "--across",
        action="store_true",
        help="compare with a baseline of another card, driver or version",
    )


def benchmark(text: str) -> str:
    """A benchmark by its name or the original program's."""
    from phobos_nb.bench.table import ALIASES, WORKLOADS

    name = ALIASES.get(text, text)
    if name not in WORKLOADS:
        known = ", ".join([*WORKLOADS, *ALIASES])
        raise argparse.ArgumentTypeError(f"no benchmark {text!r}; there are {known}")
    return name


def positive(text: str) -> int:
    """A whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"wanted at least 1, got {text}")
    return number


def above_zero(text: str) -> float:
    """A number above 0."""
    number = not_negative(text)
    if number == 0:
        raise argparse.ArgumentTypeError(f"wanted more than 0, got {text}")
    return number


def not_negative(text: str) -> float:
    """A number from 0 on."""
    number = float(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"wanted a number from 0 on, got {text}")
    return number


def examples() -> Path:
    """The folder of the bundled kernels: here, else in the checkout that the package is run from."""
    here, checkout = Path("examples"), Path(phobos_nb.__file__).parents[1] / "examples"
    return checkout if checkout.is_dir() and not here.is_dir() else here


def run(parsed: argparse.Namespace) -> int:
    """Run the chosen benchmarks."""
    from phobos_nb.bench import command

    problem = unwritable((parsed.csv, parsed.json))
    if not problem and not parsed.examples.is_dir():
        problem = f"--examples {parsed.examples}: no folder; wanted that of the bundled .ph files"
    if problem:
        print(f"error: {problem}", file=sys.stderr)
        return command.UNUSABLE
    return command.run(parsed)
