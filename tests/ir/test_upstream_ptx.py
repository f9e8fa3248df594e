"""PTX through upstream's own pipeline, for the examples' thread modules as they are."""

import itertools
import re
from pathlib import Path

import pytest
from xdsl.dialects.builtin import f32
from xdsl.dialects.vector import CombiningKindFlag

import phobos_nb as ph
from phobos_nb import target
from phobos_nb.ir import upstream
from phobos_nb.ir.dialects import gpu, vector
from phobos_nb.ir.upstream_form import upstream_form
from tests.ir.modules import ARGUMENTS, module_with

EXAMPLES = Path(__file__).parents[2] / "examples"

needs_libdevice = pytest.mark.skipif(
    upstream.cuda_toolkit() is None, reason="no libdevice (a CUDA toolkit)"
)


def kernel_of(name, chip):
    return next(iter(ph.load(EXAMPLES / f"{name}.ph", chip=chip))).compile()


@pytest.mark.mlir
@needs_libdevice
@pytest.mark.parametrize("chip", ["sm_75", "sm_90a"])
@pytest.mark.parametrize(
    "name", ["saxpy_fp32", "gemm_fp32_any", "softmax", "layer_norm", "flash_attention_fp16"]
)
def test_examples_reach_ptx(name, chip):
    """Upstream takes the module unchanged and compiles it to an entry without calls left open."""
    compilation = kernel_of(name, chip)
    upstream.roundtrip(compilation.thread_module)
    ptx = upstream.to_ptx(compilation.thread_module, target.get(chip))
    assert f".target {target.get(chip).upstream_chip}" in ptx
    assert len(re.findall(r"\.visible \.entry", ptx)) == 1
    assert ".extern .func" not in ptx


@pytest.mark.mlir
def test_parameters_are_those_of_the_entry():
    """`parameters` lists what the PTX entry declares, in number and width."""
    compilation = kernel_of("saxpy_fp32", "sm_80")
    function = next(op for op in compilation.thread_module.walk() if isinstance(op, gpu.FuncOp))
    ptx = upstream.to_ptx(compilation.thread_module, target.get("sm_80"))
    entry = re.search(r"\.entry \w+\((.*?)\)", ptx, re.DOTALL).group(1)
    declared = re.findall(r"\.param \.(u64|u32|f32)", entry)
    widths = {"Q": "u64", "q": "u64", "i": "u32", "f": "f32"}
    assert declared == [widths[p.format] for p in upstream.parameters(function)]


def test_arguments_spread_descriptors():
    """A tensor's address becomes a descriptor; scalars stay as they are."""
    function = gpu.FuncOp("f", [ARGUMENTS["A"], f32])
    assert upstream.arguments(function, [4096, 2.5], extent=10) == [
        ("Q", 4096),
        ("Q", 4096),
        ("q", 0),
        ("q", 10),
        ("q", 1),
        ("f", 2.5),
    ]


def test_reductions_keep_their_order():
    """A reduction for upstream starts from its accumulator and goes through the elements in order."""
    module = module_with(
        lambda b, v: b.insert(vector.MultiReductionOp(CombiningKindFlag.ADD, v["v4x8"], v["v4"], [1]))
    )
    sums = [op for op in upstream_form(module).walk() if op.name == "arith.addf"]
    assert len(sums) == 32
    chain = sums[8:16]
    assert all(later.operands[0] is earlier.results[0] for earlier, later in itertools.pairwise(chain))
    assert [op for op in module.walk() if op.name == "vector.multi_reduction"]


@pytest.mark.mlir
def test_a_missing_libdevice_is_said(monkeypatch):
    """Without libdevice a kernel with exp is refused, by the name of the function."""
    monkeypatch.setattr(upstream, "cuda_toolkit", lambda: None)
    for name in ("CUDA_ROOT", "CUDA_HOME", "CUDA_PATH"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(upstream.UpstreamError, match="__nv_expf"):
        upstream.to_ptx(kernel_of("softmax", "sm_90a").thread_module, target.get("sm_90a"))
