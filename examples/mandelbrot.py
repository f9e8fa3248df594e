"""The Mandelbrot set, mirrored and inside. Run: python examples/mandelbrot.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, on_host, report

import phobos_nb as ph

ROWS, COLUMNS, STEP, LIMIT = 25, 64, 0.0625, 40

xp = array_module()
mandelbrot = ph.load(Path(__file__).with_suffix(".ph")).mandelbrot
counts = xp.empty((ROWS, COLUMNS), np.int32)
mandelbrot(counts, -2.5, -(ROWS // 2) * STEP, STEP, LIMIT)

found = on_host(counts)
report("mandelbrot", np.append(found - found[::-1], found[ROWS // 2, 40] - LIMIT), np.zeros(1), 0.0)
