"""Every command and block of Python of docs/tuning.md and docs/bench.md, run as written on a GPU.

usage: python -m tests.gpu.documented OUT.json [--only tuning|bench] [--seconds N] [--last TEXT:LINE ...]

Blocks of a text share their names, as in one session. A Dask scheduler must answer at scheduler:8786, as
the text assumes (`dask scheduler`, and a `dask worker` on the machine of the GPU). Files are written
into a folder of their own. The exit code is how many failed; what does not begin within N seconds is
listed as not run. --last: what to put behind all others.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path
from typing import Any

from tests.documented import ROOT, Step, steps
from tests.gpu.circumstances import circumstances

PROGRAM = "import sys; from phobos_nb.cli import main; sys.exit(main(sys.argv[1:]))"
TAIL = 3000


def shell(step: Step, folder: Path) -> tuple[int, str]:
    """The exit code, and the end of what was printed."""
    command = [sys.executable, "-c", PROGRAM, *step.arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    return done.returncode, (done.stdout + done.stderr)[-TAIL:]


def python(step: Step, names: dict[str, Any]) -> tuple[int, str]:
    """0 or 1, and what was printed, or the traceback; lines that are expressions are printed too."""
    printed = io.StringIO()
    try:
        with contextlib.redirect_stdout(printed):
            exec(compile(step.code, f"line {step.line}", "exec"), names)
            for line in step.code.splitlines():
                head = line.split("  #")[0]
                if head in names:
                    print(repr(names[head]))
    except Exception:
        return 1, (printed.getvalue() + traceback.format_exc())[-TAIL:]
    return 0, printed.getvalue()[-TAIL:]


def main() -> int:
    """Run them all."""
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", choices=["tuning", "bench"])
    parser.add_argument("--seconds", type=float, default=1e9)
    parser.add_argument("--last", nargs="*", default=[])
    parsed = parser.parse_args()
    os.environ["PHOBOS_CACHE_DIR"] = tempfile.mkdtemp()
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(ROOT), *sys.path]))
    folder = Path(tempfile.mkdtemp())
    (folder / "examples").symlink_to(ROOT / "examples")
    out = parsed.out.resolve()
    os.chdir(folder)
    found: list[dict[str, Any]] = []
    begun = time.perf_counter()
    texts = [parsed.only] if parsed.only else ["tuning", "bench"]
    names: dict[str, dict[str, Any]] = {name: {"__name__": "docs"} for name in texts}
    all_steps = [(name, step) for name in texts for step in steps(name)]
    for name, step in sorted(all_steps, key=lambda s: f"{s[0]}:{s[1].line}" in parsed.last):
        row: dict[str, Any] = {"text": f"docs/{name}.md", "line": step.line, "code": step.code}
        started = time.perf_counter()
        if started - begun < parsed.seconds:
            rc, said = shell(step, folder) if step.language == "shell" else python(step, names[name])
            row |= {"rc": rc, "seconds": round(time.perf_counter() - started, 1), "said": said}
        found.append(row)
        print(name, step.line, row.get("rc", "not run"), row.get("seconds"), flush=True)
        out.write_text(json.dumps({**circumstances(), "ran": found}, indent=1) + "\n")
    return sum(row.get("rc") != 0 for row in found)


if __name__ == "__main__":
    sys.exit(main())
