"""On what, when and with which command a table of results was made: its first line."""

from __future__ import annotations

import os
import platform
import sys
from datetime import date

import numpy as np


def made_by(module: str) -> str:
    """Of a run as `python -m MODULE ...`; the arguments are this process's."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    versions = f"Python {platform.python_version()}, NumPy {np.__version__}"
    command = " ".join(["python -m", module, *sys.argv[1:]])
    return f"{date.today().isoformat()}, {cores} cores, {versions}: {command}"
