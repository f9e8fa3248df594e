"""The f32 GEMM on whole tiles, against float64. Run: python examples/gemm_fp32.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N, K = 512, 512, 256
ALPHA, BETA = 1.25, -0.5

xp = array_module()
rng = np.random.default_rng(0)
a, b, c = (rng.standard_normal(shape).astype(np.float32) for shape in ((M, K), (K, N), (M, N)))
wide_a, wide_b, wide_c = (m.astype(np.float64) for m in (a, b, c))
wanted = ALPHA * (wide_a @ wide_b) + BETA * wide_c
size = ALPHA * (np.abs(wide_a) @ np.abs(wide_b)) + np.abs(BETA * wide_c)

gemm = ph.load(Path(__file__).with_suffix(".ph")).gemm
result = xp.asarray(c)
gemm(xp.asarray(a), xp.asarray(b), result, ALPHA, BETA)

report("gemm_fp32", result, wanted, (K + 4) * 2.0**-24 * size)
