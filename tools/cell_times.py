"""How long `%%phobos` cells take in a fresh Jupyter kernel: the first, a new one, the same again.

    python tools/cell_times.py [--rounds 5] [--out results/cell_times.csv]

Each round starts a kernel with an empty cache of compiled kernels and runs the example GEMM for
sm_80, the same text with another tile, and that cell once more. Seconds are from the request to the
reply; stages are those of `Compilation.timings`. The CSV has one row per round and cell.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import statistics
import tempfile
import time
from pathlib import Path

from jupyter_client.blocking.client import BlockingKernelClient
from jupyter_client.manager import KernelManager

ROOT = Path(__file__).parents[1]
GEMM = (ROOT / "examples" / "gemm_fp32.ph").read_text("utf-8")
OPTIONS = {
    "first": "--chip sm_80",
    "new": "--chip sm_80 -D TILE_M=64",
    "again": "--chip sm_80 -D TILE_M=64",
}
STAGES = "import json; print(json.dumps(dict(gemm.compile().timings)))"


def run(client: BlockingKernelClient, code: str) -> tuple[float, str]:
    """Seconds of a cell from request to reply, and what it printed."""
    printed: list[str] = []

    def collect(message: dict) -> None:
        if message["msg_type"] == "stream":
            printed.append(message["content"]["text"])

    start = time.perf_counter()
    reply = client.execute_interactive(code, timeout=120, output_hook=collect)
    seconds = time.perf_counter() - start
    if reply["content"]["status"] != "ok":
        raise RuntimeError("\n".join(reply["content"]["traceback"]))
    return seconds, "".join(printed)


def one_round() -> list[dict[str, object]]:
    """The three cells in one fresh kernel with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        manager = KernelManager(kernel_name="python3")
        manager.start_kernel(env={**os.environ, "PHOBOS_CACHE_DIR": cache})
        client = manager.blocking_client()
        client.start_channels()
        try:
            client.wait_for_ready(timeout=60)
            run(client, "import numpy as np\nimport phobos_nb as ph\n%load_ext phobos_nb")
            return [cell(client, name, options) for name, options in OPTIONS.items()]
        finally:
            client.stop_channels()
            manager.shutdown_kernel(now=True)


def cell(client: BlockingKernelClient, name: str, options: str) -> dict[str, object]:
    """One row: seconds of the cell, and of each stage that its compilation has run so far."""
    seconds, _ = run(client, f"%%phobos {options}\n{GEMM}")
    stages = json.loads(run(client, STAGES)[1])
    return {"cell": name, "seconds": round(seconds, 4)} | {k: round(v, 4) for k, v in stages.items()}


def main() -> None:
    """Run the rounds, print medians, write the rows where asked."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    rows = [{"round": n} | row for n in range(arguments.rounds) for row in one_round()]
    for name in OPTIONS:
        times = [float(str(row["seconds"])) for row in rows if row["cell"] == name]
        print(f"{name:6} median {statistics.median(times):.3f} s, fastest {min(times):.3f} s")
    if arguments.out:
        names = list(dict.fromkeys(key for row in rows for key in row))
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        with arguments.out.open("w", newline="") as file:
            writer = csv.DictWriter(file, names)
            writer.writeheader()
            writer.writerows(rows)


if __name__ == "__main__":
    main()
