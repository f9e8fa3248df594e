"""The bytes of a kernel's tensors, those between their rows included, before and after a simulation."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from phobos_nb.simulate.records import SimulationResult
    from tests.async_text import Kernel

Bytes = dict[str, np.ndarray]


def bytes_of(array: np.ndarray) -> np.ndarray:
    """A copy of the bytes that an array lies in, from its first element on."""
    base = array
    while isinstance(base.base, np.ndarray):
        base = base.base
    return base.reshape(-1).view(np.uint8).copy()


def simulated(kernel: Kernel, *, seed: int = 0) -> tuple[SimulationResult, Bytes, Bytes]:
    """A simulation; the bytes of all tensors before it, those of the written ones after it."""
    before = {n: bytes_of(a) for n, a in kernel.arguments.items()}
    after = {n: bytes_.copy() for n, bytes_ in before.items()}
    arguments = {
        n: np.ndarray(a.shape, a.dtype, after[n], 0, a.strides) for n, a in kernel.arguments.items()
    }
    result = replace(kernel, arguments=arguments).run(banks=False, in_place=True, seed=seed)
    written = {t.name: after[t.name] for t in kernel.contract.tensors if t.writes}
    return result, before, written


def digest(written: Mapping[str, np.ndarray]) -> str:
    """The first 16 digits of SHA-256 over the tensors' bytes, by name."""
    made = hashlib.sha256()
    for name in sorted(written):
        made.update(written[name].tobytes())
    return made.hexdigest()[:16]
