"""Masked vector stores in machine code: whole vectors by one store, partial ones by elements."""

import re

import pytest

from phobos_nb.options import CompileOptions
from tests.examples_cases import CASES

CALL = re.compile(r"store_prefix_global<(\d+), (\d+)>\(&")


@pytest.mark.nvrtc
@pytest.mark.parametrize("name", ["softmax", "layer_norm", "rms_norm", "transpose"])
@pytest.mark.parametrize("chip", ["sm_75", "sm_90a"])
def test_whole_vectors_stay_vectors(name, chip):
    """NVVM does not take a vector store apart to share its parts with the partial path."""
    case = CASES[name]
    for constants in case.configurations:
        compilation = case.load(CompileOptions(chip)).specialize(**dict(constants)).compile()
        calls = [(int(n), int(c)) for n, c in CALL.findall(compilation.cuda)]
        assert calls
        stores = re.findall(r"\bst\.global\.(v[24]\.)?", compilation.ptx)
        vectors = [kind for kind in stores if kind]  # more than calls where a loop is unrolled
        singles = max((n - 1) // (n // c) for n, c in calls)
        assert len(vectors) >= sum(n // c for n, c in calls)
        assert len(stores) - len(vectors) <= singles * len(vectors)
