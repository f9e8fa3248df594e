"""Tuning records as calls see them: the best constants for a kernel, extents and device, from disk.

Searches write these files (`phobos_nb/tune/records.py`); here is what identifies one and how the winner
is read back. A file that is damaged, of another format or about something else is as good as absent,
and a warning says so once.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Any, cast

import platformdirs

from phobos_nb.compilation.compiler_hash import compiler_identity
from phobos_nb.options import environment

LOG = logging.getLogger("phobos_nb")

FORMAT = 1
"""Of the files; a reader takes older ones where `tune/records.py` can convert them."""

LONGEST = 120
"""Letters of a kernel's name in a file's name, of which 255 are allowed in all."""

CPU = "cpu"
"""The device of NumPy calls."""


@dataclass(frozen=True)
class Identity:
    """What a measurement holds for, and nothing else: each field that differs makes another record.

    fingerprint: of the program without comments and layout. fixed: constants that were not searched.
    index_bits: width of sizes and offsets. compiler: version and hash of its sources. nvrtc: version.
    cache: "warm", or "cold" where the L2 cache was flushed before every timed call.
    """

    kernel: str
    fingerprint: str
    fixed: Mapping[str, int]
    extents: Mapping[str, int]
    dtypes: Mapping[str, str]
    index_bits: int
    device: str
    target: str
    compiler: str = field(default_factory=compiler_identity)
    nvrtc: str = ""
    cache: str = "warm"

    @property
    def file_name(self) -> str:
        """Readable at its start, unique by a hash of everything; short enough for any file system."""
        text = json.dumps(asdict(self), sort_keys=True)
        return f"{self.kernel[:LONGEST]}-{hashlib.sha256(text.encode()).hexdigest()[:24]}.json"

    def to_plain(self) -> dict[str, Any]:
        """As JSON's types."""
        return json.loads(json.dumps(asdict(self)))


def folder() -> Path:
    """Where records are kept: below PHOBOS_CACHE_DIR, else below the user's data folder."""
    chosen = environment().cache_dir
    return chosen / "tuning" if chosen else Path(platformdirs.user_data_dir("phobos_nb")) / "tuning"


def best(identity: Identity) -> dict[str, int] | None:
    """The recorded winner's constants; None where there is no usable record."""
    found = winner(identity)
    return None if found is None else found[0]


def winner(identity: Identity) -> tuple[dict[str, int], str] | None:
    """The recorded winner's constants and the date of the record; None where there is none.

    Of warm measurements where there are some, else of cold ones.
    """
    found = (_winner(replace(identity, cache=state)) for state in ("warm", "cold"))
    return next((f for f in found if f is not None), None)


def _winner(identity: Identity) -> tuple[dict[str, int], str] | None:
    path = folder() / identity.file_name
    if not path.is_file():
        return None
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format"] != FORMAT:
            return warn_once(str(path), f"format {data['format']}, this version reads {FORMAT}")
        if data["identity"] != identity.to_plain():
            return warn_once(str(path), "it is about something else")
        found = cast("dict[str, int] | None", data["best"])
        return None if found is None else ({str(n): int(v) for n, v in found.items()}, data["date"])
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        return warn_once(str(path), f"cut short or damaged ({type(error).__name__}: {error})")


@cache
def warn_once(path: str, why: str) -> None:
    """Say that a file is not used, once per process."""
    LOG.warning("%s is not used: %s", path, why)
