"""The options of `phobos-nb tune`: every setting of a search, in groups."""

from __future__ import annotations

import argparse
from pathlib import Path

from phobos_nb.cli.options import add_source, add_target
from phobos_nb.cli.run import argument


def add_options(parser: argparse.ArgumentParser) -> None:
    """All of them."""
    add_source(parser)
    add_target(parser)
    parser.add_argument(
        "values", nargs="*", type=argument, metavar="NAME=VALUE",
        help="extents and scalars by value (M=4096 alpha=0.5), arrays as .npy files (A=a.npy)",
    )  # fmt: skip
    parser.add_argument("--cpu", action="store_true", help="the NumPy meaning instead of the GPU")
    parser.add_argument("--seed", type=int, default=0, help="of arrays and of random orders")
    _add_space(parser)
    _add_measuring(parser)
    _add_shapes(parser)
    _add_where(parser)
    _add_files(parser)


def _add_space(parser: argparse.ArgumentParser) -> None:
    from phobos_nb.tune import strategies

    group = parser.add_argument_group("what is tried")
    group.add_argument("--strategy", choices=strategies.names(), default="exhaustive")
    group.add_argument(
        "--try", dest="choices", nargs="+", action="extend", default=[], type=choice,
        metavar="NAME=V1,V2", help="values of a name, the compiler's own choices too (STAGES=2,3)",
    )  # fmt: skip
    group.add_argument("--seconds", type=float, help="budget in seconds")
    group.add_argument("--trials", type=int, help="budget in configurations")
    group.add_argument("--fresh", action="store_true", help="measure anew what a record knows")


def _add_measuring(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("how it is measured")
    group.add_argument("--samples", type=int, default=5, help="calls of a first look (default: 5)")
    group.add_argument("--finalists", type=int, default=8, help="most of them (default: 8)")
    group.add_argument(
        "--rounds", type=int, default=25,
        help="interleaved rounds, up to four times as many where they leave it open (default: 25)",
    )  # fmt: skip
    group.add_argument("--cold", action="store_true", help="flush the L2 cache before every timed call")
    group.add_argument("--against", choices=("cublas",), help="time a peer in the same rounds")
    group.add_argument("--tolerance", type=float, help="of the relative error (default: by dtypes)")
    group.add_argument(
        "--meaning-seconds", type=float, default=5.0, metavar="S",
        help="for computing the right answer; beyond it, some CTAs only (default: 5)",
    )  # fmt: skip
    group.add_argument("--timeout", type=float, default=30.0, metavar="S", help="of a run (default: 30)")
    group.add_argument(
        "--compile-timeout", type=float, default=120.0, metavar="S", help="of a compilation (120)"
    )


def _add_shapes(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("several shapes at once, with a dispatch table for calls")
    group.add_argument(
        "--shape", dest="shapes", action="append", default=[], type=shape, metavar="M=V,N=V,...",
        help="one of several shapes that shall share a few configurations; give it more than once",
    )  # fmt: skip
    group.add_argument("--weights", type=float, nargs="+", metavar="W", help="how much each counts")
    group.add_argument("--max-configs", type=int, default=4, metavar="N", help="in all (default: 4)")
    group.add_argument("--table", type=Path, metavar="PATH", help="write the dispatch table here too")


def _add_where(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("where")
    group.add_argument("--workers", type=int, help="compiling processes (default: one per core)")
    group.add_argument(
        "--devices", type=devices, metavar="WHICH",
        help="measure on several GPUs at once: all, ordinals such as 0,1, or cluster: one for each "
        "worker of --dask",
    )  # fmt: skip
    group.add_argument(
        "--dask", metavar="ADDRESS", help="compile on a Dask cluster, given its scheduler"
    )


def _add_files(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("files")
    group.add_argument("--csv", type=Path, metavar="PATH", help="write all configurations here")
    group.add_argument("--record", type=Path, metavar="PATH", help="write the record here too")
    group.add_argument("--t4", type=Path, metavar="PATH", help="write the results in the T4 format")
    group.add_argument("--plot", type=Path, metavar="PATH", help="write a figure here (.png, .svg)")


def choice(text: str) -> tuple[str, tuple[int, ...]]:
    """NAME=V1,V2,... with integers."""
    name, equals, values = text.partition("=")
    try:
        numbers = tuple(int(v, 0) for v in values.split(","))
    except ValueError:
        numbers = ()
    if not equals or not name.isidentifier() or not numbers:
        raise argparse.ArgumentTypeError(f"wanted NAME=V1,V2,..., got {text!r}")
    return name, numbers


def shape(text: str) -> dict[str, int]:
    """NAME=VALUE,... with integers."""
    pairs = [choice(part) for part in text.split(",")]
    return {name: values[0] for name, values in pairs}


def devices(text: str) -> str | tuple[int, ...]:
    """`all`, `cluster`, or ordinals."""
    if text in ("all", "cluster"):
        return text
    try:
        return tuple(int(number) for number in text.split(","))
    except ValueError:
        raise argparse.ArgumentTypeError(f"wanted all, cluster or 0,1,..., got {text!r}") from None
