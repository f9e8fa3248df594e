"""Diagnostic codes and the table of their titles."""

from __future__ import annotations

import re

from phobos_nb.codes import CODES
from tests.house.rooms import modules


def test_every_code_has_a_title_and_a_use() -> None:
    """The codes in the table are those that the modules report."""
    texts = {name: path.read_text("utf-8") for name, path in modules() if name != "phobos_nb.codes"}
    used = {code for text in texts.values() for code in re.findall(r'"(PH\d{3})"', text)}
    assert used == set(CODES)
    assert all(CODES.values())
