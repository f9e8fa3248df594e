"""What the examples' drivers share: where the arrays live, and the verdict on a result."""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np


def array_module() -> Any:
    """NumPy, or CuPy where the driver is started with --gpu."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--gpu", action="store_true", help="run on the GPU, with CuPy arrays")
    if not parser.parse_args().gpu:
        return np
    import cupy

    return cupy


def on_host(array: Any) -> np.ndarray:
    """The values of a NumPy or CuPy array in float64 on the host."""
    return np.asarray(array.get() if hasattr(array, "get") else array).astype(np.float64)


def report(name: str, found: Any, wanted: np.ndarray, bound: np.ndarray | float) -> None:
    """Print the error that comes closest to its bound; exit with 1 where one is above."""
    error = np.abs(on_host(found) - wanted)
    limit = np.broadcast_to(bound, error.shape)
    worst = np.unravel_index(np.argmax(error / np.maximum(limit, 1e-300)), error.shape)
    right = bool(np.all(error <= limit))
    verdict = "right" if right else "WRONG"
    print(f"{name}: {verdict}, error {error[worst]:.2g}, bound {limit[worst]:.2g}")
    raise SystemExit(0 if right else 1)
