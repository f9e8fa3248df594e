"""`Kernel.tune` on NumPy arrays: the whole path on the CPU, through real worker processes."""

from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.compilation import remembered
from phobos_nb.tune.outcome import Kind
from phobos_nb.tune.place import Host
from tests.tune.faults import ShortGrid

EXAMPLES = Path(__file__).parents[2] / "examples"
SAXPY = """
@autotune(TILE in [16, 64])
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = a * X[i * TILE :+ TILE] + Y[i * TILE :+ TILE]
}
"""
SCALE = SAXPY.replace("saxpy", "scale").replace(" + Y[i * TILE :+ TILE]", "")
QUICK = {"rounds": 9, "samples": 2, "isolate": False}


@pytest.fixture(autouse=True)
def own_records(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))


def arrays(n=256):
    rng = np.random.default_rng(0)
    return rng.standard_normal(n).astype(np.float32), rng.standard_normal(n).astype(np.float32)


def kernel(text=SAXPY):
    (found,) = ph.compile(text + f"// {np.random.default_rng().integers(1 << 60)}\n")
    return found


def test_a_search_leaves_the_arrays_as_they_were():
    """An in-place kernel runs many times, yet y is unchanged; one call then does a*x + y once."""
    x, y = arrays()
    before = y.copy()
    saxpy = kernel()
    tuning = saxpy.tune(x, y, 0.5, **{**QUICK, "isolate": True})
    np.testing.assert_array_equal(y, before)
    assert len(tuning.measured) == 3
    assert tuning.best in [{"TILE": t} for t in (16, 32, 64)]
    saxpy(x, y, 0.5)
    np.testing.assert_allclose(y, 0.5 * x + before, rtol=1e-6)


def test_the_winner_is_remembered_and_an_unchanged_search_measures_nothing():
    """The record decides what later calls use; the same search again is a hit with zero launches."""
    x, y = arrays()
    saxpy = kernel()
    first = saxpy.tune(x, y, 0.5, **QUICK)
    assert first.fresh == 3
    again = saxpy.tune(x, y, 0.5, **QUICK)
    assert again.fresh == 0
    assert again.best == first.best
    target = ph.compile(SAXPY).saxpy.compile().configuration.target
    assert saxpy.constants_for({"N": 256}, target, remembered.CPU) == first.best
    assert remembered.best(saxpy.identity({"N": 512}, target, remembered.CPU)) is None


def test_a_comment_is_a_hit_and_a_changed_constant_a_miss():
    """The record holds for what the program means, not how it is laid out."""
    x, y = arrays()
    kernel().tune(x, y, 0.5, **QUICK)
    assert kernel("// another comment\n" + SAXPY).tune(x, y, 0.5, **QUICK).fresh == 0
    assert kernel(SAXPY.replace("a * X", "2.0 * a * X")).tune(x, y, 0.5, **QUICK).fresh == 3


def test_a_short_grid_is_a_wrong_answer(monkeypatch):
    """Outputs are poisoned before every check, so a block that was left out cannot hide."""
    monkeypatch.setattr(Host, "bench", staticmethod(ShortGrid))
    x, y = arrays()
    tuning = kernel(SCALE).tune(x, y, 0.5, **QUICK)
    (failed,) = tuning.failures
    assert (failed.constants, failed.kind) == ({"TILE": 16}, Kind.WRONG)
    assert "16 of 256 elements" in failed.reason
    assert tuning.best != {"TILE": 16}


def test_a_given_reference_counts():
    """A function of the arguments, or outputs by name; against a wrong one nothing wins."""
    x, y = arrays()
    good = kernel().tune(x, y, 0.5, reference=lambda v: v["a"] * v["X"].astype(float) + v["Y"], **QUICK)
    assert good.record.checked == "the given reference"
    assert good.best is not None
    bad = kernel().tune(x, y, 0.5, reference={"Y": x}, resume=False, **QUICK)
    assert bad.best is None
    assert {f.kind for f in bad.failures} == {Kind.WRONG}


def test_a_large_meaning_is_taken_of_some_ctas():
    """With no time for all CTAs, the corners are checked and the record says how many."""
    x, y = arrays(64 * 40)
    tuning = kernel().tune(x, y, 0.5, meaning_seconds=0.0, **QUICK)
    assert tuning.record.checked == "the NumPy meaning of 2 of 160 CTAs"
    assert tuning.best is not None


def test_the_frame_has_every_configuration_and_the_text_says_what_failed():
    """One row each with status, interval and reason."""
    x, y = arrays()
    tuning = kernel().tune(x, y, 0.5, choices={"TILE": [16, 32]}, **QUICK)
    assert set(tuning.frame["status"]) <= {"winner", "tie", "ok"}
    assert sorted(tuning.frame["TILE"]) == [16, 32]
    assert "best TILE=" in repr(tuning)
    assert "2 configurations: 2 measured, none failed" in repr(tuning)
    assert tuning.best_kernel.options.constants == tuning.best


def test_peers_are_timed_in_the_same_rounds():
    """Functions of the caller's own, by name; 'cublas' needs a GPU."""
    x, y = arrays()
    tuning = kernel().tune(x, y, 0.5, against={"numpy": lambda: 0.5 * x + y}, **QUICK)
    rounds = len(tuning.record.peers["numpy"])
    assert rounds == len(tuning.winner.rounds)
    assert rounds >= 9  # more where a verdict was open
    assert tuning.against("numpy").ratio > 1
    with pytest.raises(ph.PhobosError, match="cublas"):
        kernel().tune(x, y, 0.5, against="cublas", resume=False, **QUICK)


def test_wrong_options_are_errors():
    """Values that make no sense, and names that are neither options nor parameters."""
    x, y = arrays()
    with pytest.raises(ph.PhobosError, match="cache"):
        kernel().tune(x, y, 0.5, cache="hot")
    with pytest.raises(ph.PhobosError, match="budget"):
        kernel().tune(x, y, 0.5, budget=3)


def test_the_same_array_twice_is_tuned_as_such():
    """Y = a*y + y with X and Y one array: allowed, and checked against the same aliasing."""
    _, y = arrays()
    tuning = kernel().tune(y, y, 0.5, **QUICK)
    assert len(tuning.measured) == 3


def test_the_compilers_own_choices_are_remembered_too():
    """A record that fixes STAGES decides how calls are compiled, not only their tiles."""
    from dataclasses import replace

    from phobos_nb.arguments.array import describe_numpy
    from phobos_nb.compilation.call import solve
    from phobos_nb.compilation.configuration import resolve
    from phobos_nb.tune.records import Record, Store

    gemm = ph.load(EXAMPLES / "gemm_fp32.ph", chip="sm_80").gemm
    a = np.zeros((256, 256), np.float32)
    values = {"A": a, "B": a.copy(), "C": a.copy(), "alpha": 1.0, "beta": 0.0}
    configuration = resolve(gemm.options)
    extents = {"M": 256, "K": 256, "N": 256}
    chosen = {"TILE_M": 64, "TILE_N": 64, "TILE_K": 16, "STAGES": 4}
    identity = gemm.identity(extents, configuration.target, "a card")
    Store().put(Record(identity, {n: (v,) for n, v in chosen.items()}, {}, chosen))
    gemm.choose_anew()
    describe = lambda v: describe_numpy(v) if isinstance(v, np.ndarray) else None  # noqa: E731
    call = solve(gemm, values, describe, None, configuration.target, "a card")
    compilation = gemm._compiled_for(call, replace(configuration))
    assert chosen.items() <= dict(compilation.contract.constants).items()
    assert max(loop.stages for loop in compilation.loops) == 4


def test_a_tile_that_the_checker_refuses_is_a_constraint():
    """Too many elements for the threads: refused with numbers, and the search goes on."""
    x, y = arrays(1 << 12)
    tuning = kernel().tune(x, y, 0.5, choices={"TILE": [64, 1 << 22]}, **QUICK)
    (failed,) = tuning.failures
    assert (failed.constants, failed.kind) == ({"TILE": 1 << 22}, Kind.CONSTRAINT)
    assert "elements" in failed.reason
    assert tuning.best == {"TILE": 64}


def test_an_interrupt_after_5_of_40_leaves_35():
    """Ctrl-C: the best of 5 is returned and used by calls; the same search again measures the rest."""
    x, y = arrays(2048)
    choices = {"TILE": [16 * i for i in range(1, 41)]}

    def interrupt(event):
        if event.stage == "first" and event.done == 5:
            raise KeyboardInterrupt

    saxpy = kernel()
    first = saxpy.tune(x, y, 0.5, choices=choices, listener=interrupt, **QUICK)
    assert (first.stopped, first.fresh, len(first.record.outcomes)) == ("interrupted", 5, 5)
    assert first.best in [dict(m.constants) for m in first.measured]
    target = ph.compile(SAXPY).saxpy.compile().configuration.target
    assert saxpy.constants_for({"N": 2048}, target, remembered.CPU) == first.best
    second = saxpy.tune(x, y, 0.5, choices=choices, **QUICK)
    assert (second.stopped, second.fresh, len(second.record.outcomes)) == ("", 35, 40)


@pytest.mark.parametrize(
    ("options", "wanted"),
    [
        ({"trials": 0}, "trials: wanted at least 1, got 0"),
        ({"trials": 1.5}, "trials: wanted a whole number, got 1.5"),
        ({"rounds": "9"}, "rounds: wanted a whole number, got '9'"),
        ({"seconds": -1}, "seconds: wanted seconds, more than 0, got -1"),
        ({"seconds": float("nan")}, "seconds: wanted seconds, more than 0"),
        ({"meaning_seconds": -1}, "meaning_seconds: wanted a number from 0 on"),
        ({"shapes": 5}, "shapes: wanted a list of dicts of extents"),
        ({"shapes": [{"N": 8}], "weights": "x"}, "weights: wanted numbers, one for each shape, got 'x'"),
        ({"executor": 5}, "executor: wanted a concurrent.futures executor"),
        ({"listener": 5}, "listener: wanted a function of an event"),
        ({"against": {"mine": 5}}, "against: wanted 'cublas' or functions by name"),
        ({"choices": 5}, "choices: wanted a dict"),
        ({"choices": {"TILE": "64"}}, "TILE: wanted a whole number or several, got '64'"),
        ({"choices": {"TILE": [64.0]}}, "TILE: wanted a whole number or several"),
        ({"choices": {"TILE": True}}, "TILE: wanted a whole number or several, got True"),
        ({"reference": {"Y": np.zeros(3)}}, r"reference: Y has shape \(256,\), got \(3,\)"),
    ],
)
def test_values_that_options_cannot_have_are_errors(options, wanted):
    """What was wanted and what was found, before anything is compiled or timed."""
    x, y = arrays()
    arguments = () if "shapes" in options else (x, y, 0.5)
    with pytest.raises(ph.PhobosError, match=wanted):
        kernel().tune(*arguments, **options)


def test_a_wrong_reference_or_a_short_timeout_is_not_remembered_for_good():
    """With another reference or a longer timeout, what failed is tried again."""
    x, y = arrays()
    wrong = kernel().tune(x, y, 0.5, reference={"Y": x}, **QUICK)
    assert {f.kind.value for f in wrong.failures} == {"wrong answer"}
    assert "wrong answer, TILE=16: Y: relative error" in repr(wrong)
    right = kernel().tune(x, y, 0.5, reference={"Y": 0.5 * x + y}, **QUICK)
    assert len(right.measured) == 3
    again = kernel().tune(x, y, 0.5, **QUICK)
    assert (len(again.measured), again.fresh) == (3, 0)
    assert "known since" in repr(again)
    late = kernel().tune(x, y, 0.5, timeout=1e-6, resume=False, **{**QUICK, "isolate": True})
    assert {f.kind.value for f in late.failures} == {"timeout"}
    assert len(kernel().tune(x, y, 0.5, **QUICK).measured) == 3


def test_times_of_another_grid_are_not_those_of_the_call():
    """A grid of the caller's that calls without one would not have is measured, not remembered."""
    x, y = arrays()
    few = kernel().tune(x, y, 0.5, grid=2, **QUICK)
    assert few.best == {"TILE": 16}
    assert [f.kind.value for f in few.failures] == ["wrong answer", "wrong answer"]
    whole = kernel().tune(x, y, 0.5, **QUICK)
    assert (len(whole.measured), whole.fresh) == (3, 3)


def test_use_takes_constants_of_the_kernel_alone():
    """A misspelt name or half a number is said at once, and calls go on as before."""
    saxpy = kernel()
    with pytest.raises(ph.PhobosError, match="no constant `TIL`"):
        saxpy.use(TIL=32)
    with pytest.raises(ph.PhobosError, match=r"integer, found 32.5"):
        saxpy.use(TILE=32.5)
    x, y = arrays()
    wanted = 0.5 * x + y
    saxpy(x, y, 0.5)
    np.testing.assert_allclose(y, wanted, rtol=1e-6)


def test_a_kernel_with_a_very_long_name_is_tuned_and_called():
    """Its record's file has a name that file systems take."""
    name = "k" * 300
    text = SAXPY.replace("kernel saxpy", f"kernel {name}")
    x, y = arrays()
    saxpy = kernel(text)
    assert saxpy.name == name
    found = saxpy.tune(x, y, 0.5, **QUICK)
    assert saxpy.tune(x, y, 0.5, **QUICK).since == found.record.date
    saxpy(x, y, 0.5)


def test_two_searches_at_once_lose_nothing():
    """While one runs, another of other values ends: the record has what both measured."""
    x, y = arrays()
    inner = []

    def listener(event):
        if event.outcome is not None and not inner:
            inner.append(kernel().tune(x, y, 0.5, choices={"TILE": [64]}, **QUICK))

    kernel().tune(x, y, 0.5, choices={"TILE": [16, 32]}, listener=listener, **QUICK)
    whole = kernel().tune(x, y, 0.5, trials=1, **QUICK)
    assert {o.constants["TILE"] for o in whole.measured} == {16, 32, 64}
    assert whole.fresh == 0
