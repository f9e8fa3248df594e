"""A product with another matrix for each group of rows. Run: python examples/grouped_gemm.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

STARTS = np.array([0, 50, 50, 83, 120], np.int32)
M, N, K, G = 120, 51, 43, 4

xp = array_module()
rng = np.random.default_rng(0)
a, b = (rng.standard_normal(s).astype(np.float32) for s in ((M, K), (G, K, N)))
group = np.repeat(np.arange(G), np.diff(STARTS))
wide_a, wide_b = a.astype(np.float64)[:, None], b.astype(np.float64)[group]

grouped_gemm = ph.load(Path(__file__).with_suffix(".ph")).grouped_gemm
grouped_gemm = grouped_gemm.specialize(TILE_M=32, TILE_N=32, TILE_K=8)
result = xp.empty((M, N), np.float32)
grid = -(-int(np.diff(STARTS).max()) // 32), -(-N // 32), G
grouped_gemm(xp.asarray(a), xp.asarray(b), xp.asarray(STARTS), result, grid=grid)

bound = (K + 1) * 2.0**-24 * (np.abs(wide_a) @ np.abs(wide_b))
report("grouped_gemm", result, (wide_a @ wide_b)[:, 0], bound[:, 0])
