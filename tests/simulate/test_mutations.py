"""Synchronisation of the compiled examples: every barrier and wait is needed, and none is missing."""

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.simulate.launch import simulate
from tests.examples import attention, gemm, rows, simple

CASES = {c.name: c for m in (simple, gemm, rows, attention) for c in m.CASES}
CHIPS = ("sm_75", "sm_80", "sm_90a")
DEPTHS = (13, 14, 15, 16)
"""Multiples of a GEMM's first K, so that every remainder of an unrolled loop is taken."""
SYNCHRONISE = ("gpu.barrier", "nvgpu.device_async_wait")
QUICK = {("transpose", "sm_80"), ("softmax", "sm_75"), ("gemm_fp32_any", "sm_80")}
EVERY = [
    pytest.param(name, chip, marks=() if (name, chip) in QUICK else pytest.mark.slow)
    for name in CASES
    for chip in CHIPS
]


def launch(name, chip):
    """The compiled example, and a function that runs a mutant of it on multiples of its first shape."""
    case = CASES[name]
    constants = dict(case.configurations[0])
    kernel = getattr(ph.load(str(case.path)), case.kernel)
    first = case.shapes(constants)[0]
    shape = {n: extent if n in constants else 3 * extent for n, extent in first.items()}
    deeper = [{**shape, "K": depth * first["K"]} for depth in DEPTHS] if "K" in first else [shape]
    launches = [case.arrays(s, np.random.default_rng(1)) for s in deeper]
    kernel = kernel.specialize(**constants).for_call(tuple(launches[0].values()), {})
    compilation = kernel.compile(chip=chip)

    def run(module, **options):
        for arguments in launches:
            yield simulate(module, compilation.contract, arguments, banks=False, **options)

    return compilation.thread_module, run


def synchronisations(module):
    return [op for op in module.walk() if op.name in SYNCHRONISE]


@pytest.mark.parametrize(("name", "chip"), EVERY)
def test_every_synchronisation_is_needed(name, chip):
    """The kernel as compiled is clean; with any one barrier or wait deleted a race is reported."""
    module, run = launch(name, chip)
    for result in run(module):
        assert result.races == []
        assert result.faults == []
    unnoticed = []
    for number, op in enumerate(synchronisations(module)):
        mutant = module.clone()
        synchronisations(mutant)[number].detach()
        if not any(result.races for result in run(mutant, stop_at_first=True)):
            unnoticed.append((number, op.name))
    assert unnoticed == []


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
