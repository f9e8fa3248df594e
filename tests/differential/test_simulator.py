"""Every example on the simulator: against float64, against the meaning, and without findings."""

from __future__ import annotations

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.diagnostics import PhobosError
from tests.examples.case import Arguments, Constants, Grid, Shape, worst
from tests.examples_cases import CASES, ExampleCase, copied, with_layout

ALL = slice(None)


def parts(case: ExampleCase, k: int) -> list[tuple[str, slice, bool]]:
    """The shapes of a configuration in portions: name, which, whether it is slow."""
    if k or case.fast >= len(case.shapes(case.configurations[0])):
        return [("all", ALL, bool(k))]
    return [("first", slice(case.fast), False), ("rest", slice(case.fast, None), True)]


PROBLEMS = [
    pytest.param(name, k, part, id=f"{name}-{k}-{title}", marks=[pytest.mark.slow] if slow else [])
    for name, case in CASES.items()
    for k in range(len(case.configurations))
    for title, part, slow in parts(case, k)
]
STRIDED = [
    pytest.param(name, layout, marks=[pytest.mark.slow] if case.fast < 99 and number else [])
    for name, case in CASES.items()
    for number, layout in enumerate(("strided", "transposed", "reversed", "shifted"))
]


def seeded(shape: Shape) -> np.random.Generator:
    return np.random.default_rng([*shape.values()])


def simulated(
    kernel: ph.Kernel, case: ExampleCase, before: Arguments, grid: Grid | None = None
) -> Arguments:
    """The outputs on the simulator; a race or fault fails the test."""
    result = kernel.simulate(*before.values(), grid=grid)
    assert not result.faults, str(result.faults[0])
    assert not result.races, str(result.races[0])
    return {**before, **{name: result.outputs[name] for name in case.outputs}}


def agree(case: ExampleCase, before: Arguments, one: Arguments, other: Arguments) -> bool:
    """Whether two runs differ by at most twice the bound that each keeps."""
    bounds = case.bound(before)
    return all(
        worst(one[name], other[name].astype(np.float64), 2 * bounds[name]) <= 0 for name in case.outputs
    )


def kernel_of(case: ExampleCase, constants: Constants) -> ph.Kernel:
    return case.load().specialize(**constants)


@pytest.mark.parametrize(("name", "position", "part"), PROBLEMS)
def test_simulator_meaning_and_float64_agree(name: str, position: int, part: slice) -> None:
    """The shapes of one configuration: both runs keep the bound, and twice the bound to each other."""
    case = CASES[name]
    constants = case.configurations[position]
    kernel = kernel_of(case, constants)
    for shape in case.shapes(constants)[part]:
        before = case.arrays(shape, seeded(shape))
        grid = case.grid(constants, before)
        meant = copied(before)
        kernel(*meant.values(), grid=grid)
        lanes = simulated(kernel, case, before, grid)
        assert max(case.excess(before, meant).values()) <= 0, shape
        assert max(case.excess(before, lanes).values()) <= 0, shape
        assert agree(case, before, meant, lanes), shape


@pytest.mark.parametrize(("name", "layout"), STRIDED)
def test_strided_arrays_are_right(name: str, layout: str) -> None:
    """Transposed, strided, reversed and shifted arrays take another variant and give right results."""
    case = CASES[name]
    constants = case.configurations[0]
    shape = case.shapes(constants)[1]
    before = with_layout(case.arrays(shape, seeded(shape)), layout)
    after = simulated(kernel_of(case, constants), case, before, case.grid(constants, before))
    assert max(case.excess(before, after).values()) <= 0


@pytest.mark.parametrize("name", [n for n, c in CASES.items() if c.refused(c.configurations[0])])
def test_broken_promises_raise_before_anything_runs(name: str) -> None:
    """Each extent that is no multiple of its tile is PH705, on the CPU and in the simulator."""
    case = CASES[name]
    constants = case.configurations[0]
    kernel = kernel_of(case, constants)
    for shape in case.refused(constants):
        arguments = case.arrays(shape, seeded(shape))
        before = copied(arguments)
        for call in (kernel, kernel.simulate):
            with pytest.raises(PhobosError) as error:
                call(*arguments.values())
            assert {d.code for d in error.value.diagnostics} == {"PH705"}
        assert all(np.array_equal(arguments[o], before[o]) for o in case.outputs)
