"""Products of a batch of matrices, against float64. Run: python examples/batched_gemm.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

Z, M, N, K = 3, 77, 51, 43

xp = array_module()
rng = np.random.default_rng(0)
a, b = (rng.standard_normal(s).astype(np.float32) for s in ((Z, M, K), (Z, K, N)))
wide_a, wide_b = (m.astype(np.float64) for m in (a, b))

batched_gemm = ph.load(Path(__file__).with_suffix(".ph")).batched_gemm
result = xp.empty((Z, M, N), np.float32)
batched_gemm(xp.asarray(a), xp.asarray(b), result)

bound = (K + 1) * 2.0**-24 * (np.abs(wide_a) @ np.abs(wide_b))
report("batched_gemm", result, wide_a @ wide_b, bound)
