"""Attention in sequences of several lengths. Run: python examples/varlen_attention.py [--gpu]."""

from itertools import pairwise
from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

STARTS = np.array([0, 37, 37, 138, 200], np.int32)
N, H, D = 200, 2, 32
SCALE = D**-0.5

xp = array_module()
rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal((N, H, D)).astype(np.float32) for _ in range(3))
wanted, bound = np.zeros((N, H, D)), np.zeros((N, H, D))
for start, end in pairwise(STARTS):
    if start == end:
        continue
    one_q, one_k, one_v = (m[start:end].astype(np.float64).swapaxes(0, 1) for m in (q, k, v))
    scores = SCALE * (one_q @ one_k.swapaxes(1, 2))
    weights = np.exp(scores - scores.max(axis=2, keepdims=True))
    weights /= weights.sum(axis=2, keepdims=True)
    sizes = SCALE * (np.abs(one_q) @ np.abs(one_k).swapaxes(1, 2)).max(axis=2, keepdims=True)
    relative = (2 * (D + 4) * sizes + 2 * (end - start) + 64) * 2.0**-24
    wanted[start:end] = (weights @ one_v).swapaxes(0, 1)
    bound[start:end] = (relative * (weights @ np.abs(one_v))).swapaxes(0, 1)

varlen_attention = ph.load(Path(__file__).with_suffix(".ph")).varlen_attention.specialize(BR=32, BC=32)
result = xp.empty((N, H, D), np.float32)
grid = -(-int(np.diff(STARTS).max()) // 32), H, len(STARTS) - 1
varlen_attention(*(xp.asarray(m) for m in (q, k, v, STARTS)), result, SCALE, grid=grid)

report("varlen_attention", result, wanted, bound)
