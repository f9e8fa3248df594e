"""The disk cache: round trips, damage, limits, several processes."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from phobos_nb.cuda.cache import DEFAULT_BYTES, Cache, key
from phobos_nb.cuda.nvrtc import NvrtcResult

RESULT = NvrtcResult(
    ptx="// ptx \u03b1", cubin=b"\x7fELF\n\0\xff", log="log", arch="sm_80", version=(13, 0)
)


@pytest.fixture
def cache(tmp_path):
    return Cache(tmp_path / "cache", limit=10_000)


def test_what_is_put_is_got(cache):
    """Text, bytes and numbers come back as they were, also from another object."""
    cache.put("ab12", RESULT)
    assert cache.get("ab12") == RESULT
    assert Cache(cache.folder, limit=10).get("ab12") == RESULT
    assert cache.get("cd34") is None
    assert (cache.hits, cache.misses) == (1, 1)


def test_a_key_holds_everything_that_decides_the_code():
    """Text, architecture, options and NVRTC version each change it; nothing else does."""
    base = key("text", "sm_80", ("-a",), (13, 0))
    others = [
        key("text ", "sm_80", ("-a",), (13, 0)),
        key("text", "sm_86", ("-a",), (13, 0)),
        key("text", "sm_80", ("-b",), (13, 0)),
        key("text", "sm_80", ("-a",), (13, 1)),
        key("text", "sm_80", ("-a",), (13, 0), {"x": "1"}),
    ]
    assert len({base, *others}) == 6
    assert base == key("text", "sm_80", ["-a"], (13, 0))


def _damage():
    def empty(data: bytes) -> bytes:
        return b""

    def short(data: bytes) -> bytes:
        return data[:-3]

    def flipped(data: bytes) -> bytes:
        return data[:-1] + bytes([data[-1] ^ 1])

    def garbage(data: bytes) -> bytes:
        return b"\xff\xfe{]" * 50

    def list_head(data: bytes) -> bytes:
        return b"[1, 2]\n" + data

    def older(data: bytes) -> bytes:
        return data.replace(b'"format": 1', b'"format": 0')

    def comma(data: bytes) -> bytes:
        return data.replace(b"}\n", b",}\n", 1)

    return [empty, short, flipped, garbage, list_head, older, comma]


@pytest.mark.parametrize("damage", _damage(), ids=lambda f: f.__name__)
def test_a_damaged_entry_is_absent_and_then_replaced(cache, damage):
    """Truncated, empty, changed, foreign or older files give a miss, never a traceback."""
    cache.put("ab12", RESULT)
    (path,) = cache.folder.glob("??/*.phk")
    path.write_bytes(damage(path.read_bytes()))
    assert cache.get("ab12") is None
    assert cache.get_or("ab12", lambda: RESULT) == RESULT
    assert cache.get("ab12") == RESULT


def test_the_least_recently_used_go_first(tmp_path):
    """A limit of three entries keeps the last three that were read or written."""
    cache = Cache(tmp_path, limit=3 * 1300)
    big = replace(RESULT, cubin=bytes(1000))
    for k, name in enumerate(("aa", "bb", "cc")):
        cache.put(name, big)
        os.utime(next(cache.folder.glob(f"*/{name}.phk")), (1000 + k, 1000 + k))
    assert cache.get("aa") == big  # now the most recent
    cache.put("dd", big)
    assert {entry.key for entry in cache.list()} == {"aa", "cc", "dd"}
    assert cache.statistics.bytes <= cache.limit


def test_an_entry_larger_than_the_cache_is_not_kept(tmp_path):
    """Nor does it push out the others."""
    cache = Cache(tmp_path, limit=500)
    cache.put("aa", RESULT)
    cache.put("bb", replace(RESULT, cubin=bytes(5000)))
    assert [entry.key for entry in cache.list()] == ["aa"]


def test_clear_empties_it(cache):
    """And says how many there were."""
    cache.put("aa", RESULT)
    cache.put("bb", RESULT)
    assert (cache.clear(), cache.list(), cache.statistics.entries) == (2, [], 0)


def test_a_folder_that_cannot_be_made_turns_the_cache_off(tmp_path, caplog):
    """Compiling goes on without one, and says so once."""
    (tmp_path / "file").write_text("in the way")
    cache = Cache(tmp_path / "file" / "cache")
    assert cache.get_or("aa", lambda: RESULT) == RESULT
    assert cache.get_or("bb", lambda: RESULT) == RESULT
    assert cache.list() == []
    (warned,) = caplog.messages
    assert "not kept on disk" in warned
    assert str(tmp_path / "file") in cache.trouble
    assert Cache(tmp_path / "usable").trouble == ""


def test_the_environment_decides_where_and_how_much(monkeypatch, tmp_path):
    """PHOBOS_CACHE_DIR and PHOBOS_CACHE_BYTES; 2 GiB when the latter is unset or no number."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PHOBOS_CACHE_BYTES", "12345")
    assert (Cache().folder, Cache().limit) == (tmp_path, 12345)
    monkeypatch.setenv("PHOBOS_CACHE_BYTES", "lots")
    assert Cache().limit == DEFAULT_BYTES == 2 * 1024**3


WRITER = """
import sys
from pathlib import Path
from phobos_nb.cuda.cache import Cache
from phobos_nb.cuda.nvrtc import NvrtcResult
cache = Cache(Path(sys.argv[1]), limit=20_000)
for k in range(150):
    name = f"{k % 12:02x}"
    made = NvrtcResult("p" * 100, name.encode() * 1000, "", "sm_80", (13, 0))
    found = cache.get_or(name, lambda: made)
    assert found.cubin == name.encode() * 1000, name
"""


def test_four_processes_share_one_folder(tmp_path):
    """Readers see whole entries or none while others write and trim."""
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    running = [subprocess.Popen(command, cwd=Path.cwd(), stderr=subprocess.PIPE) for _ in range(4)]
    errors = [process.communicate(timeout=120)[1].decode() for process in running]
    assert [process.returncode for process in running] == [0] * 4, errors
    cache = Cache(tmp_path, limit=20_000)
    assert cache.list()
    assert not list(tmp_path.glob("??/*.tmp"))
    assert all(cache.get(entry.key) is not None for entry in cache.list())


def test_a_writer_that_finishes_meanwhile_does_not_disturb(cache, caplog, monkeypatch):
    """Another process moves its temporary file into place while room is made: no warning."""
    gone = cache.folder / "ab" / "other.tmp"
    gone.parent.mkdir(parents=True)
    gone.write_text("")
    listing = Path.glob

    def stale(self, pattern):
        found = [*listing(self, pattern)]
        if pattern.endswith(".tmp"):
            gone.unlink()
        return found

    monkeypatch.setattr(Path, "glob", stale)
    cache.put("ab12", RESULT)
    assert cache.get("ab12") == RESULT
    assert not caplog.records
