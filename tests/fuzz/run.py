"""Generated programs through every path, in number.

usage: python -m tests.fuzz.run --count N [--seed S] [--targets sm_75,sm_80,sm_90a] [--nvrtc [EVERY]]
                                [--upstream EVERY] [--workers W] [--no-shrink]

Prints every failure once per place with its program made smaller, and how many programs contain each
feature. Exit status 1 when anything failed.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

from tests.fuzz.generate import generate
from tests.fuzz.judge import Failure, Paths, judge
from tests.fuzz.shrink import shrunk


@dataclass(frozen=True)
class Job:
    """One seed and the paths to take."""

    seed: int
    paths: Paths


@dataclass(frozen=True)
class Done:
    """What came of a job."""

    seed: int
    features: Counter[str]
    failure: Failure | None
    seconds: float


def run_one(job: Job) -> Done:
    """Generate and judge one program."""
    start = time.perf_counter()
    program = generate(job.seed)
    failure = judge(program, job.paths)
    return Done(job.seed, program.features, failure, time.perf_counter() - start)


def jobs(parsed: argparse.Namespace) -> list[Job]:
    """All jobs, each simulated for one of the targets; some also go to upstream's tools and NVRTC."""
    chips = tuple(parsed.targets.split(","))
    verified, coded = parsed.upstream or sys.maxsize, parsed.nvrtc or sys.maxsize
    return [
        Job(seed, Paths(seed % verified == 0, () if seed % coded else chips, chips[seed % len(chips)]))
        for seed in range(parsed.seed, parsed.seed + parsed.count)
    ]


def report(finished: Iterable[Done], wanted: dict[int, Job], shrink: bool) -> int:
    """Print failures as they come and the counts at the end; returns how many failed."""
    features: Counter[str] = Counter()
    places: Counter[tuple[str, str]] = Counter()
    seconds = count = 0
    for done in finished:
        count += 1
        seconds += done.seconds
        features += done.features
        if done.failure is not None:
            place = done.failure.kind, done.failure.where
            places[place] += 1
            if places[place] == 1:
                show(done, wanted[done.seed].paths, shrink)
            else:
                print(f"seed {done.seed}: {place[0]} {place[1]}", flush=True)
    for name, number in sorted(features.items()):
        print(f"{number:7d} {name}")
    print(f"{count} programs, {sum(places.values())} failed, {seconds / max(count, 1):.2f} s each")
    for (kind, where), number in places.most_common():
        print(f"{number:7d} {kind}: {where}")
    return sum(places.values())


def show(done: Done, paths: Paths, shrink: bool) -> None:
    """Print a failure with its program."""
    assert done.failure is not None
    program = generate(done.seed)
    if shrink:
        program = shrunk(program, done.failure, paths)
    again = judge(program, paths) or done.failure
    print(f"=== seed {done.seed}: {again.kind}: {again.where}\n{again.detail[-1500:]}\n{program.text}")
    print(f"grid {program.grid}, constants {dict(program.constants)}", flush=True)


def main() -> int:
    """Run and report."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--targets", default="sm_75,sm_80,sm_90a")
    parser.add_argument("--nvrtc", type=int, nargs="?", const=1, default=0, metavar="EVERY")
    parser.add_argument("--upstream", type=int, default=0, metavar="EVERY")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--no-shrink", action="store_true")
    parsed = parser.parse_args()
    wanted = jobs(parsed)
    with ProcessPoolExecutor(parsed.workers) as pool:
        finished = pool.map(run_one, wanted, chunksize=4)
        failed = report(finished, {j.seed: j for j in wanted}, not parsed.no_shrink)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
