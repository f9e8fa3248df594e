"""`phobos-nb bench`: a table on standard output, figures as CSV and JSON, the verdict as exit code.

Exit codes: 0; 1 when an output of ours was wrong, or a kernel is slower than its baseline; 2 for options
or files that cannot be used, such as a baseline of another card; 3 when there was no GPU to time on.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping, Sequence

from phobos_nb.bench import baseline, offline, report
from phobos_nb.bench.harness import Plan
from phobos_nb.bench.measure import load, measure_kernel, resize
from phobos_nb.bench.place import Cpu, Gpu, Place
from phobos_nb.bench.row import Row
from phobos_nb.bench.table import WORKLOADS
from phobos_nb.bench.text import HEAD, format_row
from phobos_nb.bench.workload import PEAKS, Extents
from phobos_nb.compilation.kernel import Kernel
from phobos_nb.diagnostics import Diagnostic, PhobosError

OK, FAILED, UNUSABLE, NO_GPU = 0, 1, 2, 3


def run(parsed: argparse.Namespace) -> int:
    """Run the chosen benchmarks and judge them."""
    try:
        earlier = report.read(parsed.against) if parsed.against else None
        sizes = chosen_sizes(parsed)
        kernels = chosen_kernels(parsed)
        place = _place(parsed)
    except PhobosError as error:
        print(error, file=sys.stderr)
        return UNUSABLE
    if place is None:
        return NO_GPU
    if earlier is not None and not _is_comparable(place, earlier, parsed):
        return UNUSABLE
    rows, failed = _measure(kernels, sizes, place, parsed)
    found = report.report(rows, place, parsed.inner)
    if parsed.csv:
        found.write_csv(parsed.csv)
    if parsed.json:
        found.write_json(parsed.json)
    code = FAILED if failed or any(row.ours and not row.passed for row in rows) else OK
    if earlier is None:
        return code
    return max(judge(rows, earlier.rows, parsed.margin / 100), code)


def chosen_sizes(parsed: argparse.Namespace) -> dict[str, Sequence[Extents]]:
    """The extents of every benchmark; `PhobosError` for a size that one of them cannot have."""
    found: dict[str, Sequence[Extents]] = {}
    for name in parsed.bench or WORKLOADS:
        workload = WORKLOADS[name]
        given = [resize(workload, size) for size in parsed.sizes or ()]
        found[name] = given or workload.sizes
    return found


def chosen_kernels(parsed: argparse.Namespace) -> list[tuple[str, Kernel]]:
    """The benchmarks and their kernels, pinned where names are; `PhobosError` for a name of none."""
    pins = dict(parsed.autotune or {})
    found: list[tuple[str, Kernel]] = []
    used: set[str] = set()
    for name in dict.fromkeys(parsed.bench or WORKLOADS):
        kernel = load(WORKLOADS[name], parsed.examples, {})
        mine = {n: v for n, v in pins.items() if n in kernel.constant_names}
        used |= mine.keys()
        found.append((name, kernel.specialize(**mine) if mine else kernel))
    strays = sorted(pins.keys() - used)
    if strays:
        message = f"--autotune: no chosen benchmark has {', '.join(strays)}"
        names = sorted({n for _, kernel in found for n in kernel.constant_names if n.startswith("TILE")})
        raise PhobosError(
            [Diagnostic("PH404", message, stage="bench", help=f"such as {', '.join(names)}")]
        )
    return found


def _place(parsed: argparse.Namespace) -> Place | None:
    """Where to measure; None, after saying what can be said, where there is no GPU."""
    from phobos_nb.cuda.driver import MissingCuPyError

    if parsed.cpu:
        return Cpu()
    try:
        return Gpu()
    except (MissingCuPyError, RuntimeError) as error:
        print(offline.why_not(error), file=sys.stderr)
    print(offline.HEAD)
    for line in offline.compiled(chosen_kernels(parsed)):
        print(line, flush=True)
    return None


def _is_comparable(place: Place, earlier: report.Report, parsed: argparse.Namespace) -> bool:
    """Whether the conditions are those of the baseline, or the user takes others."""
    differ = baseline.differences(report.report([], place, parsed.inner), earlier)
    for line in differ:
        print(f"{'note' if parsed.across else 'error'}: {parsed.against}: {line}", file=sys.stderr)
    if differ and not parsed.across:
        print("error: so the times say nothing about the kernels; --across compares", file=sys.stderr)
    return not differ or bool(parsed.across)


def _measure(
    kernels: Sequence[tuple[str, Kernel]],
    sizes: Mapping[str, Sequence[Extents]],
    place: Place,
    parsed: argparse.Namespace,
) -> tuple[list[Row], bool]:
    """The rows, and whether a kernel could not be run at all; the others are measured all the same."""
    plan = Plan(
        rounds=parsed.rounds,
        inner=parsed.inner,
        sittings=parsed.sittings,
        seed=parsed.seed,
        peaks=_peaks(parsed),
        search=parsed.autotune == {},
    )
    print(", ".join(f"{n} {v}" for n, v in place.conditions().items() if v))
    print(HEAD)
    rows: list[Row] = []
    failed = False
    for name, kernel in kernels:
        try:
            for row in measure_kernel(WORKLOADS[name], kernel, sizes[name], place, plan):
                print(format_row(row), flush=True)
                rows.append(row)
        except PhobosError as error:
            failed = True
            print(f"{name}: {error}", file=sys.stderr, flush=True)
    return rows, failed


def _peaks(parsed: argparse.Namespace) -> dict[str, float]:
    given = {unit: getattr(parsed, f"peak_{unit}") for unit in PEAKS}
    return {unit: peak for unit, peak in given.items() if peak}


def judge(now: Sequence[Row], then: Sequence[Row], margin: float) -> int:
    """Print what has changed; the exit code."""
    found = list(baseline.changes(now, then, margin))
    print(f"\nAgainst the baseline (same: within {100 * margin:g} %):")
    for change in found:
        print(baseline.format_change(change))
    for line in _unpaired(now, then):
        print(line)
    if not any(change.row.ours for change in found):
        print("error: the baseline has none of these kernels and sizes", file=sys.stderr)
        return UNUSABLE
    return FAILED if any(change.fails for change in found) else OK


def _unpaired(now: Sequence[Row], then: Sequence[Row]) -> list[str]:
    here, there = {row.key: row for row in now}, {row.key: row for row in then if row.times}
    return [
        f"{row.workload:20} {row.size:18} {row.contender:18} {where}"
        for mine, others, where in ((here, there, "not in the baseline"), (there, here, "not run now"))
        for key, row in mine.items()
        if key not in others and row.ours
    ]


def pins(text: str) -> Mapping[str, int]:
    """Numbers by name from "X=V Y=V"; `ArgumentTypeError` for anything else."""
    found: dict[str, int] = {}
    for part in text.split():
        name, equals, value = part.partition("=")
        try:
            found[name] = int(value, 0)
        except ValueError:
            equals = ""
        if not equals or not name.isidentifier():
            raise argparse.ArgumentTypeError(f'wanted "NAME=VALUE ...", got {part!r}')
    return found
