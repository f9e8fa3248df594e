"""Rotary embedding, against float64. Run: python examples/rotary.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

T, H, D = 203, 2, 32

xp = array_module()
x = np.random.default_rng(0).standard_normal((T, H, 2, D)).astype(np.float32)
f = (10000.0 ** -(np.arange(D) / D)).astype(np.float32)
angle = np.arange(T)[:, None, None] * f.astype(np.float64)
turned = (x[:, :, 0] + 1j * x[:, :, 1].astype(np.float64)) * np.exp(1j * angle)

rotary = ph.load(Path(__file__).with_suffix(".ph")).rotary
result = xp.empty((T, H, 2, D), np.float32)
rotary(xp.asarray(x), xp.asarray(f), result)

size = np.abs(x).astype(np.float64).sum(axis=2, keepdims=True)
bound = 1.01 * 2.0**-24 * size * (angle[:, :, None] + 8)
report("rotary", result, np.stack([turned.real, turned.imag], axis=2), bound)
