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


def searched(tmp_path, monkeypatch):
    """Two shapes; the longer tile does not divide the first."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    (scale,) = ph.compile(TEXT)
    x = [np.ones(n, np.float32) for n in (96, 4096)]
    return scale.tune(shapes=[(a, a.copy()) for a in x], rounds=5, samples=2, isolate=False)


def test_the_widget_shows_the_search_of_the_chosen_shape(tmp_path, monkeypatch):
    """The second shape's points once it is chosen; "use" acts on the kernel; all close together."""
    found = searched(tmp_path, monkeypatch)
    widget = found.widget()
    assert widget.children[2].view["extents"] == {"N": 96}
    widget.choice.value = 1
    assert widget.children[2].view["extents"] == {"N": 4096}
    assert widget.children[2].can_use
    data = widget._repr_mimebundle_()
    assert {"text/plain", "text/html", "application/vnd.jupyter.widget-view+json"} <= set(data)
    views = [widget.view_of(0), widget.view_of(1)]
    widget.close()
    assert all(view.closed for view in views)


def test_smaller_losses_are_darker(tmp_path, monkeypatch):
    """A heat map beside the numbers: no loss has the full colour."""
    html = show_shapes(searched(tmp_path, monkeypatch))["text/html"]
    assert "var(--ph-accent) 60%,transparent)" in html


def test_the_page_names_members_losses_and_failures(tmp_path, monkeypatch):
    """Well-formed html; one row per shape, a star on what calls take; failures folded below."""
    found = searched(tmp_path, monkeypatch)
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
