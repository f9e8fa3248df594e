"""Searches on a GPU: verified, isolated, remembered."""

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.tune.outcome import Kind, Measured
from phobos_nb.tune.records import read, write

pytestmark = pytest.mark.gpu

GEMM = "examples/gemm_fp32.ph"
SPIN = """
@autotune(TURNS in [1, 2, 2000000000])
kernel spin(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x
  var y = X[i * 256 :+ 256]
  for k in range(0, N * TURNS, 256) {
    y = y * 0.99999 + 0.00001
  }
  Y[i * 256 :+ 256] = y
}
"""


@pytest.fixture
def cp():
    return pytest.importorskip("cupy")


@pytest.fixture(autouse=True)
def own_records(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))


def normal(cp, *shape):
    return cp.asarray(np.random.default_rng(0).standard_normal(shape, dtype=np.float32))


def test_a_gemm_is_tuned_against_cublas(cp, tmp_path):
    """Right answers only, arrays untouched, paired rounds with cuBLAS, the winner used by calls."""
    gemm = ph.load(GEMM).gemm
    a, b, c = normal(cp, 512, 512), normal(cp, 512, 512), normal(cp, 512, 512)
    before = c.copy()
    tuning = gemm.tune(
        *(a, b, c, 1.0, 0.5),
        choices={"TILE_M": [64, 128], "TILE_N": [64, 256], "TILE_K": [8]},
        against="cublas",
        rounds=9,
        workers=4,
    )
    cp.testing.assert_array_equal(c, before)
    assert tuning.failures == ()
    assert set(tuning.record.peers) == {"cublasSgemm", "cublas TF32 (other precision)"}
    assert all(m.error < 1e-6 for m in tuning.measured)
    wanted = a.astype("f8") @ b.astype("f8") + 0.5 * c.astype("f8")
    gemm(a, b, c, 1.0, 0.5)
    assert float(abs(c - wanted).max()) < 1e-3
    bound = gemm.bind(a, b, c, 1.0, 0.5)
    assert tuning.best.items() <= dict(bound.contract.constants).items()
    write(tuning.record, tmp_path / "record.json")
    assert read(tmp_path / "record.json").best == tuning.best


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_both_cache_states_are_timed(cp, cache):
    """Saxpy of 4 MB: read and written in L2 when warm, from memory when cold."""
    saxpy = ph.load("examples/saxpy_fp32.ph").saxpy
    x, y = normal(cp, 1 << 19), normal(cp, 1 << 19)
    tuning = saxpy.tune(x, y, 0.5, cache=cache, rounds=15, workers=4, choices={"TILE": [512, 2048]})
    assert tuning.winner is not None
    gbps = 3 * x.nbytes / tuning.winner.median / 1e6
    print(f"{cache}: {gbps:.0f} GB/s")
    assert gbps > 50


def test_a_hang_on_the_gpu_is_a_timeout(cp):
    """A configuration that runs for minutes is ended with its process; the caller's context lives."""
    (spin,) = ph.compile(SPIN)
    x, y = normal(cp, 4096), cp.zeros(4096, cp.float32)
    reference = {"Y": 1 + (x.get().astype("f8") - 1) * 0.99999 ** (4096 / 256)}
    tuning = spin.tune(x, y, reference=reference, tolerance=1e-3, timeout=10.0, rounds=9, workers=3)
    kinds = {f.constants["TURNS"]: f.kind for f in tuning.failures}
    assert kinds == {2000000000: Kind.TIMEOUT}
    assert {m.constants["TURNS"] for m in tuning.measured} == {1, 2}
    assert float((x + 1).sum()) == pytest.approx(float(x.sum()) + 4096, rel=1e-4)


def test_a_wrong_answer_cannot_win(cp):
    """Against a reference that only TURNS = 1 meets within the tolerance, TURNS = 2 is named wrong."""
    (spin,) = ph.compile(SPIN)
    x, y = normal(cp, 4096), cp.zeros(4096, cp.float32)
    reference = {"Y": 1 + (x.get().astype("f8") - 1) * 0.99999 ** (4096 / 256)}
    tuning = spin.tune(
        x, y, reference=reference, tolerance=1e-5, rounds=9, workers=2, choices={"TURNS": [1, 2]}
    )
    assert {f.constants["TURNS"]: f.kind for f in tuning.failures} == {2: Kind.WRONG}
    assert tuning.best == {"TURNS": 1}


def test_the_same_configuration_twice_is_a_tie(cp):
    """UNROLL_K, which nothing reads, gives one code two names: told apart at most once in 20."""
    saxpy = ph.load("examples/saxpy_fp32.ph").saxpy
    x, y = normal(cp, 1 << 22), normal(cp, 1 << 22)
    told = 0
    for seed in range(20):
        tuning = saxpy.tune(
            *(x, y, 0.5),
            choices={"TILE": [1024], "UNROLL_K": [1, 2]},
            rounds=25,
            workers=2,
            seed=seed,
            resume=False,
        )
        assert len([m for m in tuning.measured if isinstance(m, Measured)]) == 2
        told += not tuning.ties
    assert told <= 1
