"""On what and with what a run was made: kept in every result file."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

from phobos_nb.cuda.driver import describe_gpus, package_versions
from phobos_nb.cuda.nvrtc import version


def circumstances() -> dict[str, Any]:
    """The GPUs, the versions, the command and the day."""
    versions = {**package_versions(), "nvrtc": ".".join(map(str, version()))}
    return {
        "gpu": describe_gpus(),
        "versions": {name: found for name, found in versions.items() if found},
        "command": " ".join([f"python -m tests.gpu.{Path(sys.argv[0]).stem}", *sys.argv[1:]]),
        "date": time.strftime("%Y-%m-%d"),
    }
