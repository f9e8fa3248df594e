"""Compiled kernels on disk, shared by processes; content keys, least recently used entries go first.

One entry is one file: a line of JSON (what it is, sizes, a checksum), then the PTX, log and cubin. A
file is written under another name and moved into place, so a reader sees a whole entry or none; an
entry that is cut short, changed or of another format is treated as absent and replaced.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import platformdirs

from phobos_nb import __version__
from phobos_nb.cuda.nvrtc import NvrtcResult
from phobos_nb.files import write_whole
from phobos_nb.options import environment

LOG = logging.getLogger("phobos_nb")
FORMAT = 1
DEFAULT_BYTES = 2 * 1024**3
SUFFIX = ".phk"


@dataclass(frozen=True)
class Entry:
    """A cached kernel: key, bytes on disk, when it was last used (seconds since the epoch)."""

    key: str
    bytes: int
    used: float


@dataclass(frozen=True)
class Statistics:
    """How full the cache is, and hits and misses of this process."""

    entries: int
    bytes: int
    limit: int
    hits: int
    misses: int


def key(
    text: str,
    arch: str,
    options: Sequence[str],
    version: tuple[int, int],
    extra: Mapping[str, str] | None = None,
) -> str:
    """The content key: everything that decides what the compiler makes, and this package's version."""
    parts = [text, arch, list(options), list(version), __version__, dict(extra or {})]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


class Cache:
    """A folder of compiled kernels with a size limit.

    folder: default PHOBOS_CACHE_DIR, else the user's cache folder; limit: bytes, default
    PHOBOS_CACHE_BYTES, else 2 GiB. An unusable folder turns the cache off instead of failing:
    `trouble` says why, and the first entry that cannot be stored warns.
    """

    def __init__(self, folder: Path | None = None, limit: int | None = None) -> None:
        asked = environment()
        self.folder = (
            folder or asked.cache_dir or Path(platformdirs.user_cache_dir("phobos_nb")) / "kernels"
        )
        self.limit = limit if limit is not None else _limit(asked.cache_bytes)
        self.hits = 0
        self.misses = 0
        self._warned = False

    def get(self, key: str) -> NvrtcResult | None:
        """The entry of that key, None when there is none or it is damaged."""
        path = self._path(key)
        try:
            found = _unpack(path.read_bytes())
            os.utime(path)
        except (OSError, ValueError, KeyError, TypeError):
            found = None
        self.hits += found is not None
        self.misses += found is None
        return found

    def put(self, key: str, result: NvrtcResult) -> None:
        """Store an entry and make room for it; a full or read-only disk warns once."""
        data = _pack(result)
        if len(data) > self.limit:
            return
        try:
            self._path(key).parent.mkdir(parents=True, exist_ok=True)
            write_whole(self._path(key), data)
            self._trim()
        except OSError as error:
            self._warn(error)

    def _warn(self, error: OSError) -> None:
        if not self._warned:
            self._warned = True
            LOG.warning("compiled kernels are not kept on disk: %s (PHOBOS_CACHE_DIR chooses)", error)

    @property
    def trouble(self) -> str:
        """Why nothing can be stored in the folder; empty when it can be. Makes the folder."""
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.TemporaryFile(dir=self.folder):
                return ""
        except OSError as error:
            return str(error)

    def get_or(self, key: str, make: Callable[[], NvrtcResult]) -> NvrtcResult:
        """The entry of that key, made and stored when there is none."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def list(self) -> list[Entry]:
        """The entries, the least recently used first."""
        return sorted(self._entries(), key=lambda entry: entry.used)

    def clear(self) -> int:
        """Remove every entry; returns how many there were."""
        found = self.list()
        for entry in found:
            self._path(entry.key).unlink(missing_ok=True)
        return len(found)

    @property
    def statistics(self) -> Statistics:
        """How full the cache is, and this object's hits and misses."""
        found = self.list()
        total = sum(entry.bytes for entry in found)
        return Statistics(len(found), total, self.limit, self.hits, self.misses)

    def _path(self, key: str) -> Path:
        return self.folder / key[:2] / f"{key}{SUFFIX}"

    def _entries(self) -> Iterator[Entry]:
        for path in self.folder.glob(f"??/*{SUFFIX}"):
            try:
                found = path.stat()
            except OSError:  # another process removed it
                continue
            yield Entry(path.stem, found.st_size, found.st_mtime)

    def _trim(self) -> None:
        """Remove the least recently used entries beyond the limit, and writers' leftovers."""
        found = self.list()
        total = sum(entry.bytes for entry in found)
        for entry in found:
            if total <= self.limit:
                break
            self._path(entry.key).unlink(missing_ok=True)
            total -= entry.bytes
        for leftover in self.folder.glob("??/*.tmp"):
            if _age_seconds(leftover) > 3600:
                leftover.unlink(missing_ok=True)


def _age_seconds(path: Path) -> float:
    """Seconds since the file was written; 0 for one that its writer has moved away meanwhile."""
    try:
        return time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _limit(asked: str | None) -> int:
    if asked is None:
        return DEFAULT_BYTES
    return max(0, int(asked)) if asked.strip().isdigit() else DEFAULT_BYTES


def _pack(result: NvrtcResult) -> bytes:
    parts = [result.ptx.encode(), result.log.encode(), result.cubin]
    body = b"".join(parts)
    head = {
        "format": FORMAT,
        "arch": result.arch,
        "version": list(result.version),
        "seconds": result.seconds,
        "sizes": [len(part) for part in parts],
        "sha256": hashlib.sha256(body).hexdigest(),
    }
    return json.dumps(head).encode() + b"\n" + body


def _unpack(data: bytes) -> NvrtcResult:
    """Read an entry back; ValueError, KeyError or TypeError when it is not one."""
    line, _, body = data.partition(b"\n")
    head = json.loads(line)
    if head["format"] != FORMAT or head["sha256"] != hashlib.sha256(body).hexdigest():
        raise ValueError("not an entry of this format")
    ptx, log, cubin = head["sizes"]
    if ptx + log + cubin != len(body):
        raise ValueError("an entry that is cut short")
    major, minor = head["version"]
    return NvrtcResult(
        ptx=body[:ptx].decode(),
        log=body[ptx : ptx + log].decode(),
        cubin=body[ptx + log :],
        arch=head["arch"],
        version=(major, minor),
        seconds=head["seconds"],
    )
