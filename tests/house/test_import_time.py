"""What `import phobos_nb` costs."""

from __future__ import annotations

import subprocess
import sys

HEAVY = ("numpy", "xdsl", "cupy", "ipywidgets", "IPython", "pandas", "matplotlib", "cuda", "ml_dtypes")

PROBE = f"""
import sys, time
start = time.perf_counter()
import phobos_nb
print(time.perf_counter() - start)
print(*[m for m in {HEAVY!r} if m in sys.modules])
"""


def probe() -> tuple[float, list[str]]:
    """Seconds that the import took in a fresh interpreter, and the heavy packages it loaded."""
    run = subprocess.run([sys.executable, "-c", PROBE], capture_output=True, text=True, check=True)
    seconds, _, loaded = run.stdout.partition("\n")
    return float(seconds), loaded.split()


def test_importing_the_kit_is_cheap() -> None:
    """`import phobos_nb` takes under 0.1 s and loads no NumPy, xDSL, CuPy or ipywidgets."""
    probes = [probe() for _ in range(5)]
    assert probes[0][1] == []
    assert min(seconds for seconds, _ in probes) < 0.1
