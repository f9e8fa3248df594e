"""The column of the largest element of each row, exact. Run: python examples/argmax.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N = 37, 777

xp = array_module()
x = np.random.default_rng(0).integers(-100, 100, (M, N)).astype(np.float32)

argmax = ph.load(Path(__file__).with_suffix(".ph")).argmax
result = xp.empty(M, np.int32)
argmax(xp.asarray(x), result)

report("argmax", result, np.argmax(x, axis=1), 0.0)
