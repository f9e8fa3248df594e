"""Which compiler made a measurement: the version, and a hash of the sources that decide the code."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

from phobos_nb import __version__

ROOMS = ("language", "ir", "builtins", "attributes", "lower", "target", "cuda", "compilation")
"""Folders whose text decides what machine code a kernel gets, or how it is launched."""

FILES = ("contract.py", "counts.py", "dtypes.py", "options.py")
"""Single files that those rooms read."""


def compiler_hash(package: Path) -> str:
    """16 hex digits over names and bytes of the compiler's sources below `package`.

    Any edit counts, a comment too: measuring again costs less than believing a stale number.
    """
    found = [path for room in ROOMS for path in (package / room).rglob("*.py")]
    found += [path for name in FILES if (path := package / name).is_file()]
    total = hashlib.sha256()
    for path in sorted(found):
        total.update(path.relative_to(package).as_posix().encode() + b"\0")
        total.update(hashlib.sha256(path.read_bytes()).digest())
    return total.hexdigest()[:16]


@cache
def compiler_identity() -> str:
    """Version and hash of this compiler, such as "0.1.0+3f2a...", read once per process."""
    return f"{__version__}+{compiler_hash(Path(__file__).parents[1])}"
