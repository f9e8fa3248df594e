"""bf16 arrays of every library give the same attention."""

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

import phobos_nb as ph

pytestmark = pytest.mark.gpu
EXAMPLE = Path(__file__).parents[2] / "examples" / "attention.ph"
HEADS, QUERIES, KEYS, WIDTH = 3, 77, 130, 64
SCALE = 0.125


def inputs():
    rng = np.random.default_rng(7)
    lengths = (QUERIES, KEYS, KEYS)
    return [rng.standard_normal((HEADS, n, WIDTH)).astype(ml_dtypes.bfloat16) for n in lengths]


def on_the_cpu():
    out = np.zeros((HEADS, QUERIES, WIDTH), ml_dtypes.bfloat16)
    ph.load(EXAMPLE).attention(*inputs(), out, SCALE)
    return out.astype(np.float64)


def by_torch():
    torch = pytest.importorskip("torch")
    arrays = [torch.from_numpy(a.astype(np.float32)).cuda().to(torch.bfloat16) for a in inputs()]
    out = torch.full((HEADS, QUERIES, WIDTH), float("nan"), dtype=torch.bfloat16, device="cuda")
    ph.load(EXAMPLE).attention(*arrays, out, SCALE)
    return out.float().cpu().numpy().astype(np.float64)


def by_cupy():
    cp = pytest.importorskip("cupy")
    out = cp.zeros((HEADS, QUERIES, WIDTH), ml_dtypes.bfloat16)
    ph.load(EXAMPLE).attention(*[cp.asarray(a) for a in inputs()], out, SCALE)
    return cp.asnumpy(out).astype(np.float64)


@pytest.mark.parametrize("library", [by_torch, by_cupy])
def test_bf16_agrees_with_numpy(library):
    """The open dtype is inferred from the arrays; results differ by at most one bf16 rounding."""
    wanted = on_the_cpu()
    np.testing.assert_allclose(library(), wanted, rtol=2**-7, atol=1e-6)
