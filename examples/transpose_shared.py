"""The transpose through shared memory, exact. Run: python examples/transpose_shared.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N = 177, 115

xp = array_module()
a = np.random.default_rng(0).standard_normal((M, N)).astype(np.float32)

transpose_shared = ph.load(Path(__file__).with_suffix(".ph")).transpose_shared
result = xp.empty((N, M), np.float32)
transpose_shared(xp.asarray(a), result)

report("transpose_shared", result, a.T.astype(np.float64), 0.0)
