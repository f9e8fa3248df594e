"""Plans of two launches with scratch on the GPU: streams, graph capture; device output."""

import numpy as np
import pytest

import phobos_nb as ph

try:
    import cupy as cp
except ImportError:  # the mark skips these tests then
    cp = None

pytestmark = pytest.mark.gpu


@pytest.fixture(scope="module")
def total():
    from tests.gpu import two_launches

    return two_launches.make()


def values(n):
    return cp.asarray(np.random.default_rng(n).integers(-9, 9, n).astype(np.float32))


def test_two_launches_share_scratch_in_order(total):
    """The second launch reads what the first wrote; scratch starts at zero and stays between calls."""
    for n in (1, 47, 48, 10_000):
        x, y = values(n), cp.zeros(2, cp.float32)
        for call in range(1, 4):
            total((x, y))
            assert y.tolist() == [float(x.sum()), call]


def test_each_stream_has_its_own_scratch(total):
    """Calls that run at once on several streams do not touch each other's partial sums."""
    streams = [cp.cuda.Stream(non_blocking=True) for _ in range(4)]
    xs = [values(2_000_000 + i) for i in range(4)]
    ys = [cp.zeros(2, cp.float32) for _ in range(4)]
    wanted = [float(x.sum()) for x in xs]
    cp.cuda.runtime.deviceSynchronize()
    for _ in range(20):
        for stream, x, y in zip(streams, xs, ys, strict=True):
            with stream:
                total((x, y))
    cp.cuda.runtime.deviceSynchronize()
    assert [float(y[0]) for y in ys] == wanted
    assert [float(y[1]) for y in ys] == [20.0] * 4


def test_a_captured_plan_is_replayed_on_other_streams(total):
    """The graph has scratch of its own: replays and plain calls on the same stream are all right."""
    from phobos_nb.cuda.bind import bound_call

    x, y, z = values(300_000), cp.zeros(2, cp.float32), cp.zeros(2, cp.float32)
    run = bound_call(total, (x, y))
    stream, other = cp.cuda.Stream(non_blocking=True), cp.cuda.Stream(non_blocking=True)
    cp.cuda.runtime.deviceSynchronize()
    with stream:
        stream.begin_capture(cp.cuda.runtime.streamCaptureModeGlobal)
        run()
        graph = stream.end_capture()
    for i in range(20):
        x += 1
        cp.cuda.runtime.deviceSynchronize()
        with stream:
            total((x, z))
        graph.launch(other)
        cp.cuda.runtime.deviceSynchronize()
        assert float(y[0]) == float(z[0]) == float(x.sum()), i


def test_the_handle_of_the_current_stream():
    """The handle read without a Stream object is the current stream's."""
    from phobos_nb.cuda.arrays import library_of

    handle = library_of(cp.zeros(1)).stream
    assert handle(0) == cp.cuda.get_current_stream().ptr
    for _ in range(3):
        with cp.cuda.Stream(non_blocking=True) as stream:
            assert handle(0) == stream.ptr
    assert handle(0) == cp.cuda.get_current_stream().ptr


PRINTING = """
kernel show(X: tensor<f32>[N]) {
  X[ctx.block.x * 64 :+ 64] = 1.0
  if ctx.thread % 64 == 3 {
    print("block {} thread {}", ctx.block.x, ctx.thread)
    print("again {}", 0.1)
  }
}
kernel fail(X: tensor<f32>[N], limit: i32) {
  X[ctx.block.x * 64 :+ 64] = 1.0
  assert ctx.block.x < limit, "block {} is past the limit"
}
kernel many(X: tensor<f32>[N]) {
  X[ctx.block.x * 64 :+ 64] = 1.0
  if ctx.thread < 32 {
    print("{}", ctx.block.x)
  }
}
""".replace("block {} is past", "a block is past")


def test_prints_are_shown_in_order(capfd):
    """By CTA, then thread, then sequence; twice the same."""
    kernel = ph.compile(PRINTING).show
    for _ in range(2):
        kernel(cp.zeros(256, cp.float32))
        lines = capfd.readouterr().out.splitlines()
        blocks = [line.split()[1] for line in lines if line.startswith("block")]
        assert blocks == sorted(blocks)
        assert set(blocks) == {"0", "1", "2", "3"}
        assert [line.split()[0] for line in lines] == ["block", "again"] * (len(lines) // 2)
        assert lines[1] == "again 0.1"


def test_overflow_of_prints_is_counted(capfd):
    """4096 lines are shown, and how many more there were."""
    ph.compile(PRINTING).many(cp.zeros(64 * 200, cp.float32))
    lines = capfd.readouterr().out.splitlines()
    assert len(lines) == 4097
    assert lines[-1] == f"({200 * 32 - 4096} more lines of many did not fit)"


def test_a_failed_assertion_raises_and_the_context_lives():
    """With debug: PH801 with line, CTA and thread; later calls work. Else nothing is checked."""
    x = cp.zeros(256, cp.float32)
    ph.compile(PRINTING).fail(x, 2)
    kernel = ph.compile(PRINTING, name="cell", debug=True).fail
    with pytest.raises(
        AssertionError, match=r"cell:11: .*a block is past the limit \(CTA 2, thread 0\)"
    ):
        kernel(x, 2)
    kernel(x, 4)
    assert float(x.sum()) == 256.0
