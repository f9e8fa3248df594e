"""Running sums that begin anew in each segment. Run: python examples/segmented_scan.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

STARTS = np.array([0, 137, 137, 140, 601, 1009], np.int32)

xp = array_module()
x = np.random.default_rng(0).standard_normal(STARTS[-1]).astype(np.float32)
segments = np.split(x.astype(np.float64), STARTS[1:-1])
wanted = np.concatenate([np.cumsum(s) for s in segments])
sizes = np.concatenate([np.arange(1, len(s) + 1) * np.cumsum(np.abs(s)) for s in segments])

segmented_scan = ph.load(Path(__file__).with_suffix(".ph")).segmented_scan
result = xp.empty(len(x), np.float32)
segmented_scan(xp.asarray(x), xp.asarray(STARTS), result, grid=len(STARTS) - 1)

report("segmented_scan", result, wanted, 1.01 * 2.0**-24 * sizes)
