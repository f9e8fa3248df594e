"""Records on disk: what they hold for, and files that are old, cut, foreign or newer."""

import json
import logging

import pytest

from phobos_nb.compilation import remembered
from phobos_nb.tune.files import put_in_place
from phobos_nb.tune.records import RecordError, Store, encode, read, write
from tests.tune.recorded import identity, record


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path)


def test_a_record_comes_back_as_it_was(store):
    """Outcomes, failures with kind and reason, settings and peers survive the disk."""
    kept = record()
    store.put(kept)
    found = store.get(kept.identity)
    assert found is not None
    assert encode(found) == encode(kept)
    assert found.outcomes == kept.outcomes


@pytest.mark.parametrize(
    "changed",
    [
        {"extents": {"M": 512, "N": 4096, "K": 4096}},
        {"dtypes": {"A": "f16"}},
        {"device": "NVIDIA H100"},
        {"fingerprint": "0" * 64},
        {"fixed": {"TILE_K": 8}},
        {"compiler": "0.2.0"},
        {"nvrtc": "12.9"},
        {"target": "sm_80"},
        {"index_bits": 32},
    ],
    ids=lambda c: next(iter(c)),
)
def test_another_shape_dtype_device_source_or_version_is_a_miss(store, changed):
    """Each field of the identity alone makes another record."""
    store.put(record())
    assert store.get(identity()) is not None
    assert store.get(identity(**changed)) is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ('{"what": "phobos_nb tuning record", "format": 1', "cut short"),
        ('{"what": "phobos_nb tuning record", "format": 1,}', "cut short or no JSON"),
        ("[1, 2]", "no JSON object"),
        ('{"what": "something else"}', "not a tuning record"),
        ('{"what": "phobos_nb tuning record", "format": 99}', "format 99"),
        ('{"what": "phobos_nb tuning record", "format": 1}', "damaged"),
    ],
)
def test_damaged_and_foreign_files_are_absent_with_a_message(store, text, reason, caplog):
    """Never a traceback; the warning says what is wrong; calls see no winner either."""
    path = store.path(identity())
    path.write_text(text)
    with caplog.at_level(logging.WARNING, "phobos_nb"):
        assert store.get(identity()) is None
    assert reason in caplog.text
    with pytest.raises(RecordError, match=reason):
        read(path)


def test_a_file_that_cannot_be_read_is_kept_when_a_record_takes_its_place(store):
    """Nothing is overwritten silently: the unknown file stays beside it under another name."""
    path = store.path(identity())
    path.write_text('{"what": "phobos_nb tuning record", "format": 99}')
    store.put(record())
    assert store.get(identity()) is not None
    (kept,) = store.folder.glob("*.kept-*")
    assert json.loads(kept.read_text())["format"] == 99


def test_a_half_written_record_is_never_seen(store, monkeypatch):
    """A writer that dies before the end leaves the old record and no other file."""
    store.put(record())
    before = store.path(identity()).read_bytes()

    def full_disk(*_):
        raise OSError("no space left on device")

    monkeypatch.setattr("os.replace", full_disk)
    with pytest.raises(OSError, match="no space"):
        write(record(seed=1), store.path(identity()))
    assert store.path(identity()).read_bytes() == before
    assert len(list(store.folder.iterdir())) == 1


def test_calls_read_the_winner(tmp_path, monkeypatch):
    """The best constants of exactly this identity, None for another."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    Store().put(record())
    assert remembered.best(identity()) == {"M": 128, "N": 256, "K": 8}
    assert remembered.best(identity(device="NVIDIA A100")) is None


def test_a_record_has_the_rights_of_other_files(tmp_path):
    """Those of the umask, not of a temporary file: a colleague can read what was written for him."""
    plain = tmp_path / "plain"
    plain.write_text("")
    put_in_place("{}", tmp_path / "record.json", json.loads)
    assert (tmp_path / "record.json").stat().st_mode == plain.stat().st_mode


def test_an_unusable_file_is_said_once(store, caplog):
    """A search looks at its record more than once."""
    store.put(record())
    store.path(identity()).write_text("{")
    with caplog.at_level(logging.WARNING, "phobos_nb"):
        assert store.get(identity()) is None
        assert store.get(identity()) is None
    assert caplog.text.count("is not used") == 1
