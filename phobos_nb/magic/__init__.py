"""The notebook's side: the cell magic `%%phobos` and how it reports mistakes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell


def load_ipython_extension(shell: InteractiveShell) -> None:
    """`%load_ext phobos_nb`: the magic, and how compilations are shown."""
    from phobos_nb.magic.command import load

    load(shell)
