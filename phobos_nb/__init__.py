"""A Jupyter-native kit for writing GPU kernels in the Phobos tile language."""

from __future__ import annotations

__version__ = "0.1.0"
