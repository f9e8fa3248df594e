"""The cell's own output: text and static html."""

from __future__ import annotations

import dataclasses
import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

import phobos_nb
from phobos_nb.cuda.sass import find_nvdisasm
from phobos_nb.views.compilation import summary
from phobos_nb.views.from_compilation import BEGINNING, view_of
from phobos_nb.views.html import page, shares
from phobos_nb.views.listing import Line, Listing, source_listing
from tests.views.models import SOURCE, VIEW


class Tags(HTMLParser):
    """Checks that elements nest, and collects tags, attributes and text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in ("rect", "line"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in ("rect", "line"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self.open[-1] != "style":
            self.texts.append(data)


def test_the_text_form_says_everything_in_words() -> None:
    """Signature, facts, notes with their lines, shared memory and barriers."""
    lines = summary(VIEW).splitlines()
    assert lines[:4] == [
        "scale(A: tensor<f32>[N], s: f32)",
        "  target sm_75 (32-bit index), registers 24 (of 255)",
        "  warning (line 2): unknown attribute @lunch: did you mean @launch?",
        "  note: a & b",
    ]
    assert lines[-3:] == [
        "Barriers: 1 kept, 1 elided",
        "  barrier 1 (line 14), kept: a is written at line 12 and read at line 14",
        "  barrier (line 12), elided: the next store goes to the other stage",
    ]


def test_the_page_is_well_formed_and_needs_no_script() -> None:
    """Elements nest; no script, no event handler, no id, nothing fetched."""
    page_tags = Tags(page(VIEW))
    assert page_tags.open == []
    names = {tag for tag, _ in page_tags.tags}
    attributes = {name for _, attrs in page_tags.tags for name in attrs}
    assert names.isdisjoint({"script", "link", "img", "iframe", "form", "input"})
    assert attributes.isdisjoint({"id", "src", "href", "name"})
    assert not any(a.startswith("on") for a in attributes)
    assert "url(" not in page(VIEW)


def test_the_page_holds_the_source_and_escapes_it() -> None:
    """Every character of the source is there as text, `<` and `&` among them."""
    text = "".join(Tags(page(VIEW)).texts)
    assert VIEW.listings[0].text in text
    assert "a & b" in text


def test_lines_of_one_origin_are_linked_by_class() -> None:
    """The source line 4 and the MLIR line that came from it share a class that a rule marks."""
    html = page(VIEW)
    linked = [a["class"] for tag, a in Tags(html).tags if tag == "span" and a.get("data-n") == "4"]
    assert linked == ["l o4", "l o4"]
    assert ".ph:has(.o4:hover) .o4" in html


def test_long_listings_are_cut_and_say_where_the_whole_is() -> None:
    """A saved cell stays below 150 KB: what does not fit is counted, short listings stay whole."""
    long = tuple(Line(f'x{i} = "{i}";', 3) for i in range(5000))
    listings = [Listing(f"CUDA {n}", "cuda", long, f"scale.compile().cuda{n}") for n in range(3)]
    html = page(dataclasses.replace(VIEW, listings=(VIEW.listings[0], *listings)))
    assert 100_000 < len(json.dumps(html)) < 140_000
    shown = html.count("<span class='l ") - len(VIEW.listings[0].lines)
    left = [int(count.replace(",", "")) for count in re.findall(r"([\d,]+) more lines", html)]
    assert shown + sum(left) == 15_000
    assert len(left) == 3
    assert "scale.compile().cuda2" in html


def test_room_is_shared_fairly() -> None:
    """The small get all they want; the large get equal parts of what is left."""
    assert shares([10, 1000, 500, 2000], 1000) == [10, 330, 330, 330]
    assert shares([10, 20], 1000) == [10, 20]
    assert shares([], 1000) == []


def test_a_source_line_shows_what_it_became() -> None:
    """The line with the most instructions has the full bar; the tip names families and counts."""
    mixes = {4: (("FFMA", 12), ("LDS", 4)), 5: (("STG", 4),)}
    html = page(dataclasses.replace(VIEW, listings=(source_listing(SOURCE, 2, mixes),)))
    assert "title='12 FFMA, 4 LDS'><span style='width:100%'>" in html
    assert "title='4 STG'><span style='width:25%'>" in html


def test_what_lines_call_stands_apart() -> None:
    """Its bar is muted, on the scale of the source's lines, and tells what it is; Tab passes it by."""
    behind = Line("// slow path, called by line 4", mix=(("IMAD", 50),), tip="the compiler's")
    shown = source_listing(SOURCE, 2, {4: (("FFMA", 10),)}, {}, [behind])
    html = page(dataclasses.replace(VIEW, listings=(shown,)))
    assert "<span class='m' title='10 FFMA'><span style='width:100%'>" in html
    row = html.rindex("<span class='l", 0, html.index("// slow path"))
    assert html[row:].startswith(
        "<span class='l'><span class='m a' title='the compiler&#x27;s: 50 IMAD'>"
        "<span style='width:100%'></span></span><i>// slow path"
    )


@pytest.mark.skipif(find_nvdisasm() is None, reason="no nvdisasm (extra [sass])")
def test_the_closing_brace_is_not_the_hottest_line() -> None:
    """The slow path of a division is behind the source, with the lines that call it."""
    text = """kernel k(A: tensor<f32>[N], B: tensor<f32>[N]) {
  let i = ctx.block.x * 256 + ctx.thread
  let q = A[i] / B[i]
  A[i] = q / (q + 1.0)
}"""
    view = view_of(phobos_nb.compile(text).k.compile(chip="sm_80"))
    shown = view.listings[0].lines
    assert (shown[0].tip, shown[2].tip) == (BEGINNING, "")
    assert shown[4].instructions < 5 < min(shown[2].instructions, shown[3].instructions)
    (behind,) = shown[5:]
    assert (behind.origin, behind.instructions > 50) == (None, True)
    assert behind.text == "// slow path of f32 division, called by lines 3 and 4"
    assert behind.tip.startswith("__cuda_sm3x_div_rn_noftz_f32_slowpath, ")
    (sass,) = (p for p in view.listings if p.title == "SASS")
    assert all(x.origin is None for x in sass.lines[[x.text[:1] for x in sass.lines].index("$") :])


@pytest.mark.skipif(find_nvdisasm() is None, reason="no nvdisasm (extra [sass])")
def test_what_a_kernel_begins_with_is_not_the_scale() -> None:
    """A tiled product's order of CTAs is most of its code: its bar is muted, another is full."""
    text = Path(__file__).parents[2].joinpath("examples", "gemm_fp32.ph").read_text("utf-8")
    (kernel,) = phobos_nb.compile(text, chip="sm_75")
    shown = view_of(kernel.compile()).listings[0]
    first = next(line for line in shown.lines if line.text.startswith("kernel "))
    assert first.tip == BEGINNING
    assert first.instructions > max(x.instructions for x in shown.lines if x is not first)
    html = page(dataclasses.replace(VIEW, listings=(shown,)))
    assert f"<span class='m a' title='{BEGINNING}: " in html
    assert re.search(r"<span class='m' title='[^']*'><span style='width:100%'>", html)


@pytest.mark.skipif(find_nvdisasm() is None, reason="no nvdisasm (extra [sass])")
def test_a_kernel_of_one_line_is_its_own_work() -> None:
    """Where a statement stands on the line of `kernel`, its instructions are counted as any line's."""
    text = "kernel k(A: tensor<f32>[N]) { A[ctx.block.x] = 1.0 }"
    (line,) = view_of(phobos_nb.compile(text).k.compile(chip="sm_80")).listings[0].lines
    assert line.tip == ""
    assert "<span class='m' title=" in page(view_of(phobos_nb.compile(text).k.compile(chip="sm_80")))


def test_a_missing_stage_says_how_to_get_it() -> None:
    """A pane without text holds its reason."""
    assert "PTX needs NVRTC" in "".join(Tags(page(VIEW)).texts)


def test_the_page_is_the_same_every_time() -> None:
    """Saved outputs do not change when a notebook is run again, and hold no address."""
    assert page(VIEW) == page(dataclasses.replace(VIEW))
    assert "0x" not in page(VIEW)


def test_the_cuda_pane_starts_at_the_kernel() -> None:
    """The helpers follow behind a line that counts them; nothing of the text is lost."""
    text = "kernel k(A: tensor<f32>[N], s: f32) {\n  A[0 :+ 1024] = A[0 :+ 1024] * s\n}"
    compilation = phobos_nb.compile(text).k.compile(chip="sm_80")
    pane = next(p for p in view_of(compilation).listings if p.title == "CUDA")
    shown = [line.text for line in pane.lines]
    assert shown[0].startswith('extern "C" __global__')
    split = next(n for n, text in enumerate(shown) if "of helpers" in text)
    helpers = shown[split + 1 :]
    assert shown[split].startswith(f"// {len(helpers)} lines of helpers")
    assert [*helpers, *shown[: split - 1]] == [x.text for x in compilation.cuda_source.lines]


WITHOUT_NVRTC = """
import sys
sys.modules["cuda.bindings.nvrtc"] = None  # as if it were not installed
import pytest

import phobos_nb
from phobos_nb.cuda.sass import find_nvdisasm
from phobos_nb.views.compilation import summary
from phobos_nb.views.from_compilation import BEGINNING, view_of
kernel = phobos_nb.compile("kernel k(A: tensor<f32>[N]) {\\n  A[0] = 1.0\\n}").k
print(summary(view_of(kernel.compile())))
"""


def test_without_nvrtc_the_text_says_what_to_install() -> None:
    """One line of the summary, with the command; the other stages are shown as ever."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_NVRTC], capture_output=True, text=True, check=True
    )
    (line,) = [x for x in done.stdout.splitlines() if "NVRTC" in x]
    assert line.startswith("  note: without NVRTC there is no PTX and no machine code: ")
    assert line.endswith(": pip install 'phobos_nb[nvrtc]'")


def test_every_launch_of_a_split_kernel_is_shown() -> None:
    """Panes hold both launches under their names, facts and barriers say which one they are of."""
    kernel = phobos_nb.compile(SPLIT_TEXT, name="cell")["total"]
    view = view_of(kernel.compile(chip="sm_90a", SPLIT_K=2))
    panes = {pane.title: pane.text for pane in view.listings if not pane.missing}
    for title in ("Thread MLIR", "CUDA"):
        assert "// launch 1 of 2: total" in panes[title]
        assert "// launch 2 of 2: total_finish" in panes[title]
    assert "launch" not in panes["Tile MLIR"]
    assert any(b.reason.startswith("total_finish: ") for b in view.barriers)
    if "PTX" in panes:
        assert panes["PTX"].count(".entry") == 2
        assert {"registers", "registers of total_finish"} <= {fact.name for fact in view.facts}


SPLIT_TEXT = """
@launch(64)
kernel total(A: tensor<f32>[M, K], B: tensor<f32>[K, N], C: tensor<f32>[M, N]) {
  var acc: tile<f32>[16, 16] = 0.0
  for k in range(0, K, 16) {
    acc += dot(A[ctx.block.x * 16 :+ 16, k :+ 16], B[k :+ 16, ctx.block.y * 16 :+ 16])
  }
  C[ctx.block.x * 16 :+ 16, ctx.block.y * 16 :+ 16] += acc
}
"""
