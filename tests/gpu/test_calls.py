"""Calls on GPU arrays: layouts, streams, binding, errors before and after the launch."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph

pytestmark = pytest.mark.gpu
EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.fixture(scope="module")
def cp():
    return pytest.importorskip("cupy")


def saxpy():
    return ph.load(EXAMPLES / "saxpy_fp32.ph").saxpy


def gemm(name="gemm_fp32", **constants):
    return ph.load(EXAMPLES / f"{name}.ph", **constants).gemm


def normal(cp, *shape):
    return cp.asarray(np.random.default_rng(0).standard_normal(shape, dtype=np.float32))


def test_gemm_in_all_layouts(cp):
    """Contiguous, transposed, pitched and reversed operands, ragged extents."""
    run = gemm("gemm_fp32_any")
    a, b = normal(cp, 67, 41), normal(cp, 41, 53)
    wide = normal(cp, 41, 80)[:, 1:54]
    for left, right in [(a, b), (a.T.copy().T, b), (a[:, ::-1], b[::-1]), (a, wide)]:
        c = normal(cp, 67, 53)
        wanted = 1.25 * left.astype("f8") @ right.astype("f8") - 0.5 * c.astype("f8")
        run(left, right, c, 1.25, -0.5)
        assert float(abs(c - wanted).max()) < 1e-4


def test_misaligned_base_after_an_aligned_call(cp):
    """C19: x[1:1025] after x[:1024] is right, with one more compilation."""
    kernel = saxpy().specialize(TILE=256)
    x, y = normal(cp, 1040), cp.zeros(1024, cp.float32)
    kernel(x[:1024], y, 1.0)
    kernel(x[1:1025], y, 1.0)
    assert len(kernel._compilations) == 2
    cp.testing.assert_array_equal(y, x[:1024] + x[1:1025])


def test_empty_calls_and_in_place(cp):
    """C11, C20: n = 0 around a real call; x is y; shifted views raise."""
    kernel, y = saxpy(), normal(cp, 1000)
    empty = cp.zeros(0, cp.float32)
    kernel(empty, empty.copy(), 2.0)
    wanted = 2 * y + y
    kernel(y, y, 2.0)
    kernel(empty, empty.copy(), 2.0)
    cp.testing.assert_array_equal(y, wanted)
    with pytest.raises(ValueError, match="X and Y overlap"):
        kernel(y[:-1], y[1:], 2.0)
    c = cp.ones((64, 64), cp.float32)
    gemm()(cp.zeros((64, 0), cp.float32), cp.zeros((0, 64), cp.float32), c, 1.0, 0.5)
    assert float(abs(c - 0.5).max()) == 0


def test_errors_come_before_the_launch(cp):
    """C17: wrong dtypes and mixed places name the parameter and leave the outputs."""
    kernel, y = saxpy(), cp.ones(8, cp.float32)
    with pytest.raises(TypeError, match="X: wanted"):
        kernel(cp.ones(8), y, 1.0)
    with pytest.raises(TypeError, match="on the GPU, but X"):
        kernel(np.ones(8, np.float32), y, 1.0)
    with pytest.raises(ValueError, match="is not a multiple"):
        gemm(TILE_M=32)(normal(cp, 33, 8), normal(cp, 8, 32), normal(cp, 33, 32), 1.0, 0.0)
    assert float(y.sum()) == 8


def test_current_stream_of_cupy(cp):
    """A launch is ordered after work queued on CuPy's current stream."""
    kernel = saxpy()
    for _ in range(20):
        stream = cp.cuda.Stream(non_blocking=True)
        with stream:
            x = cp.full(2**22, 3.0, cp.float32)
            y = cp.zeros_like(x)
            kernel(x, y, 2.0)
            assert float(y.min()) == 6.0


def test_torch_tensors_on_side_streams():
    """Torch arrays use torch's current stream."""
    torch = pytest.importorskip("torch")
    kernel = saxpy()
    for i in range(100):
        with torch.cuda.stream(torch.cuda.Stream()):
            torch.cuda._sleep(200_000)
            x = torch.full((2**20,), float(i), device="cuda")
            y = torch.zeros_like(x)
            kernel(x, y, 2.0)
            assert float(y.max()) == 2.0 * i == float(y.min())


def test_bound_call_is_captured_and_replayed(cp):
    """1,000 replays on data that changes."""
    x, y = cp.zeros(4096, cp.float32), cp.zeros(4096, cp.float32)
    run = saxpy().bind(x, y, 1.0)
    run()
    stream = cp.cuda.Stream(non_blocking=True)
    with stream:
        stream.begin_capture()
        run()
        graph = stream.end_capture()
        for i in range(1000):
            x[...] = i
            y[...] = 0
            graph.launch(stream)
            assert float(y.sum()) == 4096.0 * i


def test_more_than_48_kb_of_shared_memory(cp):
    """The opt-in above the static limit is made for the user."""
    kernel = gemm("gemm_fp32_any", TILE_M=128, TILE_N=256, TILE_K=32)
    a, b, c = normal(cp, 256, 64), normal(cp, 64, 256), cp.zeros((256, 256), cp.float32)
    kernel(a, b, c, 1.0, 0.0)
    assert float(abs(c - a.astype("f8") @ b.astype("f8")).max()) < 1e-4


FAULT = """
import cupy as cp, phobos_nb as ph
kernel = ph.load({example!r}).saxpy
y = cp.ones(1024, cp.float32)
kernel(y, y, 1.0)
text = 'extern "C" __global__ void bad(float* p) {{ p[1ull << 40] = 1; }}'
cp.RawKernel(text, 'bad')((1,), (1,), (y,))
try:
    cp.cuda.runtime.deviceSynchronize()
except cp.cuda.runtime.CUDARuntimeError:
    pass
try:
    kernel(y, y, 1.0)
except ph.PhobosError as error:
    print(error)
"""


def test_a_lost_context_is_explained():
    """C61: after an illegal access the next call says that the context is lost and what to do."""
    script = FAULT.format(example=str(EXAMPLES / "saxpy_fp32.ph"))
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "the CUDA context is lost: restart the kernel" in done.stdout, done.stderr
    assert "illegal memory access" in done.stdout
