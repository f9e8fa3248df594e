"""Flash attention in f16, against float64. Run: python examples/flash_attention_fp16.py [--gpu]."""

from pathlib import Path

import numpy as np
from driver import array_module, report

import phobos_nb as ph

H, NQ, NK, D = 2, 150, 203, 64
SCALE = 0.125

xp = array_module()
rng = np.random.default_rng(0)
q, k, v = (rng.standard_normal((H, n, D)).astype(np.float16) for n in (NQ, NK, NK))
wide_q, wide_k, wide_v = (m.astype(np.float64) for m in (q, k, v))
scores = SCALE * (wide_q @ wide_k.swapaxes(1, 2))
weights = np.exp(scores - scores.max(axis=2, keepdims=True))
weights /= weights.sum(axis=2, keepdims=True)
wanted = weights @ wide_v
sizes = SCALE * (np.abs(wide_q) @ np.abs(wide_k).swapaxes(1, 2))
drift = (2 * D + 4) * sizes.max(axis=2, keepdims=True) + 2 * np.ptp(scores, axis=2, keepdims=True)
mean = weights @ np.abs(wide_v)

flash_attention = ph.load(Path(__file__).with_suffix(".ph")).flash_attention
result = xp.empty((H, NQ, D), np.float16)
flash_attention(xp.asarray(q), xp.asarray(k), xp.asarray(v), result, SCALE)

report(
    "flash_attention_fp16",
    result,
    wanted,
    ((drift + 2 * NK + 64) * 2.0**-24 + 2.0**-10) * 1.01 * mean
    + 2.0**-25 * (1 + np.abs(wide_v).sum(axis=1, keepdims=True)),
)
