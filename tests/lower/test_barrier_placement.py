"""Where barriers stand: in as few loops as serve, not in divergent code, of the warp where that does."""

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.simulate.launch import simulate
from phobos_nb.views.compilation import summary
from phobos_nb.views.from_compilation import view_of

HEAD = "@launch({threads})\nkernel k({tensors}, n: i32, flag: i32) {{\n{body}\n}}\n"
TENSORS = "V: tensor<f32>[L], W: tensor<f32>[M, N], X: tensor<f32>[M, N], Y: tensor<f32>[M, N]"

WINDOW = """  for c in range(0, n * {step}, {step}) {{
    var t = W[0 :+ 4, c :+ 16]
    W[0 :+ 4, c :+ 16] = t + 1.0
  }}"""

DIVERGENT = """  W[0, 0 :+ 64] = X[0, 0 :+ 64] + 1.0
  if ctx.thread < 33 {
    let a = V[ctx.thread + 20]
    Y[0, ctx.thread] = W[0, 63 - ctx.thread] + a
  }
  V[0 :+ 64] = 3.0"""

INVARIANT = """  var x = X[0 :+ 16, 0 :+ 16]
  var sum: tile<f32>[16, 16] = 0.0
  for i in range(0, n) {
    sum += dot(x, x)
  }
  Y[0 :+ 16, 0 :+ 16] = sum"""

BRANCHES = """  var x = X[0 :+ 16, 0 :+ 16]
  W[0 :+ 16, 0 :+ 16] = x
  if flag > 0 {
    Y[0 :+ 16, 0 :+ 16] = W[1 :+ 16, 0 :+ 16]
  } else {
    Y[0 :+ 16, 0 :+ 16] = W[2 :+ 16, 0 :+ 16] + 1.0
  }"""

CONDITION = """  var m: i32 = 0
  while m < n && block_max(V[ctx.thread]) > -99.0 {
    W[0 :+ 4, 0 :+ 64] = X[0 :+ 4, 0 :+ 64]
    m += 1
  }
  Y[0, ctx.thread] = block_sum(V[ctx.thread])"""

BOTH = """  var m: i32 = 0
  while m < n && block_max(V[ctx.thread]) > -99.0 {
    Y[0, m] = block_sum(V[ctx.thread] + f32(m))
    m += 1
  }"""

OWN = """  W[0, 0 :+ 64] = X[0, 0 :+ 64]
  Y[0, ctx.thread] = W[0, ctx.thread]"""

OTHERS = """  W[0, 0 :+ 64] = X[0, 0 :+ 64]
  Y[0, ctx.thread] = W[0, 63 - ctx.thread]"""

TURNED = """  var x = X[0 :+ 8, 0 :+ 4]
  Y[0 :+ 4, 0 :+ 8] = transpose(x)"""

TWO_PASSES = """  for c in range(0, n * 16, 16) {
    W[0 :+ 4, c :+ 16] = X[0 :+ 4, c :+ 16] + 1.0
  }
  for c in range(0, n * 16, 16) {
    Y[0 :+ 4, c :+ 16] = W[0 :+ 4, c :+ 16]
  }"""

FEW_UPDATES = """  atomic_add(W, 0, 0, X[0 :+ 4, 0 :+ 16])
  Y[0 :+ 4, 0 :+ 16] = W[0 :+ 4, 0 :+ 16]"""

STAYING = """  var x = X[0 :+ 16, 0 :+ 8]
  var sum: tile<f32>[16, 16] = 0.0
  for k in range(0, n * 8, 8) {
    let y = Y[k :+ 8, 0 :+ 16]
    sum += dot(x, y)
  }
  W[0 :+ 16, 0 :+ 16] = sum"""


def compiled(body, threads=64):
    """The kernel of a body, compiled for arrays without a promise."""
    return ph.compile(HEAD.format(threads=threads, tensors=TENSORS, body=body), chip="sm_75").k.compile()


def kept(compilation, scope=None):
    """The barriers in the code, of a scope where one is given."""
    found = [b for b in compilation.barriers if b.kept]
    return [b for b in found if scope in (None, b.scope)]


def arrays(n=3, flag=1):
    """Arguments of a call."""
    rng = np.random.default_rng(1)
    two = {name: rng.integers(-3, 4, (64, 96)).astype(np.float32) for name in "WXY"}
    return {"V": rng.integers(-3, 4, 96).astype(np.float32), **two, "n": n, "flag": flag}


def clean(compilation):
    """Whether it is free of races and faults, however often loops run and in any order of warps."""
    results = [
        simulate(
            compilation.thread_module, compilation.contract, arrays(n, flag), grid=(1, 1, 1), seed=s
        )
        for n, flag in ((3, 1), (0, 0), (1, 0), (2, 1))
        for s in (0, 5)
    ]
    return all(r.clean for r in results)


@pytest.mark.parametrize(
    ("name", "body", "threads", "of_cta", "of_warp"),
    [
        ("boxes that overlap between iterations", WINDOW.format(step=8), 64, 0, 1),
        ("boxes that overlap by all but one column", WINDOW.format(step=1), 64, 0, 1),
        ("boxes that idle warps read too", WINDOW.format(step=1), 256, 2, 0),
        ("boxes that touch", WINDOW.format(step=16), 64, 0, 0),
        ("boxes apart", WINDOW.format(step=20), 64, 0, 0),
        ("an access in front of the one a barrier is for, in divergent code", DIVERGENT, 64, 2, 0),
        ("operands that stay", INVARIANT, 64, 1, 0),
        ("both branches", BRANCHES, 64, 1, 0),
        ("a condition of all threads", CONDITION, 64, 3, 0),
        ("a condition and a body of all threads", BOTH, 64, 2, 0),
        ("elements of a thread's own", OWN, 64, 0, 0),
        ("elements of other threads", OTHERS, 64, 1, 0),
        ("a transpose of one warp", TURNED, 32, 0, 1),
        ("a transpose that a second warp reads too", TURNED, 64, 1, 0),
        ("two passes over the same boxes", TWO_PASSES, 64, 0, 0),
        ("updates of own elements", FEW_UPDATES, 64, 0, 0),
        ("an operand that stays beside one that is streamed", STAYING, 64, 1, 0),
    ],
)
def test_how_many_barriers(name, body, threads, of_cta, of_warp):
    """As many barriers as the case needs, and not one race with them."""
    compilation = compiled(body, threads)
    assert (len(kept(compilation, "CTA")), len(kept(compilation, "warp"))) == (of_cta, of_warp), name
    assert clean(compilation), name


@pytest.mark.parametrize(("body", "line"), [(INVARIANT, 5), (BRANCHES, 5)])
def test_barriers_stand_outside(body, line):
    """One in front of a loop that only reads, and one in front of two branches that both read."""
    (barrier,) = kept(compiled(body))
    assert barrier.line == line


def test_no_barrier_in_divergent_code():
    """The barrier for a read of some threads stands in front of their `if`."""
    branches = [op for op in compiled(DIVERGENT).thread_module.walk() if op.name == "scf.if"]
    assert [op.name for b in branches for op in b.walk() if op.name == "gpu.barrier"] == []
    assert [b.line for b in kept(compiled(DIVERGENT))] == [4, 8]


def test_a_barrier_of_the_warp_is_named_so():
    """The list, the text and the code say which barrier only the lanes of a warp wait at."""
    compilation = compiled(TURNED, 32)
    (barrier,) = kept(compilation)
    assert barrier.scope == "warp"
    assert barrier.reason.endswith(", always in one warp")
    assert "__syncwarp(" in compilation.cuda
    assert "__syncthreads()" not in compilation.cuda
    assert "warp barrier 1 (line 4), kept: x moved between lanes is written by lane" in summary(
        view_of(compilation)
    )


def test_a_dropped_barrier_of_the_warp_is_a_race():
    """Lanes of one warp are threads like others."""
    module = ph.compile(HEAD.format(threads=32, tensors=TENSORS, body=TURNED), chip="sm_75")
    result = module.k.specialize().simulate(*arrays().values(), grid=(1, 1, 1))
    assert result.clean
    broken = module.k.compile(drop_barrier=1)
    assert "warp barrier 1 (line 4), left out: " in summary(view_of(broken))
    result = simulate(broken.thread_module, broken.contract, arrays(), grid=(1, 1, 1))
    assert [race.kind for race in result.races] == ["read after write"]
