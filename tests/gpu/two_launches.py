"""A plan of two launches with scratch, by hand: partial sums into scratch, then their total."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import cupy as cp

from phobos_nb.contract import (
    GridRule,
    GridTerm,
    Launch,
    LaunchContract,
    LaunchPlan,
    Parameter,
    Scratch,
    TensorParameter,
    Variant,
    entry_arguments,
)
from phobos_nb.cuda.device_plan import Code, Prepared
from phobos_nb.cuda.nvrtc import compile
from phobos_nb.cuda.plan import Dispatcher
from phobos_nb.target import for_capability

CODE = r"""
extern "C" __global__ void part(const float* X, float* parts, unsigned* calls, int N, int S) {
  float sum = 0;
  for (int i = blockIdx.x; i < N; i += gridDim.x) sum += X[i];
  parts[blockIdx.x] = sum;
  if (blockIdx.x == 0) calls[0] += 1;
}
extern "C" __global__ void total(const float* parts, const unsigned* calls, float* Y, int S) {
  float sum = 0;
  for (int i = 0; i < S; ++i) sum += parts[i];
  Y[0] = sum;
  Y[1] = calls[0];
}
"""
BLOCKS = 48
X = TensorParameter("X", "f32", ("N",))
Y = TensorParameter("Y", "f32", (2,), writes=True)
PARTS = TensorParameter("parts", "f32", ("S",), writes=True)
CALLS = TensorParameter("calls", "i32", (1,), writes=True)


def make() -> Dispatcher:
    """sum(X, Y): Y[0] is the sum of X, Y[1] counts the calls that shared the scratch."""
    major, minor = divmod(int(cp.cuda.Device().compute_capability), 10)
    target = for_capability(major, minor)
    assert target is not None
    cubin = compile(CODE, target.nvrtc_arch).cubin
    variant = Variant(True, True, 32)

    def contract(entry: str, parameters: tuple[Parameter, ...], blocks: int) -> LaunchContract:
        grid = GridRule(((GridTerm(blocks, 1),), (), ()))
        arguments = entry_arguments(parameters, variant)
        return LaunchContract(
            entry, entry, parameters, arguments, grid, 1, 1, 0, False, variant, target.name
        )

    launches = (
        Launch(contract("part", (X, PARTS, CALLS), BLOCKS)),
        Launch(contract("total", (PARTS, CALLS, Y), 1), "fix-up"),
    )
    one = GridTerm(1, 1)
    scratch = (Scratch("parts", "f32", (GridTerm(BLOCKS, 1),)), Scratch("calls", "i32", (one,)))
    plan = LaunchPlan("sum", (X, Y), launches, scratch)
    code = Code(lambda: cubin, lambda: "")

    def prepare(arrays: Mapping[str, Any], scalars: Mapping[str, Any], grid: Any) -> Prepared:
        extents = {"N": arrays["X"].shape[0]}
        return Prepared(plan, (code, code), extents, (BLOCKS, 1, 1), frozenset())

    return Dispatcher((X, Y), prepare)
