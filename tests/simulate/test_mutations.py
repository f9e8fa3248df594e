"""Synchronisation of the compiled examples: every barrier and wait is needed, and none is missing."""

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.simulate.launch import simulate
from tests.examples_cases import CASES
from tests.simulate.mutations import CHIPS, mutate

QUICK = {("transpose", "sm_80"), ("softmax", "sm_75"), ("gemm_fp32_any", "sm_80"), ("rotary", "sm_90a")}
EVERY = [
    pytest.param(name, chip, marks=() if (name, chip) in QUICK else pytest.mark.slow)
    for name in CASES
    for chip in CHIPS
]


@pytest.mark.parametrize(("name", "chip"), EVERY)
def test_every_synchronisation_is_needed(name, chip):
    """Clean as compiled; each deleted one is reported; elided ones that are put back change nothing."""
    report = mutate(name, chip)
    assert report.clean
    assert report.unnoticed == []
    assert not report.changed


@pytest.mark.parametrize("name", ["gemm_fp32_any", "softmax"])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_order_of_warps_does_not_matter(name, seed):
    """Warps in any order between barriers give the bits that warps in step give."""
    case = CASES[name]
    constants = dict(case.configurations[0])
    kernel = getattr(ph.load(str(case.path)), case.kernel)
    compilation = kernel.specialize(**constants).compile(chip="sm_80")
    shape = case.shapes(constants)[0]
    arguments = case.arrays(shape, np.random.default_rng(seed))
    in_step, shuffled = (
        simulate(compilation.thread_module, compilation.contract, arguments, seed=s) for s in (0, seed)
    )
    assert shuffled.clean
    for output in case.outputs:
        assert shuffled.outputs[output].tobytes() == in_step.outputs[output].tobytes()
