"""A five-point stencil, against float64. Run: python examples/stencil.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

M, N = 177, 115
CENTRE, SIDE = -4.0, 1.0

xp = array_module()
x = np.random.default_rng(0).standard_normal((M, N)).astype(np.float32)


def neighbours(x):
    """The sum of the four neighbours, zero around x."""
    p = np.pad(x.astype(np.float64), 1)
    return p[:-2, 1:-1] + p[2:, 1:-1] + p[1:-1, :-2] + p[1:-1, 2:]


stencil = ph.load(Path(__file__).with_suffix(".ph")).stencil
result = xp.empty((M, N), np.float32)
stencil(xp.asarray(x), result, CENTRE, SIDE)

size = abs(CENTRE) * np.abs(x) + abs(SIDE) * neighbours(np.abs(x))
report("stencil", result, CENTRE * x.astype(np.float64) + SIDE * neighbours(x), 6 * 2.0**-24 * size)
