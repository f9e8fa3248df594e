"""Files that are written whole: a reader sees the old content or the new, never a part."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def write_whole(path: Path, content: str | bytes) -> None:
    """Put content in a file's place at once; text as UTF-8 with its line ends as they are.

    The folder must be there. The file gets the rights of a new one. Raises OSError; the old file
    is then as it was and no part of the new one is left.
    """
    data = content.encode() if isinstance(content, str) else content
    handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _umask() -> int:
    """What the process takes from the rights of new files; a temporary file is its owner's alone."""
    found = os.umask(0o077)
    os.umask(found)
    return found
