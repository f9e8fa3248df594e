"""Kernels written as MLIR text, and the launches that the simulator's tests share."""

from pathlib import Path

import numpy as np
import pytest

from phobos_nb.contract import (
    GridRule,
    LaunchContract,
    ScalarParameter,
    TensorParameter,
    Variant,
    entry_arguments,
)
from phobos_nb.ir.text import parse
from phobos_nb.simulate import blame, mending, trial
from phobos_nb.simulate.launch import simulate

DATA = Path(__file__).parent / "data"


def contract(parameters, threads, shared_bytes=0):
    """The contract of a kernel with unit strides; the grid is given at each launch."""
    variant = Variant()
    return LaunchContract(
        kernel="k",
        entry="kern",
        parameters=parameters,
        arguments=entry_arguments(parameters, variant),
        grid=GridRule(),
        threads=threads,
        body_threads=threads,
        shared_bytes=shared_bytes,
        dynamic_shared=False,
        variant=variant,
        target="sm_90a",
    )


class Kernel:
    """A module with its contract: `run` simulates it."""

    def __init__(self, module, contract):
        self.module = module
        self.contract = contract

    def run(self, grid=(1, 1, 1), **arguments):
        options = {k: arguments.pop(k) for k in list(arguments) if k in OPTIONS}
        return simulate(self.module, self.contract, arguments, grid=grid, **options)


OPTIONS = {"ctas", "races", "banks", "trace", "seed", "stop_at_first", "in_place", "probe"}
WORKGROUP = "#gpu.address_space<workgroup>"


def kernel(body, tensors, *, threads=64, shared=0, scalars=()):
    """A kernel from the text of its body.

    `tensors` are (name, dtype, writes) of rank 1, each with a symbol `n<name>`; `S` in the body stands
    for the shared memory space, `%smem` for its bytes, `%t` and `%b` for the thread and block id.
    """
    parameters = tuple(
        TensorParameter(name, dtype, (f"n{name}",), True, writes) for name, dtype, writes in tensors
    ) + tuple(ScalarParameter(name, dtype) for name, dtype in scalars)
    pointers = [f"%{name}: memref<?x{MLIR.get(dtype, dtype)}>" for name, dtype, _ in tensors]
    extents = [f"%n{name}: index" for name, _, _ in tensors]
    rest = [f"%{name}: {dtype}" for name, dtype in scalars]
    entry = ", ".join([*pointers, *extents, *rest])
    types = ", ".join(a.split(": ")[1] for a in [*pointers, *extents, *rest])
    memory = f"memref<{shared}xi8, {WORKGROUP}>"
    glob = (
        f'"memref.global"() <{{sym_name = "smem", type = {memory}, initial_value, '
        'sym_visibility = "private"}> : () -> ()'
        if shared
        else ""
    )
    get = f"%smem = memref.get_global @smem : {memory}" if shared else ""
    text = f"""
    builtin.module attributes {{gpu.container_module}} {{ "gpu.module"() <{{sym_name = "k"}}> ({{
      {glob}
      "gpu.func"() <{{function_type = ({types}) -> ()}}> ({{
      ^bb0({entry}):
        %t = "gpu.thread_id"() <{{dimension = #gpu<dim x>}}> : () -> index
        %b = "gpu.block_id"() <{{dimension = #gpu<dim x>}}> : () -> index
        {get}
        {body.replace("S>", WORKGROUP + ">")}
        "gpu.return"() : () -> ()
      }}) {{sym_name = "kern", gpu.kernel}} : () -> ()
    }}) : () -> () }}"""
    return Kernel(parse(text), contract(parameters, threads, shared))


MLIR = {"u8": "i8", "bool": "i1"}


def sgemm():
    """The f32 GEMM of 128x256 tiles with three stages of cp.async."""
    parameters = (
        TensorParameter("A", "f32", ("M", "K")),
        TensorParameter("B", "f32", ("K", "N")),
        TensorParameter("C", "f32", ("M", "N"), True, True),
        ScalarParameter("alpha", "f32"),
        ScalarParameter("beta", "f32"),
    )
    made = contract(parameters, 256, 37248)
    symbols = tuple(a for name in "MNK" for a in made.arguments if a.name == name)
    pointers = tuple(a for a in made.arguments if a.kind in ("pointer", "scalar"))
    arguments = (*pointers[:3], *symbols, *pointers[3:])
    module = parse((DATA / "sgemm_128x256.mlir").read_text())
    fields = {f: getattr(made, f) for f in made.__dataclass_fields__}
    return Kernel(module, LaunchContract(**{**fields, "arguments": arguments}))


@pytest.fixture
def make():
    """The function `kernel`."""
    return kernel


@pytest.fixture
def gemm():
    """A fresh `sgemm`, free to be changed."""
    return sgemm()


@pytest.fixture
def product():
    """Simulates a GEMM kernel on random matrices: the result and its largest relative error."""

    def run(gemm, m, n, k, **options):
        rng = np.random.default_rng(m + n + k)
        a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((m, k), (k, n), (m, n)))
        grid = (-(-m // 128) * -(-n // 256), 1, 1)
        result = gemm.run(grid=grid, A=a, B=b, C=c, alpha=0.5, beta=2.0, **options)
        wanted = 0.5 * (a.astype(np.float64) @ b) + 2.0 * c
        return result, np.abs(result.outputs["C"] - wanted).max() / np.abs(wanted).max()

    return run


@pytest.fixture(autouse=True)
def unhurried(monkeypatch):
    """Searches for a cause end by what they find, not by the clock of a slow machine."""
    monkeypatch.setattr(mending, "SEARCH", 600.0)
    monkeypatch.setattr(mending, "SLACK", 5.0)
    monkeypatch.setattr(trial, "SECONDS", 600.0)
    monkeypatch.setattr(blame, "REGRIDDED", 600.0)
