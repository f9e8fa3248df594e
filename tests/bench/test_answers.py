"""The bundled benchmarks' answers, and how outputs are checked against them."""

from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.arguments.make import random_arguments
from phobos_nb.bench.harness import poison, relative_error, verify
from phobos_nb.bench.table import WORKLOADS
from phobos_nb.contract import TensorParameter

EXAMPLES = Path(__file__).parents[2] / "examples"
SMALL = {"M": 64, "N": 128, "K": 32, "H": 2, "NQ": 64, "NK": 96}


@pytest.mark.parametrize("name", WORKLOADS)
def test_answers_agree_with_the_kernels(name):
    """The float64 answer of each workload is what the kernel means, within the stated tolerance."""
    workload = WORKLOADS[name]
    (kernel,) = ph.load(EXAMPLES / workload.file, **workload.constants)
    extents = {name: SMALL[name] for name in workload.sizes[0]}
    given = {**extents, **workload.scalars}
    values = random_arguments(kernel.name, kernel.parameters, given, np.random.default_rng(0))
    outputs = [p for p in kernel.parameters if isinstance(p, TensorParameter) and p.writes]
    error = verify(lambda: kernel(**values), outputs, values, workload.answer(values))
    assert error <= workload.tolerance


def test_an_output_left_out_never_passes():
    """Outputs that are not read are poisoned before, so a kernel that writes nothing gives inf."""
    y = TensorParameter("Y", "f32", ("N",), reads=False, writes=True)
    values = {"Y": np.zeros(4, np.float32)}
    assert verify(lambda: None, [y], values, {"Y": np.zeros(4)}) == float("inf")
    np.testing.assert_array_equal(values["Y"], np.zeros(4))


def test_errors_are_relative_and_nan_is_infinite():
    """||found - answer|| / ||answer||."""
    answer = np.array([3.0, 4.0])
    assert relative_error(np.array([3.0, 4.5]), answer) == pytest.approx(0.1)
    assert relative_error(np.array([3.0, np.nan]), answer) == float("inf")
    numbers = np.zeros(3, np.int32)
    poison(numbers)
    assert (numbers == np.iinfo(np.int32).min).all()
