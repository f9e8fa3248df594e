"""What `simulate` and `compare` take beside arguments: what cannot be is said, not run."""

import signal
import threading
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph

TEXT = """
@launch(64)
kernel twice(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x * 64 + ctx.thread
  Y[i] = 2.0 * X[i]
}
"""


def call(method, **options):
    kernel = ph.compile(TEXT, chip="sm_80").twice
    return getattr(kernel, method)(np.ones(200, np.float32), np.zeros(200, np.float32), **options)


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"ctas": [4]}, "there is no CTA 4: the grid (4, 1, 1) has 4"),
        ({"ctas": [-1]}, "there is no CTA -1"),
        ({"ctas": [1, 1]}, "every CTA runs once, got [1, 1]"),
        ({"ctas": [1.5]}, "wanted a list of CTAs' numbers"),
        ({"ctas": 3}, "wanted a list of CTAs' numbers"),
        ({"ctas": []}, "wanted a list of CTAs' numbers"),
        ({"ctas": [True]}, "wanted a list of CTAs' numbers"),
        ({"seed": True}, "wanted a whole number of at least 0, got True"),
        ({"trace": True}, "wanted 0, 1 or 2, got True"),
        ({"ctas": "a"}, "wanted a list of CTAs' numbers"),
        ({"seed": -1}, "wanted a whole number of at least 0, got -1"),
        ({"seed": 1.5}, "wanted a whole number of at least 0, got 1.5"),
        ({"trace": 3}, "wanted 0, 1 or 2, got 3"),
        ({"trace": "x"}, "wanted 0, 1 or 2, got 'x'"),
        ({"races": "no"}, "races: wanted True or False, got 'no'"),
        ({"probe": 3}, "wanted (name, index) with a name of X, Y, got 3"),
        ({"probe": ("Z", (0,))}, "wanted (name, index) with a name of X, Y"),
        ({"probe": ("Y", (200,))}, "Y has shape (200,), and no element [200]"),
    ],
)
def test_an_option_of_simulate_that_cannot_be(option, said):
    """Each is an error of the call that names the option and what there is."""
    with pytest.raises(ph.PhobosError) as caught:
        call("simulate", **option)
    (found,) = caught.value.diagnostics
    assert found.code == "PH715"
    assert said in found.message


@pytest.mark.parametrize(
    "option",
    [
        {"ctas": np.array([1, 2])},
        {"ctas": range(2)},
        {"ctas": {3, 1}},
        {"seed": np.int64(3)},
        {"trace": 2},
    ],
)
def test_options_may_be_of_numpy(option):
    """Whole numbers and lists of them in all their forms are taken."""
    assert call("simulate", **option).clean


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({}, "simulated 4 CTAs, "),
        ({"ctas": [1, 2]}, "simulated 2 of 4 CTAs, "),
        ({"races": False}, "; races and unwritten shared memory were not looked for"),
        ({"banks": False}, "; bank conflicts, lines, sectors and masked elements were not counted"),
    ],
)
def test_what_a_run_did_not_look_at(option, said):
    """Chosen CTAs say nothing of the others, nor of races with them; the first line says so."""
    result = call("simulate", **option)
    assert said in str(result).splitlines()[0]
    others = "the other CTAs, and races with them, were not looked at"
    assert (others in result.unchecked) == ("ctas" in option)


def test_what_was_not_counted_has_no_number():
    """Without `banks` nothing is counted: no sum is 0, neither in the text nor of a line."""
    counted, result = call("simulate"), call("simulate", banks=False)
    assert "masked out" in str(counted)
    assert "masked out" not in str(result)
    assert (result.masked, result.bank_conflicts, result.global_accesses) == (None, [], [])
    assert [x.line for x in result.lines] == [x.line for x in counted.lines]
    for line, known in zip(result.lines, counted.lines, strict=True):
        assert line.instructions == known.instructions > 0
        numbers = asdict(line)
        assert [n for n, value in numbers.items() if value is None] == list(numbers)[2:]


RACE = """
@launch(64)
kernel turn(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  var s: shared<f32>[64]
  let i = ctx.block.x * 64 + ctx.thread
  s[ctx.thread] = X[i]
  Y[i] = s[63 - ctx.thread]
}
"""


def test_stopped_at_the_first():
    """What follows the first race is not looked at, which the result says; nor is it half believed."""
    x = np.ones(640, np.float32)
    result = ph.compile(RACE, chip="sm_80").turn.simulate(x, x.copy(), stop_at_first=True, seed=1)
    assert (result.stopped, len(result.races), result.faults) == (True, 1, [])
    assert result.unchecked == ["stopped at the first finding: nothing is known of what follows"]


@pytest.fixture
def interruptible():
    """Ctrl-C as in a terminal, though this process may have been started to ignore it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_ctrl_c_keeps_what_was_seen():
    """It interrupts like any other; the exception has what was seen until then, with names."""
    x = np.ones(64, np.float32)
    kernel = ph.compile(RACE, chip="sm_80").turn
    assert kernel.simulate(x, x.copy(), grid=1, seed=3).ctas == 1
    timer = threading.Timer(0.5, signal.raise_signal, [signal.SIGINT])
    timer.start()
    with pytest.raises(KeyboardInterrupt, match=r"of 500,000 CTAs, with \d races?") as caught:
        kernel.simulate(x, x.copy(), grid=500000, seed=3)
    result = caught.value.result
    assert 0 <= result.ctas < 500000
    assert {r.name[:2] for r in result.races} <= {"s["}
    assert "the other CTAs, and races with them, were not looked at" in result.unchecked


def test_ctas_of_a_kernel_of_two_launches():
    """Where the sums of split loops are added up by a second launch, some CTAs alone mean nothing."""
    text = Path(__file__).parents[2].joinpath("examples", "gemm_fp32_any.ph").read_text("utf-8")
    (kernel,) = ph.compile(text, chip="sm_80", SPLIT_K=2)
    a, c = np.ones((64, 4096), np.float32), np.ones((64, 64), np.float32)
    with pytest.raises(ph.PhobosError, match=r"PH715.*is 2 launches"):
        kernel.simulate(a, a.T.copy(), c, 1.0, 0.0, ctas=[0])


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"ref": {"Z": np.ones(200)}}, "Z is no output"),
        ({"ref": {}}, "holds no right values"),
        ({"ref": lambda given: {}}, "holds no right values"),
        ({"ref": np.ones(5)}, "Y has shape (200,), got (5,)"),
        ({"ref": 3}, 'wanted arrays by name, {"Y": ...}, or a function that returns them, got int 3'),
        ({"ref": {"Y": np.ones(5)}}, "Y has shape (200,), got (5,)"),
        ({"tolerance": -1}, "wanted numbers of at least 0, got -1"),
        ({"tolerance": float("nan")}, "wanted numbers of at least 0, got nan"),
        ({"tolerance": "x"}, "wanted numbers of at least 0, got 'x'"),
        ({"tolerance": {"Z": 1}}, "tolerance: none for Y"),
    ],
)
def test_right_values_that_cannot_be(option, said):
    """A comparison with nothing, or with what is no output, is no agreement."""
    with pytest.raises(ph.PhobosError) as caught:
        call("compare", **option)
    (found,) = caught.value.diagnostics
    assert found.code == "PH715"
    assert said in found.message


def test_lists_may_be_right_values():
    """Whatever NumPy makes an array of is compared."""
    assert call("compare", ref={"Y": [2.0] * 200}) == []


def test_frames_have_their_columns_without_a_row():
    """A run of no CTA, and one of no access, give frames that can be asked like any other."""
    kernel = ph.compile(TEXT, chip="sm_80").twice
    full = call("simulate")
    empty = kernel.simulate(np.zeros(0, np.float32), np.zeros(0, np.float32))
    assert not empty.accesses
    frame = empty.frame()
    assert len(frame[frame.space == "shared"]) == 0
    assert list(frame.columns) == list(full.frame().columns)
    assert list(frame.columns)[:4] == ["op", "index", "line", "column"]
    assert list(empty.line_frame().columns) == list(full.line_frame().columns)
