"""Layer norm of rows with a large mean, against float64. Run: python examples/layer_norm.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N, EPS = 131, 2050, 1e-5

xp = array_module()
rng = np.random.default_rng(0)
x = (rng.standard_normal((M, N)) + 4.0).astype(np.float32)
w, b = rng.standard_normal((2, N)).astype(np.float32)
wide = x.astype(np.float64)
centred = wide - wide.mean(axis=1, keepdims=True)
scale = 1 / np.sqrt((centred**2).mean(axis=1, keepdims=True) + EPS)
wanted = centred * scale * w + b
# The mean of N numbers is off by up to N roundings of their mean magnitude, and every result with it.
shift = (N + 2) * 2.0**-24 * np.abs(wide).mean(axis=1, keepdims=True)
bound = np.abs(w) * scale * (
    2 * shift + (N + 20) * 2.0**-24 * (np.abs(centred) + 1)
) + 2.0**-22 * np.abs(b)

layer_norm = ph.load(Path(__file__).with_suffix(".ph")).layer_norm
result = xp.empty((M, N), np.float32)
layer_norm(xp.asarray(x), xp.asarray(w), xp.asarray(b), result, EPS)

report("layer_norm", result, wanted, bound)
