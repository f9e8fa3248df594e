"""How far the verdicts of searches and of `bench --against` can be trusted, shown on a GPU.

usage: python -m tests.gpu.tune_statistics OUT.json [--searches 20]

Twenty searches of `turns.ph`, each with a measuring process of its own: two configurations are one and
the same code, two others are 3 % slower. Twenty searches of gemm_fp32, whose winners are then timed side
by side at length. Twenty processes after a first one, the baseline, which measure unchanged kernels and
one that has become 5 % slower. Everything is prepared first, side by side; then one measures at a time.
Exit code 1 when a rate is missed. Needs CuPy and NVRTC.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import sys
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import numpy as np

import phobos_nb as ph
from phobos_nb.bench.baseline import MARGIN, change, changes
from phobos_nb.bench.command import judge
from phobos_nb.bench.place import Gpu
from phobos_nb.bench.report import facts
from phobos_nb.bench.row import Row, from_plain
from phobos_nb.cuda.timing import Interleaved
from phobos_nb.tune.autotune import Session
from phobos_nb.tune.bench import Task
from phobos_nb.tune.outcome import label
from phobos_nb.tune.pool import WorkerPool
from phobos_nb.tune.runner import LiveRunner
from phobos_nb.tune.settings import Settings
from phobos_nb.tune.shared_compiles import SharedCompiles
from phobos_nb.tune.statistics import compare, estimate
from phobos_nb.tune.worker import Worker
from tests.gpu.sitting import ELEMENTS, PLAIN, SLOWER, TURNS, Sitting, sitting

CANDIDATES = (PLAIN, *range(4100, 4260, 4))
LONG = 400
"""Rounds of the measurements that say what is true."""


class Prepared(Session):
    """A search that waits until all others are prepared too, and for its turn."""

    ready = threading.Barrier(1)
    turn = threading.Lock()
    mine = False

    def runner(self, executor: Executor, task: Task) -> LiveRunner:
        found = super().runner(executor, task)
        found._bench.call("drop", "nothing", timeout=300.0)  # its process is up from here on
        self.ready.wait(300.0)
        self.mine = self.turn.acquire()
        return found

    def run(self) -> ph.Tuning:
        try:
            return super().run()
        finally:
            if self.mine:
                self.turn.release()


def searches(make: Callable[[int], Session], count: int) -> list[ph.Tuning]:
    """Searches that are prepared side by side and run in turn."""
    sessions = [make(i) for i in range(count)]
    Prepared.ready = threading.Barrier(count)
    found: list[ph.Tuning | None] = [None] * count

    def one(i: int) -> None:
        found[i] = sessions[i].run()

    threads = [threading.Thread(target=one, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return [tuning for tuning in found if tuning is not None]


def normal(*shape: int) -> Any:
    from phobos_nb.cuda.arrays import to_device

    return to_device(np.random.default_rng(0).standard_normal(shape, dtype=np.float32))


def common(executor: Executor, seed: int) -> dict[str, Any]:
    """Nothing of an earlier search is used, and no later one uses this."""
    quiet = {"listener": lambda event: None, "executor": executor, "seed": seed}
    return {**quiet, "remember": False, "resume": False}


def turn_search(executor: Executor, x: Any, y: Any, slower: int) -> Callable[[int], Session]:
    def make(seed: int) -> Session:
        (kernel,) = ph.load(TURNS)
        choices = {"TURNS": [PLAIN, slower], "UNROLL_K": [1, 2]}
        settings = Settings(choices=choices, reference={"Y": x}, **common(executor, seed))
        return Prepared(kernel, {"X": x, "Y": y, "a": 1.0, "b": 0.0}, None, settings)

    return make


def gemm_search(executor: Executor, arrays: Sequence[Any], answer: Any) -> Callable[[int], Session]:
    def make(seed: int) -> Session:
        (kernel,) = ph.load("examples/gemm_fp32.ph")
        choices = {"TILE_M": [64, 128], "TILE_N": [64, 128, 256], "TILE_K": [8, 16], "SPLIT_K": 1}
        settings = Settings(choices=choices, reference={"C": answer}, **common(executor, seed))
        values = {**dict(zip("ABC", arrays, strict=True)), "alpha": 1.0, "beta": 0.5}
        return Prepared(kernel, values, None, settings)

    return make


# Twins and planted differences ----------------------------------------------------------------------


def calibrate() -> dict[str, Any]:
    """How much slower more turns truly are; the most that are at most 3 % and 5 % slower."""
    x, y = normal(ELEMENTS), normal(ELEMENTS)
    kernels = {n: ph.load(TURNS).turn.specialize(TURNS=n) for n in CANDIDATES}
    calls = {str(n): kernel.bind(x, y, 1.0, 0.0) for n, kernel in kernels.items()}
    times = side_by_side(calls, 100)
    truth = {int(n): spread(t, times[str(PLAIN)]) for n, t in times.items()}
    planted = {p: max((r[1], n) for n, r in truth.items() if r[1] <= 1 + p / 100)[1] for p in (3, 5)}
    return {
        "turns": planted,
        "ratio with its interval": {f"{p} %": truth[n] for p, n in planted.items()},
        "all": truth,
        "milliseconds": estimate(times[str(PLAIN)]).median,
    }


def twins_and_planted(executor: Executor, count: int, slower: int) -> dict[str, Any]:
    """In each search the winner is of the fast code, its twin a tie, and both slower ones are none."""
    x, y = normal(ELEMENTS), normal(ELEMENTS)
    found = [verdicts(t) for t in searches(turn_search(executor, x, y, slower), count)]
    return {
        "twins tied": sum(f["twin tied"] for f in found),
        "3 % found": sum(f["planted found"] for f in found),
        "searches": len(found),
        "each": found,
    }


def verdicts(tuning: ph.Tuning) -> dict[str, Any]:
    best = tuning.best or {}
    rounds = {m.label: m.rounds for m in tuning.measured}
    won = rounds[label(best)]
    ties = [dict(t) for t in tuning.ties]
    ratios = {
        name: vars(compare(r, won)) | {"rounds": len(r)} for name, r in rounds.items() if r and r != won
    }
    twin = {**best, "UNROLL_K": 3 - best["UNROLL_K"]}
    slow = [t for t in ties if t["TURNS"] != best["TURNS"]]
    right = best["TURNS"] == PLAIN
    return {
        "best": best,
        "twin tied": right and twin in ties,
        "planted found": right and not slow,
        "ratios": ratios,
    }


def side_by_side(
    calls: Mapping[str, Callable[[], object]], rounds: int = LONG
) -> dict[str, list[float]]:
    place = Gpu()
    found = Interleaved({name: place.sampler(call, 1) for name, call in calls.items()}, seed=1)
    found.warm(0.5)
    found.run(rounds)
    return found.times


def spread(times: Sequence[float], base: Sequence[float]) -> list[float]:
    """Low, median and high of the ratio, round by round."""
    ratio = compare(times, base)
    return [ratio.low, ratio.ratio, ratio.high]


# Repeated searches ----------------------------------------------------------------------------------


def repeated(executor: Executor, count: int, size: int) -> dict[str, Any]:
    """The winners of equal searches, all timed side by side at length: how far apart they are."""
    a, b, c = normal(size, size), normal(size, size), normal(size, size)
    answer = a.astype("f8") @ b.astype("f8") + 0.5 * c.astype("f8")
    found = searches(gemm_search(executor, (a, b, c), answer), count)
    winners = [label(t.best or {}) for t in found]
    (kernel,) = ph.load("examples/gemm_fp32.ph")
    best = {label(t.best or {}): t.best or {} for t in found}
    calls = {n: kernel.specialize(**constants).bind(a, b, c, 1.0, 0.5) for n, constants in best.items()}
    medians = {name: estimate(times).median for name, times in side_by_side(calls).items()}
    return {
        "size": size,
        "winners": {name: winners.count(name) for name in medians},
        "milliseconds, 400 rounds": medians,
        "slowest winner over fastest": max(medians.values()) / min(medians.values()),
        "configurations": len(found[0].measured),
        "found times": [t.winner.median if t.winner else None for t in found],
    }


# Against a baseline ---------------------------------------------------------------------------------


def against(count: int, slower: int) -> dict[str, Any]:
    """Each of `count` processes judged against a first one."""
    workers = [Worker(Sitting, str(Path("examples").resolve()), slower) for _ in range(count + 1)]
    for worker in workers:
        worker.begin()
    assert all(worker.call("ready", timeout=300.0) for worker in workers)
    names = list(sitting(slower))
    measured = [measure_in(worker, names) for worker in workers]
    base = [row for name, rows in measured[0].items() if name != SLOWER for row in rows]
    with contextlib.redirect_stdout(io.StringIO()):
        codes = {n: [judge(m[n], base, MARGIN) for m in measured[1:]] for n in names}
    caught = codes.pop(SLOWER)
    return {
        "margin": MARGIN,
        "5 % caught": caught.count(1),
        "unchanged flagged": {name: found.count(1) for name, found in codes.items()},
        "processes": count,
        "ratios": {
            name: [
                [c.low, c.ratio, c.high, c.verdict] for m in measured[1:] for c in changes(m[name], base)
            ]
            for name in names
        },
        "every pair of processes": every_pair(measured),
        "between processes": between(measured),
    }


def every_pair(measured: Sequence[Mapping[str, Sequence[Row]]]) -> dict[str, Any]:
    """Each process as the baseline of each other one: parts that were called slower."""
    pairs = [(now, then) for now in measured for then in measured if now is not then]

    def slower(name: str, base: str) -> float:
        found = [change(now[name][0], then[base][0]).verdict for now, then in pairs]
        return found.count("slower") / len(found)

    unchanged = {name: slower(name, name) for name in measured[0] if name != SLOWER}
    return {"pairs": len(pairs), "5 % caught": slower(SLOWER, "turns"), "unchanged flagged": unchanged}


def measure_in(worker: Worker, names: Sequence[str]) -> dict[str, list[Row]]:
    found = {name: worker.call("rows", name, timeout=300.0) for name in names}
    worker.close()
    return {name: [from_plain(row) for row in rows] for name, rows in found.items()}


def between(measured: Sequence[Mapping[str, Sequence[Row]]]) -> dict[str, float]:
    """How far the medians of processes lie apart: largest over smallest, by benchmark."""
    medians = {name: [m[name][0].median for m in measured] for name in measured[0]}
    return {name: max(m) / min(m) for name, m in medians.items()}


def is_trusted(found: Mapping[str, Any], count: int) -> bool:
    """Against the first process, and over all pairs: at most one in twenty is wrong, of any kernel."""
    pairs = found["every pair of processes"]
    return (
        found["5 % caught"] >= count - count // 20
        and max(found["unchanged flagged"].values()) <= count // 20
        and pairs["5 % caught"] >= 0.95
        and max(pairs["unchanged flagged"].values()) <= 0.05
    )


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--searches", type=int, default=20)
    parser.add_argument("--size", type=int, default=2048)
    parser.add_argument("--parts", nargs="+", default=["twins", "repeated", "against"])
    parsed = parser.parse_args()
    begun = time.perf_counter()
    count, place = parsed.searches, Gpu()
    result: dict[str, Any] = {
        "conditions": place.conditions(),
        "facts": facts(f"python -m tests.gpu.tune_statistics {' '.join(sys.argv[1:])}"),
    }
    pool = WorkerPool(Settings().width, 120.0)
    result["planted"] = calibrate()
    print("planted", json.dumps(result["planted"]), flush=True)
    slower = result["planted"]["turns"]
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "twins": lambda: twins_and_planted(SharedCompiles(pool), count, slower[3]),
        "repeated": lambda: repeated(SharedCompiles(pool), count, parsed.size),
        "against": lambda: against(count, slower[5]),
    }
    for name in parsed.parts:
        start = time.perf_counter()
        result[name] = {**parts[name](), "seconds": time.perf_counter() - start}
        summary = {k: v for k, v in result[name].items() if k not in ("each", "ratios")}
        print(name, json.dumps(summary), flush=True)
        parsed.out.write_text(json.dumps(result, indent=1), "utf-8")
    pool.shutdown(wait=False)
    result["seconds"] = time.perf_counter() - begun
    parsed.out.write_text(json.dumps(result, indent=1) + "\n", "utf-8")
    return int(not is_good(result, count))


def is_good(result: Mapping[str, Any], count: int) -> bool:
    """Whether every rate that was measured is met: at most one miss in twenty."""
    enough = count - count // 20
    twins, again, apart = (result.get(n) for n in ("twins", "repeated", "against"))
    return (
        (not twins or (twins["twins tied"] >= enough and twins["3 % found"] >= enough))
        and (not again or again["slowest winner over fastest"] <= 1.01)
        and (not apart or is_trusted(apart, count))
    )


if __name__ == "__main__":
    sys.exit(main())
