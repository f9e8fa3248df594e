"""`phobos-nb tune`: find the fastest constants of a kernel, or look at a recorded search."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from phobos_nb.arguments.make import random_arguments
from phobos_nb.cli.options import Commands, add_source, add_target, kernels
from phobos_nb.cli.run import argument
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.tune.outcome import Failed
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.search import Event, Listener


def register(commands: Commands) -> None:
    """Add the command."""
    from phobos_nb.tune import strategies

    parser = commands.add_parser(
        "tune", help="find the fastest tile sizes, checked and remembered for later calls"
    )
    add_source(parser)
    add_target(parser)
    parser.add_argument(
        "values", nargs="*", type=argument, metavar="NAME=VALUE",
        help="extents and scalars by value (M=4096 alpha=0.5), arrays as .npy files (A=a.npy)",
    )  # fmt: skip
    parser.add_argument(
        "--shape", dest="shapes", action="append", default=[], type=shape, metavar="M=V,N=V,...",
        help="one of several shapes that shall share a few configurations; give it more than once",
    )  # fmt: skip
    parser.add_argument(
        "--max-configs", type=int, default=4, help="configurations that --shape's may share (default: 4)"
    )
    parser.add_argument(
        "--table", type=Path, metavar="PATH", help="write the dispatch table of --shape's here too"
    )
    parser.add_argument("--cpu", action="store_true", help="the NumPy meaning instead of the GPU")
    parser.add_argument("--strategy", choices=strategies.names(), default="exhaustive")
    parser.add_argument(
        "--try", dest="choices", nargs="+", action="extend", default=[], type=choice,
        metavar="NAME=V1,V2", help="values of a name, the compiler's own choices too (STAGES=2,3)",
    )  # fmt: skip
    parser.add_argument("--seconds", type=float, help="budget in seconds")
    parser.add_argument("--trials", type=int, help="budget in configurations")
    parser.add_argument("--rounds", type=int, default=25, help="interleaved rounds (default: 25)")
    parser.add_argument("--cold", action="store_true", help="flush the L2 cache before every timed call")
    parser.add_argument("--against", choices=("cublas",), help="time a peer in the same rounds")
    parser.add_argument("--workers", type=int, help="compiling processes (default: one per core)")
    parser.add_argument("--fresh", action="store_true", help="measure anew what a record knows")
    parser.add_argument("--seed", type=int, default=0, help="of arrays and of random orders")
    parser.add_argument("--csv", type=Path, metavar="PATH", help="write all configurations here")
    parser.add_argument("--record", type=Path, metavar="PATH", help="write the record here too")
    parser.add_argument("--t4", type=Path, metavar="PATH", help="write the results in the T4 format")
    parser.add_argument("--plot", type=Path, metavar="PATH", help="write a figure here (.png, .svg)")
    parser.set_defaults(run=run)


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


def run(parsed: argparse.Namespace) -> int:
    """Search and report; 1 when no configuration gave a right answer."""
    kernel = kernels(parsed)[0]
    return run_shapes(kernel, parsed) if parsed.shapes else run_one(kernel, parsed)


def options(parsed: argparse.Namespace) -> dict[str, Any]:
    """What holds for one shape and for several."""
    return {
        "choices": dict(parsed.choices),
        "strategy": parsed.strategy,
        "seconds": parsed.seconds,
        "trials": parsed.trials,
        "rounds": parsed.rounds,
        "cache": "cold" if parsed.cold else "warm",
        "against": parsed.against,
        "workers": parsed.workers,
        "resume": not parsed.fresh,
        "seed": parsed.seed,
        "listener": progress(),
    }


def run_shapes(kernel: Kernel, parsed: argparse.Namespace) -> int:
    """A few configurations for the shapes."""
    shapes: list[dict[str, int]] = parsed.shapes
    values: dict[str, Any] = dict(parsed.values)
    found = kernel.tune(
        shapes=shapes,
        max_configs=parsed.max_configs,
        on="cpu" if parsed.cpu else "gpu",
        **values,
        **options(parsed),
    )
    print(found)
    if parsed.csv:
        frame: Any = found.frame
        frame.to_csv(parsed.csv, index=False)
    if parsed.plot:
        figure: Any = found.plot()
        figure.savefig(parsed.plot, dpi=120)
    if parsed.table:
        parsed.table.write_text(found.table.to_json(), "utf-8")
    return int(not found.configurations)


def run_one(kernel: Kernel, parsed: argparse.Namespace) -> int:
    """The search of one call."""
    import numpy as np

    rng = np.random.default_rng(parsed.seed)
    values = random_arguments(kernel.name, kernel.parameters, dict(parsed.values), rng)
    if not parsed.cpu:
        values = {n: _to_device(v) for n, v in values.items()}
    tuning = kernel.tune(**values, **options(parsed))
    print(tuning)
    for failed in tuning.failures:
        print(f"  {failed.label}: {failed.kind.value}: {failed.reason}")
    write_files(tuning, parsed)
    return int(tuning.winner is None)


def write_files(tuning: Tuning, parsed: argparse.Namespace) -> None:
    """What was asked for, each in its file."""
    from phobos_nb.tune import records, t4

    if parsed.csv:
        frame: Any = tuning.frame
        frame.to_csv(parsed.csv, index=False)
    if parsed.record:
        records.write(tuning.record, parsed.record)
    if parsed.t4:
        t4.write(tuning.record, parsed.t4)
    if parsed.plot:
        figure: Any = tuning.plot()
        figure.savefig(parsed.plot, dpi=120)


def progress() -> Listener:
    """Prints one line per outcome and one when the finals begin."""
    begun = time.perf_counter()

    def show(event: Event) -> None:
        now = f"{time.perf_counter() - begun:7.1f} s"
        if event.outcome is None:
            if event.done == 1:
                print(f"{now}  finals: {event.total} interleaved rounds", flush=True)
            return
        outcome = event.outcome
        what = (
            f"{outcome.kind.value}: {outcome.reason}"
            if isinstance(outcome, Failed)
            else f"{outcome.median:.4g} ms"
        )
        print(f"{now}  {event.done}/{event.total}  {outcome.label}  {what}", flush=True)

    return show


def _to_device(value: Any) -> Any:
    from phobos_nb.cuda.arrays import to_device

    return to_device(value) if hasattr(value, "dtype") else value
