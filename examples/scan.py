"""Running sums down the columns, against float64. Run: python examples/scan.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N = 515, 77

xp = array_module()
x = np.random.default_rng(0).standard_normal((M, N)).astype(np.float32)
wide = x.astype(np.float64)

scan = ph.load(Path(__file__).with_suffix(".ph")).scan
result = xp.empty((M, N), np.float32)
scan(xp.asarray(x), result)

bound = 1.01 * 2.0**-24 * np.arange(1, M + 1)[:, None] * np.cumsum(np.abs(wide), axis=0)
report("scan", result, np.cumsum(wide, axis=0), bound)
