"""The simulator's counts and races against Nsight Compute's and compute-sanitizer's.

usage: python -m tests.gpu.scope prepare FOLDER [--workers N]         # anywhere, with xDSL
       python -m tests.gpu.scope run FOLDER OUT [--parts counts races]  # on the GPU, with Nsight's tools
       python -m tests.gpu.scope recount FOLDER                   # anywhere: simulate stored calls again
       python -m tests.gpu.scope judge FOLDER OUT                  # anywhere: races.json again
       python -m tests.gpu.scope compare FOLDER OUT                # anywhere, with nvdisasm

`run` leaves races.json (the agreement table), versions.json and what the tools printed in OUT; `compare`
makes counts.json of that: every kernel's counts of both, total and per line.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from phobos_nb.cuda import ncu, sass
from phobos_nb.cuda.profile import Measured, by_line, environment, runner
from phobos_nb.cuda.stored_call import read_call

COMPARED = (
    "shared_load_wavefronts",
    "shared_store_wavefronts",
    "global_load_sectors",
    "global_store_sectors",
    "global_load_requests",
    "global_store_requests",
    "global_atomic_sectors",
    "global_atomic_requests",
    "barriers",
)
PAGES = ("raw", "source")
HAZARD = re.compile(r"(?:Error|Warning): (?:.*hazard|.*Race reported).*")
THREAD = re.compile(r"(?:Read|Write) Thread .* in (\S+):(\d+)$", re.MULTILINE)
PLACE = re.compile(r"at line (\d+)")
MARK = "##### "
LIMIT = 60
"""Seconds for one call under racecheck."""

SUMMARY = re.compile(r"RACECHECK SUMMARY: (\d+) hazards? displayed \((\d+) errors?, (\d+) warnings?\)")


# Ahead of time ------------------------------------------------------------------------------------


def prepare(folder: Path, workers: int) -> None:
    """Compile, simulate and store everything."""
    from tests.gpu import scope_jobs

    folder.mkdir(parents=True, exist_ok=True)
    with ProcessPoolExecutor(workers) as pool:
        work = [pool.submit(one, "count", folder, row) for row in scope_jobs.COUNTED]
        work += [pool.submit(one, "race", folder, row) for row in scope_jobs.PLANTED]
        jobs = [job for future in work for job in future.result()]
    scope_jobs.write(folder, jobs)
    size = sum(f.stat().st_size for f in folder.iterdir())
    print(f"{len(jobs)} calls, {size / 2**20:.1f} MiB in {folder}")


def recount(folder: Path) -> None:
    """Simulate the stored whole kernels again, after a change of the simulator."""
    from tests.gpu import scope_jobs

    known = {job["name"]: job for job in json.loads((folder / "jobs.json").read_text("utf-8"))}
    for row in scope_jobs.COUNTED:
        try:
            job = asdict(scope_jobs.recounted(folder, row))
        except scope_jobs.AnotherKernelError as error:
            print(f"kept as it was: {error}")
            continue
        known[job["name"]] = job
    (folder / "jobs.json").write_text(json.dumps(list(known.values()), indent=1), "utf-8")


def one(kind: str, folder: Path, row: Any) -> list[Any]:
    """The jobs of one row; a row that fails must not lose the others."""
    from tests.gpu import scope_jobs

    try:
        if kind == "count":
            return [scope_jobs.counted(folder, row)]
        return list(scope_jobs.planted(folder, row))
    except Exception as error:
        print(f"{row}: {type(error).__name__}: {str(error)[:400]}")
        return []


# Counts -------------------------------------------------------------------------------------------


def record(folder: Path, out: Path, jobs: list[dict[str, Any]]) -> None:
    """Profile all whole kernels in one process; the report's pages are kept as text."""
    tool = ncu.find_ncu()
    with tempfile.TemporaryDirectory() as scratch:
        report = Path(scratch) / "scope.ncu-rep"
        ncu.record(tool, report, runner([folder / f"{job['name']}.call" for job in jobs]), environment())
        for name in PAGES:
            (out / f"ncu_{name}.csv.gz").write_bytes(
                gzip.compress(ncu.page(tool, report, name).encode())
            )


def counted(folder: Path) -> list[dict[str, Any]]:
    """The jobs of whole kernels."""
    return [job for job in json.loads((folder / "jobs.json").read_text("utf-8")) if job["counts"]]


def compare(folder: Path, out: Path) -> None:
    """Write counts.json from the pages that a run left."""
    jobs = counted(folder)
    raw, source = (gzip.decompress((out / f"ncu_{n}.csv.gz").read_bytes()).decode() for n in PAGES)
    rows: list[dict[str, Any]] = []
    for job, kernel in zip(jobs, ncu.read_pages(raw, source), strict=True):
        stored = read_call(folder / f"{job['name']}.call")
        code = sass.instructions(sass.disassemble(stored.code[0]))
        rows.append(compared(job, by_line(kernel, code, f"{stored.plan.main.entry}.cu")))
    (out / "counts.json").write_text(json.dumps(rows, indent=1), "utf-8")
    for row in rows:
        print(f"{row['case']:24} {row['different'] or 'equal'}")


def compared(job: dict[str, Any], measured: Measured) -> dict[str, Any]:
    """Both counts of a kernel and where they differ."""
    mine: Mapping[str, int | None] = job["counts"]
    counts = dict(measured.counts)
    for what in ("sectors", "requests"):  # the counters tell atomics with a result from those without
        counts[f"global_atomic_{what}"] += counts[f"global_reduction_{what}"]
    both = {name: [counts.get(name), mine.get(name)] for name in COMPARED}
    different = {name: pair for name, pair in both.items() if pair[0] != pair[1]}
    lines: dict[str, dict[str, list[int | None]]] = {}
    for line, simulated in job["lines"].items():
        gpu = measured.lines.get(int(line), {})
        pairs = {name: [gpu.get(name, 0), count] for name, count in simulated.items()}
        if unlike := {name: pair for name, pair in pairs.items() if pair[0] != pair[1]}:
            lines[line] = unlike
    return {
        "case": job["case"],
        "different": different,
        "different_lines": lines,
        "gpu": counts,
        "simulator": mine,
        "gpu_lines": {line: dict(c) for line, c in sorted(measured.lines.items())},
        "simulator_lines": job["lines"],
    }


# Races --------------------------------------------------------------------------------------------


def races(folder: Path, out: Path, workers: int) -> None:
    """Run every planted race, and its kernel unchanged, under racecheck, and keep what it prints."""
    jobs = planted(folder)
    with ThreadPoolExecutor(workers) as pool:
        said = list(pool.map(lambda job: racecheck(folder / f"{job['name']}.call"), jobs))
    text = "".join(f"{MARK}{job['name']}\n{words}" for job, words in zip(jobs, said, strict=True))
    (out / "racecheck.txt.gz").write_bytes(gzip.compress(text.encode()))


def planted(folder: Path) -> list[dict[str, Any]]:
    """The jobs with planted races, and their controls."""
    return [job for job in json.loads((folder / "jobs.json").read_text("utf-8")) if not job["counts"]]


def judge(folder: Path, out: Path) -> None:
    """Write races.json from what racecheck printed, and print the agreement."""
    text = gzip.decompress((out / "racecheck.txt.gz").read_bytes()).decode()
    said = dict(part.split("\n", 1) for part in text.split(MARK)[1:])
    table = [verdict(job, said[job["name"]]) for job in planted(folder)]
    (out / "races.json").write_text(json.dumps(table, indent=1), "utf-8")
    print_races(table)


def racecheck(call: Path) -> str:
    """What compute-sanitizer prints for one call."""
    tool = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    command = [tool, "--tool", "racecheck", "--racecheck-report", "all", "--print-limit", "20"]
    try:
        ran = subprocess.run(
            [*command, *runner([call])],
            capture_output=True,
            text=True,
            errors="replace",
            env=environment(),
            check=False,
            timeout=LIMIT,
        )
    except subprocess.TimeoutExpired:
        return "timeout"
    return ran.stdout + ran.stderr


def verdict(job: dict[str, Any], said: str) -> dict[str, Any]:
    """Whether both found a race, at the same lines. The tool watches shared memory, so only that counts.

    lines: of the two threads of a hazard or race; 0 where the tool names a line of a helper's CUDA.
    """
    summary = SUMMARY.search(said)
    errors = int(summary[2]) + int(summary[3]) if summary else None
    mine = [r for r in job["races"] if r.startswith("shared")]
    lines = {both(THREAD.findall(part)) for part in HAZARD.split(said)[1:]}
    known = {both([("", line) for line in PLACE.findall(race)]) for race in mine}
    return {
        "name": job["name"],
        "deleted": job["deleted"],
        "racecheck": errors,
        "simulator": len(mine),
        "agree": None if errors is None else bool(errors) == bool(mine),
        "lines": sorted(lines),
        "simulator_lines": sorted(known),
        "lines_agree": all(any(covers(ours, theirs) for ours in known) for theirs in lines),
        "hazards": list(dict.fromkeys(m.strip() for m in HAZARD.findall(said)))[:2],
        "races": mine[:2],
    }


def both(places: list[tuple[str, str]]) -> tuple[int, ...]:
    """The lines of two threads, of a file of kernel text."""
    return tuple(sorted(int(line) if not file.endswith(".cu") else 0 for file, line in places))


def covers(ours: tuple[int, ...], theirs: tuple[int, ...]) -> bool:
    """Whether a race of the simulator is at the lines of a hazard, as far as the tool names them."""
    return not Counter(line for line in theirs if line) - Counter(ours)


# --------------------------------------------------------------------------------------------------


def run(folder: Path, out: Path, workers: int, parts: list[str]) -> None:
    """Measure on the GPU and write the tables."""
    out.mkdir(parents=True, exist_ok=True)
    (out / "versions.json").write_text(json.dumps(versions(), indent=1), "utf-8")
    if "counts" in parts:
        record(folder, out, counted(folder))
    if "races" in parts:
        races(folder, out, workers)
        judge(folder, out)


def versions() -> dict[str, str]:
    """What the card and the tools call themselves."""
    said = {
        "ncu": ["ncu", "--version"],
        "sanitizer": ["compute-sanitizer", "--version"],
        "card, driver": ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
    }
    return {
        name: subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()
        for name, words in said.items()
        if shutil.which(words[0])
    }


def print_races(table: list[dict[str, Any]]) -> None:
    """The agreement table and its sums."""
    for row in table:
        print(f"{row['name']:44} racecheck {row['racecheck']} simulator {row['simulator']}")
    broken = [row for row in table if row["deleted"]]
    agree = sum(row["agree"] is True for row in broken)
    lines = sum(row["agree"] is True and row["lines_agree"] for row in broken)
    print(f"{agree} of {len(broken)} planted races agree, {lines} at every line that the tool names")


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser()
    parser.add_argument("step", choices=("prepare", "recount", "run", "compare", "judge"))
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path, nargs="?")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", nargs="+", default=["counts", "races"])
    parsed = parser.parse_args()
    if parsed.step == "prepare":
        prepare(parsed.folder, parsed.workers)
    elif parsed.step == "recount":
        recount(parsed.folder)
    elif parsed.step == "run":
        run(parsed.folder, parsed.out, parsed.workers, parsed.parts)
    elif parsed.step == "judge":
        judge(parsed.folder, parsed.out)
    else:
        compare(parsed.folder, parsed.out)
    return 0


if __name__ == "__main__":
    sys.exit(main())
