"""The shell that every test of the magic runs its cells in."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell

from tests.magic.shell import Cells


@pytest.fixture
def cells() -> Iterator[Cells]:
    shell = InteractiveShell.instance()
    shell.extension_manager.load_extension("phobos_nb")
    yield Cells(shell)
    shell.reset(new_session=False, aggressive=False)
