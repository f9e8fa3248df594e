"""What `phobos-nb tune` prints and writes."""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

from phobos_nb.cli.paths import unwritable
from phobos_nb.compilation.dispatch_table import DispatchTable
from phobos_nb.tune.files import put_in_place
from phobos_nb.tune.outcome import Failed
from phobos_nb.tune.result import Tuning, summary
from phobos_nb.tune.search import Event, Listener
from phobos_nb.tune.shapes_result import ShapesTuning


def show(found: Tuning | ShapesTuning) -> None:
    """The summary, and why configurations failed."""
    print(summary(found, reasons=False) if isinstance(found, Tuning) else found)
    for tuning in [found] if isinstance(found, Tuning) else found.tunings:
        for failed in tuning.failures:
            print(f"  {failed.label}: {failed.kind.value}: {failed.reason}")


def write_files(found: Tuning | ShapesTuning, parsed: argparse.Namespace) -> None:
    """What was asked for, each in its file."""
    from phobos_nb.tune import records, t4

    if parsed.csv:
        frame: Any = found.frame
        frame.to_csv(parsed.csv, index=False)
    if isinstance(found, Tuning) and parsed.record:
        records.write(found.record, parsed.record)
    if isinstance(found, Tuning) and parsed.t4:
        t4.write(found.record, parsed.t4)
    if isinstance(found, ShapesTuning) and parsed.table:
        put_in_place(found.table.to_json(), parsed.table, DispatchTable.from_json)
    if parsed.plot:
        figure: Any = found.plot()
        figure.savefig(parsed.plot, dpi=120)


def wrong_files(parsed: argparse.Namespace) -> str:
    """What is wrong with the paths, found before a search that would be for nothing; else empty."""
    paths = (parsed.csv, parsed.record, parsed.t4, parsed.table, parsed.plot)
    problem = unwritable(paths)
    if problem or not parsed.plot:
        return problem
    return _no_figure(parsed.plot)


def _no_figure(path: Path) -> str:
    from phobos_nb.tune.plot import file_kinds

    kinds = file_kinds()
    if path.suffix.removeprefix(".").lower() in kinds:
        return ""
    return f"--plot {path}: wanted a name that ends in one of {', '.join(f'.{k}' for k in kinds)}"


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
