"""Files written whole: content, rights, and what a failure leaves behind."""

from __future__ import annotations

import os
import stat

import pytest

from phobos_nb.files import write_whole


@pytest.mark.parametrize("content", ["a\nb\r\n\u03b1", b"\x00\r\n\xff"])
def test_content_is_as_it_was_given(tmp_path, content):
    """Text goes as UTF-8 with its own line ends, bytes as they are; the older content is gone."""
    path = tmp_path / "file"
    path.write_text("older and longer than the new content")
    write_whole(path, content)
    assert path.read_bytes() == (content if isinstance(content, bytes) else content.encode())
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.skipif(os.name != "posix", reason="rights are POSIX's")
def test_the_file_has_the_rights_of_a_new_one(tmp_path):
    """Readable by whom the umask lets, unlike a temporary file."""
    before = os.umask(0o027)
    try:
        write_whole(tmp_path / "file", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    """When the new content cannot be moved into place, the old is untouched and no part stays."""
    path = tmp_path / "file"
    path.write_text("old")

    def refuse(*_):
        raise PermissionError("no")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(PermissionError):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["file"]
