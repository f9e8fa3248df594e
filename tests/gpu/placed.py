"""Arrays on the GPU in any layout, inside poisoned buffers, so that stray writes and reads show."""

from __future__ import annotations

from typing import Any

import numpy as np

GUARD = 512
"""Poisoned bytes on either side; a multiple of every alignment that kernels ask for."""

POISON = 0xFF
"""A byte whose repetition is NaN in every float type, and -1 or the largest integer otherwise."""


class Placed:
    """A NumPy array's values on the GPU with the same strides, alone in a poisoned buffer."""

    def __init__(self, array: np.ndarray[Any, Any], module: Any) -> None:
        reach = [(n - 1) * s for n, s in zip(array.shape, array.strides, strict=True) if array.size]
        low = sum(min(0, r) for r in reach)
        span = sum(abs(r) for r in reach) + array.itemsize * bool(array.size)
        same_alignment = array.__array_interface__["data"][0] % 16
        offset = -(-(GUARD - low) // 16) * 16 + same_alignment
        self._host = np.full(span + 2 * GUARD + 32, POISON, np.uint8)
        self._offset, self._like = offset, array
        self._view(self._host)[...] = array
        self._device = module.asarray(self._host)
        memory = self._device.data + offset
        self.array = module.ndarray(array.shape, array.dtype, memory, strides=array.strides)

    def _view(self, buffer: Any) -> Any:
        like = self._like
        return np.ndarray(like.shape, like.dtype, buffer, self._offset, like.strides)

    def fetch(self) -> np.ndarray[Any, Any]:
        """The values now; `AssertionError` when a byte outside the array has changed."""
        now = self._device.get()
        found = self._view(now).copy()
        self._view(now)[...] = self._like
        outside = np.flatnonzero(now != self._host)
        assert outside.size == 0, f"{outside.size} bytes outside the array were written"
        return found
