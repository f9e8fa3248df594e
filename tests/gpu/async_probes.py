"""What a GPU does with boxes at the edge of the rules of bulk copies, and beyond.

    python -m tests.gpu.async_probes prepare build/probes            # anywhere, with xDSL
    python -m tests.gpu.async_probes run build/probes probes.json    # on the GPU

Of every probe of `tests/async_probes.py`: whether the bytes are those of its loops, or how it ends.
"""

from __future__ import annotations

import sys
from pathlib import Path

from phobos_nb.arguments import tensor_maps
from tests.gpu.async_commands import Commands, Found
from tests.gpu.async_folder import Json, Stored, compiled, launches, store


def prepare(folder: Path) -> None:
    """Compile every probe, and store its arrays and the bytes that are wanted."""
    from tests.async_probes import PROBES

    made = compiled({name: probe.kernel() for name, probe in PROBES.items()})
    probes = zip(PROBES.items(), made, strict=True)
    store(folder, (Stored(*code, {"name": name}, p.wanted(code[0])) for (name, p), code in probes))


def one(folder: Path, k: int, repeats: int) -> Json:
    """Launch a probe some times: how often the bytes were the wanted ones."""
    # The driver's own rules are asked here, which allow more than ours.
    tensor_maps._box_problems = lambda *_: []
    same, first = 0, list[int]()
    for _, wrong in launches(folder, k, repeats):
        same += not wrong
        first = first or next(iter(wrong.values()), [])
    return {"runs": repeats, "same": same, **({"first_different_bytes": first} if first else {})}


def report(index: list[Json], found: Found) -> tuple[Json, int]:
    """How every probe went; none can be wrong."""
    return {"outcomes": {index[k]["name"]: _outcome(x) for k, x in found.items()}}, 0


def _outcome(found: Json) -> str:
    if "error" in found:
        return str(found["error"]).split(":")[0]
    return (
        "equal" if found["same"] == found["runs"] else f"different at {found['first_different_bytes']}"
    )


COMMANDS = Commands(
    "tests.gpu.async_probes",
    help=__doc__ or "",
    repeats=5,
    prepare=prepare,
    one=one,
    chosen=lambda _: True,
    report=report,
)

if __name__ == "__main__":
    sys.exit(COMMANDS.main(sys.argv[1:]))
