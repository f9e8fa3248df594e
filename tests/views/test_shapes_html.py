"""A search of several shapes in a notebook: html with the set and each shape's loss."""

from html.parser import HTMLParser

import numpy as np

import phobos_nb as ph
from phobos_nb.views.display import show_shapes

TEXT = """
@autotune(TILE in [16, 64])
@aligned(N = TILE)
kernel scale(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = X[i * TILE :+ TILE] + X[i * TILE :+ TILE]
}
"""


class Cells(HTMLParser):
    """The texts of table cells, and how many elements are open at the end."""

    def __init__(self) -> None:
        super().__init__()
        self.cells: list[str] = []
        self.open: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)
        if tag in ("td", "th"):
            self.cells.append("")

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th"):
            self.cells[-1] += data


def test_the_page_names_members_losses_and_failures(tmp_path, monkeypatch):
    """Well-formed html; one row per shape, a star on what calls take; failures folded below."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    (scale,) = ph.compile(TEXT)
    x = [np.ones(n, np.float32) for n in (96, 4096)]
    found = scale.tune(shapes=[(a, a.copy()) for a in x], rounds=5, samples=2, isolate=False)
    shown = show_shapes(found)
    assert shown["text/plain"] == repr(found)
    page = Cells()
    page.feed(shown["text/html"])
    assert page.open == []
    members = len(found.configurations)
    assert page.cells[:3] == ["shape", "weight", "best"]
    assert page.cells[3 + members] == "N=96"
    assert sum(cell.startswith("* ") for cell in page.cells) == 2
    assert "N=96: 1 failed" in shown["text/html"]
    assert "TILE=64: constraint: " in shown["text/html"]
