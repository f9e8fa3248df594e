"""RMS norm with a residual, against float64. Run: python examples/rms_norm.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N, EPS = 37, 777, 1e-5

xp = array_module()
rng = np.random.default_rng(0)
x, r, w = (rng.standard_normal(s).astype(np.float32) for s in ((M, N), (M, N), (N,)))
total = x.astype(np.float64) + r
wanted = total / np.sqrt((total * total).mean(axis=1, keepdims=True) + EPS) * w

rms_norm = ph.load(Path(__file__).with_suffix(".ph")).rms_norm
result = xp.empty((M, N), np.float32)
rms_norm(xp.asarray(x), xp.asarray(r), xp.asarray(w), result, EPS)

report("rms_norm", result, wanted, 1.01 * 2.0**-24 * (N / 2 + 12) * np.abs(wanted))
