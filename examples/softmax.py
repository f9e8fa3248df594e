"""Row softmax of a ragged matrix, against float64. Run: python examples/softmax.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N = 131, 2050

xp = array_module()
x = (3 * np.random.default_rng(0).standard_normal((M, N))).astype(np.float32)
wide = x.astype(np.float64)
weights = np.exp(wide - wide.max(axis=1, keepdims=True))
wanted = weights / weights.sum(axis=1, keepdims=True)
roundings = 1.5 * N + 4 * np.ptp(wide, axis=1, keepdims=True) + 64

softmax = ph.load(Path(__file__).with_suffix(".ph")).softmax
result = xp.empty((M, N), np.float32)
softmax(xp.asarray(x), result)

report("softmax", result, wanted, roundings * 2.0**-24 * wanted)
