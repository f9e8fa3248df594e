"""Gated linear attention, against the recurrence. Run: python examples/linear_attention.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

H, T, D, E = 2, 203, 32, 32

xp = array_module()
rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal((H, T, n)).astype(np.float32) for n in (D, D, E))
g = (-0.1 * rng.random((H, T))).astype(np.float32)


def recurrence(q, k, v):
    """The definition, step by step."""
    state, out = np.zeros((H, D, E)), np.zeros((H, T, E))
    for t in range(T):
        state = np.exp(g[:, t].astype(np.float64))[:, None, None] * state
        state += k[:, t, :, None] * v[:, t, None, :]
        out[:, t] = np.einsum("hd,hde->he", q[:, t], state)
    return out


wide = [m.astype(np.float64) for m in (q, k, v)]
sizes = recurrence(*(np.abs(m) for m in wide))

linear_attention = ph.load(Path(__file__).with_suffix(".ph")).linear_attention
result = xp.empty((H, T, E), np.float32)
linear_attention(*(xp.asarray(m) for m in (q, k, v, g)), result)

report("linear_attention", result, recurrence(*wide), (4 * T + D + 128) * 2.0**-24 * sizes)
