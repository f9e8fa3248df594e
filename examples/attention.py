"""One attention source in three dtypes, causal or not. Run: python examples/attention.py [--gpu]."""

from pathlib import Path

import ml_dtypes
import numpy as np
from driver import array_module, on_host, report

import phobos_nb as ph

H, N, D = 2, 150, 64
SCALE = 1 / D

xp = array_module()
rng = np.random.default_rng(0)
attention = ph.load(Path(__file__).with_suffix(".ph")).attention
errors, bounds = [], []
for dtype, unit in ((np.float16, 2.0**-11), (ml_dtypes.bfloat16, 2.0**-8), (np.float32, 2.0**-11)):
    q, k, v = (rng.standard_normal((H, N, D)).astype(dtype) for _ in range(3))
    wide_q, wide_k, wide_v = (m.astype(np.float64) for m in (q, k, v))
    scores = SCALE * (wide_q @ wide_k.swapaxes(1, 2))
    sizes = SCALE * (np.abs(wide_q) @ np.abs(wide_k).swapaxes(1, 2)).max(axis=2, keepdims=True)
    for causal in (False, True):
        seen = np.tri(N, dtype=bool) if causal else np.ones((N, N), bool)
        weights = np.exp(np.where(seen, scores, -np.inf))
        weights /= weights.sum(axis=2, keepdims=True)
        result = xp.empty((H, N, D), dtype)
        kernel = attention.specialize(CAUSAL=causal)  # the dtype comes from the arrays
        kernel(*(xp.asarray(m) for m in (q, k, v)), result, SCALE)
        errors.append(on_host(result) - weights @ wide_v)
        bounds.append((5 * unit + 2.0**-9 * sizes) * (weights @ np.abs(wide_v)) + 2.0**-12)

report("attention", np.stack(errors), np.zeros(1), np.stack(bounds))
