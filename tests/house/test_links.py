"""What the texts for readers point at is there: links, pictures, files and modules named in them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXTS = [ROOT / "README.md", ROOT / "results" / "README.md", ROOT / "tests" / "gpu" / "README.md"]
TEXTS += sorted((ROOT / "docs").rglob("*.md"))
LINK = re.compile(r'\]\(([^)#]+)|(?:src|srcset)="([^"]+)"')
NAMED = re.compile(r"`((?:results|tests|tools|docs|examples)/[\w/]+\.\w+)`")
MODULE = re.compile(r"python -m ((?:tests|tools|phobos_nb)\.[\w.]+)")


@pytest.mark.parametrize("text", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_is_named_is_there(text):
    """Every local link and picture, every file in backticks, every module after `python -m`."""
    content = text.read_text("utf-8")
    links = [text.parent / (a or b) for a, b in LINK.findall(content) if "://" not in (a or b)]
    named = [ROOT / name for name in NAMED.findall(content)]
    modules = [ROOT / f"{name.replace('.', '/')}.py" for name in MODULE.findall(content)]
    assert [str(path) for path in links + named + modules if not path.exists()] == []


def test_every_picture_is_shown():
    """docs/images keeps nothing that no text shows."""
    shown = "".join(text.read_text("utf-8") for text in TEXTS)
    pictures = [path.name for path in (ROOT / "docs" / "images").iterdir()]
    assert [name for name in pictures if name not in shown] == []


def test_every_result_has_a_row():
    """The first cells of results/README.md name what lies beside it, and nothing else."""
    content = (ROOT / "results" / "README.md").read_text("utf-8")
    cells = re.findall(r"^\| (`[^|]+`) \|", content, re.MULTILINE)
    listed = {path.name for cell in cells for path in beside(re.findall(r"`([^`]+)`", cell))}
    assert listed == {path.name for path in (ROOT / "results").iterdir()} - {"README.md"}


def beside(names):
    """The files of one row: a name that begins with a dot is the first one with another end."""
    stem = names[0].split(".")[0]
    for name in names:
        found = list((ROOT / "results").glob(stem + name if name.startswith(".") else name.rstrip("/")))
        assert found, name
        yield from found
