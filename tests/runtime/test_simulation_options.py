"""What `simulate` and `compare` take beside arguments: what cannot be is said, not run."""

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
    [{"ctas": np.array([1, 2])}, {"ctas": range(2)}, {"ctas": []}, {"seed": np.int64(3)}, {"trace": 2}],
)
def test_options_may_be_of_numpy(option):
    """Whole numbers and lists of them in all their forms are taken."""
    assert call("simulate", **option).clean


@pytest.mark.parametrize(
    ("option", "said"),
    [
        ({"ref": {"Z": np.ones(200)}}, "Z is no output"),
        ({"ref": {}}, "holds no right values"),
        ({"ref": lambda given: {}}, "holds no right values"),
        ({"ref": np.ones(200)}, "wanted arrays by name, got ndarray"),
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
