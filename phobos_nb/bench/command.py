"""`phobos-nb bench`: the table on standard output, the figures as CSV."""

from __future__ import annotations

import argparse
import csv
import datetime
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

from phobos_nb.bench.harness import Row, run_workload
from phobos_nb.bench.table import WORKLOADS
from phobos_nb.bench.workload import PEAKS, Workload
from phobos_nb.compilation.module import load_with
from phobos_nb.options import CompileOptions


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The options of the command."""
    parser.add_argument("--bench", nargs="+", choices=WORKLOADS, metavar="NAME",
                        help=f"which: {', '.join(WORKLOADS)} (default: all)")  # fmt: skip
    parser.add_argument(
        "--examples", type=Path, default=Path("examples"), help="folder of the .ph files"
    )
    parser.add_argument(
        "--sizes", type=int, nargs="+", help="keep sizes whose first extent is one of these"
    )
    parser.add_argument("--autotune", metavar='"X=V ..."', default="", help="values of tuning names")
    parser.add_argument("--rounds", type=int, default=25, help="interleaved rounds (default: 25)")
    parser.add_argument("--inner", type=int, default=4, help="calls per round (default: 4)")
    parser.add_argument("--seed", type=int, default=0, help="of the random inputs (default: 0)")
    for unit, meaning in PEAKS.items():
        parser.add_argument(
            f"--peak-{unit}", type=float, metavar="T", help=f"the card's TFLOP/s of {meaning}"
        )
    parser.add_argument("--csv", nargs="?", const=Path("bench.csv"), type=Path, metavar="PATH",
                        help="write the figures to a file (default: bench.csv)")  # fmt: skip


def run(parsed: argparse.Namespace) -> int:
    """Run the chosen benchmarks; 1 when one of our outputs was wrong."""
    from phobos_nb.cuda.driver import describe_gpus

    card = describe_gpus()[0]
    print(card)
    constants = {n: int(v) for n, _, v in (t.partition("=") for t in parsed.autotune.split())}
    rows: list[Row] = []
    for name in parsed.bench or WORKLOADS:
        rows += _run_one(WORKLOADS[name], constants, parsed)
    if parsed.csv:
        write_csv(parsed.csv, rows, card)
    return int(any(not row.passed for row in rows if row.constants))


def _run_one(workload: Workload, constants: dict[str, int], parsed: argparse.Namespace) -> list[Row]:
    options = CompileOptions(constants={**workload.constants, **constants})
    module = load_with(parsed.examples / workload.file, options)
    kernel = next(iter(module))
    rows: list[Row] = []
    for extents in workload.sizes:
        if parsed.sizes and next(iter(extents.values())) not in parsed.sizes:
            continue
        found = run_workload(
            workload, kernel, extents, rounds=parsed.rounds, inner=parsed.inner, seed=parsed.seed,
            peaks=_peaks(parsed),
        )  # fmt: skip
        for row in found:
            print(format_row(row))
        rows += found
    return rows


def _peaks(parsed: argparse.Namespace) -> dict[str, float]:
    given = {unit: getattr(parsed, f"peak_{unit}") for unit in PEAKS}
    return {unit: peak for unit, peak in given.items() if peak}


def format_row(row: Row) -> str:
    """One line of the table."""
    rate = f"{row.tflops:8.1f} TFLOP/s" if row.tflops == row.tflops else f"{row.gbps:8.0f} GB/s   "
    peak = "" if row.peak_percent != row.peak_percent else f" {row.peak_percent:5.1f} % of peak"
    times = f"{row.median:9.4f} ms (best {row.fastest:9.4f})"
    return (
        f"{row.workload:20} {row.size:18} {row.contender:18} {times} "
        f"{rate} {row.ratio:6.3f}x{peak}  error {row.error:.2e}{verdict(row)}  {row.constants}"
    )


def verdict(row: Row) -> str:
    """What to say of a contender's outputs beside their error."""
    if not row.same_precision:
        return "  other precision"
    return "" if row.passed else "  WRONG"


def write_csv(path: Path, rows: Sequence[Row], card: str) -> None:
    """The rows with what is needed to repeat them: date, card, versions, command."""
    facts = provenance(card)
    names = [f.name for f in fields(Row)]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, [*names, *facts])
        writer.writeheader()
        writer.writerows({**asdict(row), **facts} for row in rows)


def provenance(card: str) -> dict[str, Any]:
    """Where figures come from."""
    from phobos_nb import __version__
    from phobos_nb.cuda.driver import package_versions

    now = datetime.datetime.now(datetime.UTC)
    return {
        "date": now.strftime("%Y-%m-%d %H:%M UTC"),
        "card": card,
        "phobos_nb": __version__,
        **package_versions(),
        "command": "phobos-nb " + " ".join(sys.argv[1:]),
    }
