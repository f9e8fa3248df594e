"""The transpose of a ragged matrix, which is exact. Run: python examples/transpose.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N = 777, 515

xp = array_module()
a = np.random.default_rng(0).standard_normal((M, N)).astype(np.float32)

transpose = ph.load(Path(__file__).with_suffix(".ph")).transpose
result = xp.empty((N, M), np.float32)
transpose(xp.asarray(a), result)

report("transpose", result, a.T.astype(np.float64), 0.0)
