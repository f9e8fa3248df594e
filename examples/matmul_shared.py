"""A product by shared tiles, against float64. Run: python examples/matmul_shared.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N, K = 77, 51, 43

xp = array_module()
rng = np.random.default_rng(0)
a, b = (rng.standard_normal(s).astype(np.float32) for s in ((M, K), (K, N)))
wide_a, wide_b = (m.astype(np.float64) for m in (a, b))

matmul_shared = ph.load(Path(__file__).with_suffix(".ph")).matmul_shared
result = xp.empty((M, N), np.float32)
matmul_shared(xp.asarray(a), xp.asarray(b), result)

bound = (K + 1) * 2.0**-24 * (np.abs(wide_a) @ np.abs(wide_b))
report("matmul_shared", result, wide_a @ wide_b, bound)
