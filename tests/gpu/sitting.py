"""A process that measures benchmarks when it is told to: what `bench` does, without its start."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from phobos_nb.bench.harness import Plan
from phobos_nb.bench.measure import load, measure_kernel
from phobos_nb.bench.place import Gpu
from phobos_nb.bench.table import WORKLOADS
from phobos_nb.bench.workload import Workload, no_peers

TURNS = Path(__file__).with_name("turns.ph")
ELEMENTS = 1 << 21
PLAIN, SLOWER = 4000, "turns, slower"


class Sitting:
    """One process of its own that measures benchmarks when it is told to."""

    def __init__(self, examples: str, slower: int) -> None:
        self._place, self._plan = Gpu(), Plan()
        self._kernels = {n: (w, load(w, Path(examples), {})) for n, w in sitting(slower).items()}
        for workload, kernel in self._kernels.values():
            values = self._place.values(workload, kernel, workload.sizes[0], 0)
            kernel.bind(**values)()

    def ready(self) -> bool:
        """Answers once everything is compiled and the GPU has been used."""
        return True

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The rows of one of `sitting`."""
        workload, kernel = self._kernels[name]
        found = measure_kernel(workload, kernel, workload.sizes, self._place, self._plan)
        return [row.to_plain() for row in found]


def turns(count: int) -> Workload:
    """The benchmark of `turns.ph`; the number of turns is not part of its name."""
    return Workload(
        "turns", str(TURNS.resolve()), ({"N": ELEMENTS},), lambda v: {"Y": v["X"].astype("f8")}, 1e-6,
        {"a": 1.0, "b": 0.0}, constants={"TURNS": count},
    )  # fmt: skip


def sitting(slower: int) -> dict[str, Workload]:
    """What each process measures: unchanged kernels, and one of more turns under its old name."""
    sizes = {
        "gemm_fp32": {"M": 2048, "N": 2048, "K": 2048},
        "softmax": {"M": 4096, "N": 4096},
        "saxpy_fp32": {"N": 2**26},
    }
    found = {n: replace(WORKLOADS[n], sizes=(size,), peers=no_peers) for n, size in sizes.items()}
    return {"turns": turns(PLAIN), SLOWER: turns(slower), **found}
