"""Compilations begin before the right answers are known."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.tune.place import Host

SAXPY = Path(__file__).parents[2] / "examples" / "saxpy_fp32.ph"


class Counting(ThreadPoolExecutor):
    """Notes the constants of every job."""

    def __init__(self):
        super().__init__(2)
        self.jobs = []

    def submit(self, fn, /, *args, **kwargs):
        self.jobs.append(args[0].constants["TILE"])
        return super().submit(fn, *args, **kwargs)


@pytest.mark.parametrize(
    ("strategy", "trials", "ahead"),
    [("exhaustive", None, [256, 512, 1024]), ("exhaustive", 2, [256, 512]), ("random", None, [])],
)
def test_the_first_are_under_way_while_answers_are_computed(monkeypatch, strategy, trials, ahead):
    """As many as may be under way at once, in the order of the space; each is compiled once."""
    monkeypatch.setattr(Host, "compiles", True)
    x, y = np.ones(4096, np.float32), np.ones(4096, np.float32)
    seen = []

    def reference(values):
        seen.extend(executor.jobs)
        return {"Y": values["Y"] + 0.5 * values["X"]}

    with Counting() as executor:
        tuning = ph.load(SAXPY).saxpy.tune(
            *(x, y, 0.5),
            executor=executor,
            reference=reference,
            strategy=strategy,
            trials=trials,
            workers=1,
            rounds=9,
            isolate=False,
            remember=False,
            listener=lambda event: None,
        )
    assert seen == ahead
    assert sorted(executor.jobs) == sorted(set(executor.jobs))
    assert len(tuning.measured) == (trials or 4)
