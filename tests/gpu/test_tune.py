"""Searches on a GPU: verified, isolated, remembered."""

import statistics

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.cuda.timing import time_once
from phobos_nb.tune.device_timer import DeviceTimer
from phobos_nb.tune.outcome import Kind
from phobos_nb.tune.pool import WorkerPool
from phobos_nb.tune.records import read, write
from tests.gpu import faulty

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


SAXPY = "examples/saxpy_fp32.ph"
SCALE = """
@autotune(TILE in [256, 2048])
@launch(256)
kernel scale(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = 2.0 * X[i * TILE :+ TILE]
}
"""


def product(values):
    """The float64 answer of a GEMM, computed on the GPU."""
    a, b, c = (values[n].astype("f8") for n in "ABC")
    return values["alpha"] * (a @ b) + values["beta"] * c


def sum_of(values):
    """The float64 answer of saxpy."""
    return values["a"] * values["X"].astype("f8") + values["Y"].astype("f8")


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
        reference=product,
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
    saxpy = ph.load(SAXPY).saxpy
    x, y = normal(cp, 1 << 19), normal(cp, 1 << 19)
    tuning = saxpy.tune(
        *(x, y, 0.5),
        cache=cache,
        rounds=15,
        workers=2,
        choices={"TILE": [512, 2048]},
        reference=sum_of,
        isolate=False,
    )
    assert tuning.winner is not None
    gbps = 3 * x.nbytes / tuning.winner.median / 1e6
    print(f"{cache}: {gbps:.0f} GB/s")
    assert gbps > 50


@pytest.mark.parametrize("cache", ["warm", "cold"])
def test_a_gemm_is_tuned_in_both_cache_states(cp, cache):
    """The record says which; a search of one state does not answer for the other."""
    gemm = ph.load(GEMM).gemm
    a, b, c = (normal(cp, 512, 512) for _ in range(3))
    choices = {"TILE_M": [64, 128], "TILE_N": 64, "TILE_K": 8}
    options = {"choices": choices, "rounds": 9, "workers": 4}
    other = {"warm": "cold", "cold": "warm"}[cache]
    first = gemm.tune(a, b, c, 1.0, 0.5, cache=cache, **options)
    assert first.record.settings["cache"] == cache
    assert first.fresh == len(first.record.outcomes)
    assert gemm.tune(a, b, c, 1.0, 0.5, cache=cache, **options).fresh == 0
    assert gemm.tune(a, b, c, 1.0, 0.5, cache=other, **options).fresh == first.fresh


def test_the_flush_is_outside_the_timed_region(cp):
    """A cold sample of a small copy takes longer than a warm one, and far less than the flush itself."""
    x, y = normal(cp, 1 << 18), cp.empty(1 << 18, cp.float32)
    cold, warm = DeviceTimer(0, cold=True), DeviceTimer(0, cold=False)

    def median(timer):
        timed = timer.prepare(lambda: cp.copyto(y, x))
        return statistics.median(timer.sample(timed, lambda: None) for _ in range(15))

    flush = statistics.median(
        time_once(lambda: cold._flush.fill(1), cp.cuda.get_current_stream()) for _ in range(15)
    )
    print(f"warm {median(warm):.4f}, cold {median(cold):.4f}, flush {flush:.4f} ms")
    assert median(warm) < median(cold) < 0.7 * flush


def test_a_hang_on_the_gpu_is_a_timeout(cp):
    """A configuration that runs for minutes is ended with its process; the caller's context lives."""
    (spin,) = ph.compile(SPIN)
    x, y = normal(cp, 4096), cp.zeros(4096, cp.float32)
    reference = {"Y": 1 + (x.get().astype("f8") - 1) * 0.99999 ** (4096 / 256)}
    tuning = spin.tune(x, y, reference=reference, tolerance=1e-3, timeout=6.0, rounds=9, workers=3)
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


@pytest.mark.parametrize("size", [1 << 18, 1 << 22], ids=["1.5 us", "7.4 us"])
def test_the_same_configuration_twice_is_a_tie(cp, size):
    """UNROLL_K, which nothing reads, gives one code two names: told apart at most once in 20.

    Short kernels on arrays in L2, where what starting a sample takes weighs most.
    """
    saxpy = ph.load(SAXPY).saxpy
    x, y = normal(cp, size), normal(cp, size)
    apart = []
    pool = WorkerPool(2, 60.0)
    for seed in range(20):
        tuning = saxpy.tune(
            *(x, y, 0.5),
            choices={"TILE": [1024], "UNROLL_K": [1, 2]},
            rounds=25,
            executor=pool,
            isolate=False,
            reference=sum_of,
            seed=seed,
            resume=False,
        )
        one, other = tuning.measured
        apart.append((len(tuning.ties), other.median / one.median - 1))
    pool.shutdown(wait=False)
    print(f"apart by {', '.join(f'{100 * by:.2f}' for _, by in apart)} %")
    assert sum(not ties for ties, _ in apart) <= 1


def test_planted_faults_are_reported_and_none_wins(cp, monkeypatch):
    """No CUDA for NVRTC, a hang, an abort, NaN from what would be fastest, a grid that is short."""
    monkeypatch.setattr("phobos_nb.tune.device_bench.DeviceBench", faulty.FaultyBench)
    monkeypatch.setattr("phobos_nb.tune.place.Gpu.job", staticmethod(faulty.faulty_job))
    (scale,) = ph.compile(SCALE)
    x, y = normal(cp, 1 << 20), cp.zeros(1 << 20, cp.float32)
    tiles = [faulty.BAD_COMPILE, faulty.HANG, faulty.ABORT, faulty.NAN, faulty.SHORT, 2048]
    tuning = scale.tune(
        x,
        y,
        choices={"TILE": tiles},
        reference={"Y": 2 * x.astype("f8")},
        timeout=6.0,
        rounds=9,
        workers=4,
    )
    assert {f.constants["TILE"]: f.kind for f in tuning.failures} == {
        faulty.BAD_COMPILE: Kind.COMPILE,
        faulty.HANG: Kind.TIMEOUT,
        faulty.ABORT: Kind.CRASH,
        faulty.NAN: Kind.WRONG,
        faulty.SHORT: Kind.WRONG,
    }
    assert tuning.best == {"TILE": 2048}
    reasons = {f.constants["TILE"]: f.reason for f in tuning.failures}
    assert "SIGABRT" in reasons[faulty.ABORT]
    assert "NaN" in reasons[faulty.NAN]
    assert "1024 of" in reasons[faulty.SHORT]


def test_an_interrupt_keeps_what_there_is_and_the_next_search_measures_the_rest(cp):
    """Ctrl-C after 3 of 8: the best of 3 is returned and used; the same search again measures 5."""
    (scale,) = ph.compile(SCALE)
    x, y = normal(cp, 1 << 20), cp.zeros(1 << 20, cp.float32)

    def interrupt(event):
        if event.stage == "first" and event.done == 3:
            raise KeyboardInterrupt

    options = {
        "choices": {"TILE": [256 * i for i in (1, 2, 3, 4, 5, 6, 7, 8)]},
        "reference": {"Y": 2 * x.astype("f8")},
        "isolate": False,
        "workers": 4,
        "rounds": 9,
    }
    first = scale.tune(x, y, listener=interrupt, **options)
    assert (first.stopped, len(first.record.outcomes)) == ("interrupted", 3)
    assert first.best is not None
    second = scale.tune(x, y, **options)
    assert (second.stopped, second.fresh, len(second.record.outcomes)) == ("", 5, 8)


def test_bf16_of_torch_is_tuned(cp):
    """Arrays that NumPy has no type for are copied by their bits."""
    torch = pytest.importorskip("torch")
    (scale,) = ph.compile(SCALE.replace("f32", "bf16").replace("2.0 *", "X[i * TILE :+ TILE] +"))
    x = torch.randn(1 << 16, device="cuda", dtype=torch.bfloat16)
    y = torch.zeros_like(x)
    tuning = scale.tune(x, y, choices={"TILE": [512, 1024]}, rounds=9, workers=2, isolate=False)
    assert tuning.failures == ()
    given = scale.tune(
        x, y, choices={"TILE": [512, 1024]}, reference=lambda v: 2 * v["X"], resume=False,
        rounds=9, workers=2, isolate=False,
    )  # fmt: skip
    assert given.failures == ()
    scale(x, y)
    assert bool((y == 2 * x).all())


def test_several_shapes_share_a_table_that_never_compiles(cp, monkeypatch):
    """The set is compiled when tune returns: unseen extents run with NVRTC out of reach."""
    (scale,) = ph.compile(SCALE)
    found = scale.tune(
        shapes=[{"N": 1 << 12}, {"N": 1 << 16}, {"N": 1 << 20}],
        reference=lambda v: 2 * v["X"].astype("f8"),
        max_configs=2,
        rounds=9,
        workers=4,
        isolate=False,
    )
    assert 1 <= len(found.configurations) <= 2
    assert [t.record.identity.device for t in found.tunings] == [found.table.identity.device] * 3

    def out_of_reach(*_, **__):
        raise AssertionError("compiled during a call")

    monkeypatch.setattr("phobos_nb.compilation.stages.machine_code", out_of_reach)
    monkeypatch.setattr("phobos_nb.compilation.stages.lower", out_of_reach)
    for n in (1, 1000, 4097, 1 << 18, 3_000_001):
        x, y = normal(cp, n), cp.zeros(n, cp.float32)
        scale(x, y)
        assert bool((y == 2 * x).all())
        bound = scale.bind(x, y)
        assert found.choose(N=n).items() <= dict(bound.contract.constants).items()
