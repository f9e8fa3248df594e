"""Partial sums by a tree, against float64. Run: python examples/reduce_shared.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

B = 20
N = B * 512 - 100

xp = array_module()
x = np.random.default_rng(0).standard_normal(N).astype(np.float32)
parts = np.pad(x.astype(np.float64), (0, B * 512 - N)).reshape(B, 512)

reduce_shared = ph.load(Path(__file__).with_suffix(".ph")).reduce_shared
sums = xp.empty(B, np.float32)
reduce_shared(xp.asarray(x), sums)

report("reduce_shared", sums, parts.sum(axis=1), 9.01 * 2.0**-24 * np.abs(parts).sum(axis=1))
