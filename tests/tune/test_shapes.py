"""`tune(shapes=[...])` on NumPy arrays: searches, the set, the table, what calls then take."""

import logging
from dataclasses import replace

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.compilation import remembered
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.dispatch import read_table
from phobos_nb.contract import Variant
from phobos_nb.tune.compile_job import CompileJob, KernelText, compile_job
from phobos_nb.tune.outcome import Kind, Measured
from phobos_nb.tune.shapes import comparable_times, times_of
from phobos_nb.tune.shared_compiles import SharedCompiles
from tests.tune.recorded import record

SAXPY = """
@autotune(TILE in [16, 64])
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = a * X[i * TILE :+ TILE] + Y[i * TILE :+ TILE]
}
"""
ALIGNED = SAXPY.replace("kernel", "@aligned(N = TILE)\nkernel")
QUICK = {"rounds": 5, "samples": 2, "isolate": False}
SHAPES = [{"N": 64}, {"N": 1024}, {"N": 4096}]


@pytest.fixture(autouse=True)
def own_records(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))


def kernel(text=SAXPY):
    (found,) = ph.compile(text)
    return found


def test_shapes_are_searched_and_calls_take_from_the_set():
    """Three searches, at most two configurations; an unseen extent takes one of them, and is right."""
    saxpy = kernel()
    found = saxpy.tune(shapes=SHAPES, a=0.5, max_configs=2, **QUICK)
    assert [t.record.identity.extents for t in found.tunings] == SHAPES
    assert found.fresh == 9
    assert 1 <= len(found.configurations) <= 2
    assert found.mean_regret < 10
    target = resolve(saxpy.options).target
    for n in (64, 100, 5000):
        taken = saxpy.constants_for({"N": n}, target, remembered.CPU)
        assert taken == found.choose(N=n)
        assert taken in found.configurations
    x, y = np.ones(100, np.float32), np.ones(100, np.float32)
    saxpy(x, y, 0.5)
    np.testing.assert_allclose(y, 1.5)


def test_the_table_is_there_for_later_sessions_and_a_second_search_measures_nothing():
    """The file is read anew; the records of all shapes are hits."""
    first = kernel().tune(shapes=SHAPES, a=0.5, **QUICK)
    saxpy = kernel("// later\n" + SAXPY)
    target = resolve(saxpy.options).target
    table = read_table(saxpy.identity({"N": 7}, target, remembered.CPU))
    assert table is not None
    assert table == first.table
    assert saxpy.constants_for({"N": 7}, target, remembered.CPU) == first.choose(N=7)
    assert saxpy.tune(shapes=SHAPES, a=0.5, **QUICK).fresh == 0


def test_arguments_are_taken_as_shapes_too():
    """Tuples of arrays and scalars, which stay as they are."""
    calls = [(np.ones(n, np.float32), np.ones(n, np.float32), 0.5) for n in (64, 512)]
    found = kernel().tune(shapes=calls, **QUICK)
    assert [t.record.identity.extents["N"] for t in found.tunings] == [64, 512]
    assert all(float(y.max()) == 1.0 for _, y, _ in calls)


def test_a_configuration_that_some_shape_cannot_run_is_named_there():
    """N = 96 breaks what TILE = 64 promises: a constraint there, and the table never sends it there."""
    found = kernel(ALIGNED).tune(shapes=[{"N": 96}, {"N": 8192}], a=0.5, **QUICK)
    assert {f.constants["TILE"]: f.kind for f in found.tunings[0].failures} == {64: Kind.CONSTRAINT}
    assert found.choose(N=96)["TILE"] in (16, 32)
    assert found.choose(N=7) is None


def test_one_shape_does_not_pay_for_another_without_weight():
    """A weight of 0 leaves a shape out of the choice, not out of the table."""
    found = kernel().tune(shapes=SHAPES, weights=[0, 0, 1], max_configs=1, a=0.5, **QUICK)
    assert found.regret(found.table.points[2]) == 0
    assert len(found.table.points) == 3


def test_an_interrupt_keeps_the_shapes_that_are_done():
    """Ctrl-C within the second shape: its best so far counts, the third is left for the next search."""
    seen = []

    def interrupt(event):
        seen.append(event)
        if event.stage == "first" and sum(e.stage == "first" for e in seen) == 5:
            raise KeyboardInterrupt

    first = kernel().tune(shapes=SHAPES, a=0.5, listener=interrupt, **QUICK)
    assert first.stopped == "interrupted"
    assert [len(t.record.outcomes) for t in first.tunings] == [3, 2]
    assert first.configurations
    again = kernel().tune(shapes=SHAPES, a=0.5, **QUICK)
    assert (again.stopped, again.fresh) == ("", 4)
    seen.clear()
    kernel().tune(shapes=SHAPES, a=0.5, listener=interrupt, resume=False, **QUICK)
    kept = read_table(again.table.identity)
    assert kept == again.table  # the stopped search had two shapes


def test_what_people_see():
    """Text with the set and each shape's loss; frames with shape columns; a figure."""
    found = kernel().tune(shapes=SHAPES[:2], a=0.5, **QUICK)
    assert "saxpy, 2 shapes on cpu" in repr(found)
    assert "N=1024: " in repr(found)
    assert list(found.frame["N"]) == [64] * 3 + [1024] * 3
    assert list(found.regrets["N"]) == [64, 1024]
    assert set(found.regrets["chosen"]) <= {f"TILE={t}" for t in (16, 32, 64)}
    assert len(found.plot().axes[0].get_xticks()) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shapes": []}, "none given"),
        ({"shapes": [{"N": 64}], "weights": [1, 2]}, "wanted 1 numbers"),
        ({"shapes": [{"N": 64}], "weights": [-1]}, "from 0 on"),
        ({"shapes": [7]}, "wanted dicts of extents or tuples"),
        ({"shapes": [{"N": 64}], "max_configs": 0}, "max_configs"),
        ({"shapes": [{"M": 64}]}, "extent N is not given"),
    ],
)
def test_what_cannot_be_is_an_error(options, message):
    """Before anything is measured, with what was wanted."""
    with pytest.raises(ph.PhobosError, match=message):
        kernel().tune(**options)


def test_arguments_beside_shapes_are_an_error():
    """They would be ignored otherwise."""
    x = np.ones(8, np.float32)
    with pytest.raises(ph.PhobosError, match="belong into the shapes"):
        kernel().tune(x, x, 0.5, shapes=SHAPES)


def test_no_configuration_is_compiled_twice():
    """Equal jobs share one future; another variant, or a failed one, is a job of its own."""
    from concurrent.futures import ThreadPoolExecutor

    (saxpy,) = ph.compile(SAXPY, chip="sm_80")
    text = KernelText(saxpy.source, saxpy.name, saxpy.options)
    with ThreadPoolExecutor(2) as threads:
        shared = SharedCompiles(threads)
        jobs = [
            CompileJob(text, Variant(aligned=a), {"TILE": t}) for a in (True, False) for t in (16, 32)
        ]
        futures = [shared.submit(compile_job, job) for job in (*jobs, *jobs)]
        assert shared.compiled == 4
        assert futures[0] is futures[4]
        assert futures[0] is not futures[2]
        wrong = shared.submit(fail, jobs[0])
        assert wrong.exception() is not None
        assert shared.submit(fail, jobs[0]) is not wrong


def fail(job):
    raise ValueError(job)


def test_first_times_are_brought_to_the_level_of_the_finals():
    """Configurations outside the finals compare with finalists, though timed under other conditions."""
    found = record(noise=0.0)
    measured = [o for o in found.outcomes.values() if isinstance(o, Measured)]
    slow = [replace(o, times=tuple(2 * t for t in o.times)) for o in measured]
    slow[:50] = [replace(o, rounds=()) for o in slow[:50]]
    times = comparable_times(replace(found, outcomes={o.label: o for o in slow}))
    assert times == pytest.approx({o.label: o.median for o in measured})
    names, rows = times_of([found])
    assert len(names) == len(rows[0]) == 60


def test_shapes_of_other_dtypes_are_an_error(caplog):
    """One table holds for one set of dtypes."""
    text = """
@autotune(TILE in [16, 32])
kernel scale<T: dtype = f32>(X: tensor<T>[N], Y: tensor<T>[N]) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = X[i * TILE :+ TILE] + X[i * TILE :+ TILE]
}
"""
    calls = [(np.ones(64, d), np.ones(64, d)) for d in (np.float32, np.float64)]
    with caplog.at_level(logging.WARNING), pytest.raises(ph.PhobosError, match="more than its extents"):
        kernel(text).tune(shapes=calls, **QUICK)


def test_a_search_in_the_background_is_of_one_call():
    """Shapes are refused there, with what to use."""
    with pytest.raises(ph.PhobosError, match=r"use tune\(shapes"):
        ph.autotune_live(kernel(), shapes=SHAPES)


def test_the_choice_for_extents_that_are_not_the_kernels_is_an_error():
    """Which extents were wanted, which were given."""
    found = kernel().tune(shapes=[{"N": 64}], on="cpu", a=0.5, **QUICK)
    assert found.choose(N=1000)
    with pytest.raises(TypeError, match="choose: wanted N, got M"):
        found.choose(M=1000)


def test_where_nothing_is_right_the_summary_says_why():
    """The first failure of each kind, also where it is the only thing there is to say."""
    found = kernel().tune(shapes=[{"N": 64}], on="cpu", a=0.5, choices={"TILE": [1 << 20]}, **QUICK)
    assert not found.configurations
    assert "constraint, TILE=1048576: a tile of 1048576 elements" in repr(found)
