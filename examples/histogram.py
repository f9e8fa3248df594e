"""How often each byte occurs, which is exact. Run: python examples/histogram.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

N = 20_011

xp = array_module()
x = np.random.default_rng(0).binomial(255, 0.4, N).astype(np.uint8)

histogram = ph.load(Path(__file__).with_suffix(".ph")).histogram
counts = xp.zeros(256, np.int32)
histogram(xp.asarray(x), counts, grid=8)

report("histogram", counts, np.bincount(x, minlength=256), 0.0)
