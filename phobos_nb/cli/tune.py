"""`phobos-nb tune`: find the fastest constants of a kernel, or search a recorded space again."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

from phobos_nb.cli.options import Commands, kernels, made_arguments
from phobos_nb.cli.tune_options import add_options
from phobos_nb.cli.tune_report import progress, show, write_files, wrong_files
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.diagnostics import PhobosError
from phobos_nb.tune.result import Tuning
from phobos_nb.tune.shapes_result import ShapesTuning

FOUND, NOTHING, UNUSABLE, NO_GPU = 0, 1, 2, 3

NO_GPU_HERE = """\
no GPU: a search times configurations on an NVIDIA GPU.
--cpu searches the NumPy meaning instead; a record (.json, such as those in results/) in place of FILE
is searched again from its recorded times; `phobos-nb emit` compiles for any target."""

EXIT_CODES = (
    "exit codes: 0; 1 no configuration gave a right answer; 2 options or files that cannot be used; "
    "3 no GPU"
)


def register(commands: Commands) -> None:
    """Add the command."""
    parser = commands.add_parser(
        "tune",
        help="find the fastest tile sizes, checked and remembered for later calls",
        description="FILE is a .ph file, or a record (.json), which is searched again without a GPU.",
        epilog=EXIT_CODES,
    )
    add_options(parser)
    parser.set_defaults(run=run)


def run(parsed: argparse.Namespace) -> int:
    """Search and report."""
    problem = _contradiction(parsed)
    if problem:
        print(f"error: {problem}", file=sys.stderr)
        return UNUSABLE
    if parsed.file.endswith(".json"):
        return _replay(parsed)
    kernel = kernels(parsed)[0]
    if not parsed.cpu and not _has_gpu():
        print(NO_GPU_HERE, file=sys.stderr)
        return NO_GPU
    try:
        found = _search(kernel, parsed)
    except PhobosError as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    show(found)
    write_files(found, parsed)
    return FOUND if _has_winner(found) else NOTHING


def _contradiction(parsed: argparse.Namespace) -> str:
    if parsed.devices == "cluster" and not parsed.dask:
        return "--devices cluster needs --dask ADDRESS"
    if parsed.shapes and (parsed.record or parsed.t4):
        return "--record and --t4 hold one shape: run without --shape"
    if (parsed.weights or parsed.table) and not parsed.shapes:
        return "--weights and --table are those of --shape"
    shaped = {n for shape in parsed.shapes or () for n in shape} & {n for n, _ in parsed.values}
    if shaped:
        return f"{', '.join(sorted(shaped))}: given beside --shape, which gives it too"
    return wrong_files(parsed)


def _has_gpu() -> bool:
    from phobos_nb.cuda.driver import first_capability

    return first_capability() is not None


def _has_winner(found: Tuning | ShapesTuning) -> bool:
    return found.winner is not None if isinstance(found, Tuning) else bool(found.configurations)


def _search(kernel: Kernel, parsed: argparse.Namespace) -> Tuning | ShapesTuning:
    with _client(parsed.dask) as client:
        settings = _settings(parsed, client)
        given = dict(parsed.values)
        if parsed.shapes:
            shared = {"weights": parsed.weights, "max_configs": parsed.max_configs}
            place = "cpu" if parsed.cpu else "gpu"
            shapes: list[dict[str, int]] = parsed.shapes
            return kernel.tune(shapes=shapes, on=place, **given, **shared, **settings)
        return cast("Tuning", kernel.tune(**_arguments(kernel, given, parsed), **settings))


def _arguments(kernel: Kernel, given: dict[str, Any], parsed: argparse.Namespace) -> dict[str, Any]:
    import numpy as np

    rng = np.random.default_rng(parsed.seed)
    values = made_arguments(kernel, given, rng)
    return values if parsed.cpu else {n: _to_device(v) for n, v in values.items()}


def _settings(parsed: argparse.Namespace, client: Any) -> dict[str, Any]:
    same = (
        "strategy seconds trials samples finalists rounds seed against tolerance meaning_seconds "
        "timeout compile_timeout workers"
    )
    return {
        **{name: getattr(parsed, name) for name in same.split()},
        "choices": dict(parsed.choices),
        "cache": "cold" if parsed.cold else "warm",
        "resume": not parsed.fresh,
        "executor": client and client.get_executor(),
        "devices": client if parsed.devices == "cluster" else parsed.devices,
        "listener": progress(),
    }


@contextmanager
def _client(address: str | None) -> Generator[Any]:
    """A client of the Dask cluster there, or None; exits with code 2 where Dask is not installed."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError:
        print('error: --dask needs pip install "phobos_nb[cluster]"', file=sys.stderr)
        raise SystemExit(UNUSABLE) from None
    with Client(address) as client:
        yield client


def _replay(parsed: argparse.Namespace) -> int:
    """Search a record again, with the strategy and the budgets given."""
    from phobos_nb.tune.records import RecordError, read
    from phobos_nb.tune.replay import replay
    from phobos_nb.tune.search import Plan

    try:
        record = read(Path(parsed.file))
    except RecordError as error:
        print(f"error: {parsed.file}: {error}", file=sys.stderr)
        return UNUSABLE
    plan = Plan(parsed.seconds, parsed.trials, parsed.finalists, parsed.rounds, parsed.seed)
    found = replay(record, strategy=parsed.strategy, plan=plan, samples=parsed.samples)
    show(found)
    write_files(found, parsed)
    return FOUND if found.winner is not None else NOTHING


def _to_device(value: Any) -> Any:
    from phobos_nb.cuda.arrays import to_device

    return to_device(value) if hasattr(value, "dtype") else value
