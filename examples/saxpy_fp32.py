"""saxpy on a million elements, against float64. Run: python examples/saxpy_fp32.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

N, A = 1_000_003, 1.5

xp = array_module()
rng = np.random.default_rng(0)
x, y = rng.standard_normal((2, N)).astype(np.float32)
wanted = A * x.astype(np.float64) + y

saxpy = ph.load(Path(__file__).with_suffix(".ph")).saxpy
result = xp.asarray(y)
saxpy(xp.asarray(x), result, A)

report("saxpy_fp32", result, wanted, 2.0**-23 * (np.abs(A * x) + np.abs(wanted)))
