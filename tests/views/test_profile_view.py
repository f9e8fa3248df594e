"""The view of a profiled call: counts beside every line, differences marked and explained."""

from __future__ import annotations

import shutil
from dataclasses import replace

import numpy as np
import pytest

from phobos_nb.compilation.profile import Profile
from phobos_nb.cuda.profile import Measured
from phobos_nb.options import CompileOptions
from phobos_nb.views.display import show_profile
from phobos_nb.views.profile import view_of
from phobos_nb.views.profile_html import page
from tests.examples_cases import CASES

STORE = 28
"""The line of softmax that stores."""
READ = {"global_loads": 32, "global_loads_cost": 200}
WRITTEN = {"shared_stores": 32, "shared_stores_cost": 32}
"""What its lines also do: as simulated."""


def profile(name: str = "softmax", *, simulated: bool = True, **changed: dict[str, int]) -> Profile:
    """A call as if the GPU had counted what the simulator does, but for some lines."""
    case = CASES[name]
    constants = dict(case.configurations[0])
    kernel = case.load(CompileOptions("sm_90a")).specialize(**constants)
    shape = {"M": 8, "N": 200} if name == "softmax" else {"M": 64, "N": 64, "K": 64}
    result = kernel.simulate(**case.arrays(shape, np.random.default_rng(3)))
    lines = {
        line.line: {
            "instructions": 3 * line.instructions,
            "shared_wavefronts": line.wavefronts or 0,
            "sectors": line.sectors,
        }
        for line in result.lines
    }
    for number, counts in changed.items():
        lines.setdefault(int(number[1:]), {}).update(counts)
    counts = {"instructions": sum(x["instructions"] for x in lines.values() if "instructions" in x)}
    return Profile(
        kernel.source, (Measured(counts, lines),), result if simulated else None, None, kernel.name
    )


def test_equal_counts_are_not_marked() -> None:
    """Where the GPU counted what was simulated no cell is marked and nothing is explained."""
    view = view_of(profile())
    assert view.different == 0
    assert "class='r d'" not in page(view)
    assert "Every count of a line that is known is the simulator's too." in page(view)


def test_stores_taken_apart_are_told() -> None:
    """More sectors than simulated, and more stores on the GPU than in the thread IR: both are said."""
    view = view_of(
        profile(l28={"sectors": 1000, "global_stores": 128, "global_stores_cost": 800} | READ)
    )
    (line,) = [x for x in view.lines if x.sectors.differs]
    assert (line.number, line.sectors.gpu) == (STORE, 1000)
    (note,) = line.notes
    assert note.startswith("sectors: 128 warp stores ran, the thread IR has 32: the compiler splits")
    assert page(view).count("d'>1,000<") == 1


def test_sectors_that_ncu_leaves_out_are_told() -> None:
    """The page of instructions has requests without sectors for some 16-byte copies."""
    view = view_of(profile(l19={"sectors": 150, "requests": 64, "blank_requests": 16}))
    ((note,),) = [x.notes for x in view.lines if x.notes]
    assert note.startswith("sectors: ncu's page has none for 16 of 64 tag requests")


def test_joined_and_repeated_loads_are_told_and_the_rest_is_not_explained() -> None:
    """Fewer loads than the thread IR has, more of them, and as many at another cost."""
    few = {"shared_wavefronts": 1, "shared_loads": 1, "shared_loads_cost": 1} | WRITTEN
    same = {"shared_wavefronts": 100_000, "shared_loads": 32, "shared_loads_cost": 99_968} | WRITTEN
    notes = {x.number: x.notes for x in view_of(profile(l21=few, l23=same)).lines if x.notes}
    assert notes[21][0].startswith(
        "wavefronts: 1 warp loads ran, the thread IR has 32: the compiler joins"
    )
    assert notes[23] == ("wavefronts: not explained",)
    many = {**same, "shared_loads": 64}
    (line,) = [x for x in view_of(profile(l23=many)).lines if x.notes]
    assert "64 warp loads ran, the thread IR has 32: the compiler splits" in line.notes[0]


def test_what_no_counter_shows_is_not_known() -> None:
    """Copies of 16 bytes and copies from places apart have no number to compare, and it is said why."""
    view = view_of(profile("gemm_fp32"))
    unknown = [x for x in view.lines if x.wavefronts.simulated is None]
    assert unknown
    assert all("wavefronts of copies" in x.notes[0] for x in unknown)
    assert "not known" in page(view)
    assert view.different == 0


def test_what_copies_in_flight_cost_loads_stands_apart() -> None:
    """The launch's counter also has wavefronts that no load instruction took."""
    made = profile("gemm_fp32")
    loads = sum(a.wavefronts or 0 for a in made.simulation.accesses if a.kind == "load")
    counts = {"shared_load_wavefronts": loads + 22, "shared_loads_cost": loads}
    view = view_of(replace(made, launches=(Measured(counts, made.launches[0].lines),)))
    assert view.totals["shared load wavefronts"] == (loads, loads)
    assert view.totals["lost to copies in flight"] == (22, None)
    assert "lost to copies in flight" not in view_of(made).totals


def test_the_text_has_the_same_counts() -> None:
    """Totals, then a row for each line that costs something; a star marks a difference."""
    bundle = show_profile(profile(l28={"sectors": 1000}))
    text = bundle["text/plain"]
    assert text.startswith("softmax: 1 launch under ncu, 1 count of a line is not the simulator's")
    (row,) = [x for x in text.splitlines() if x.strip().startswith("28 ")]
    assert "1,000 / " in row
    assert "*" in row
    assert "Y[row" in row


def test_without_simulation_only_ncu_is_shown() -> None:
    """`simulated=False`: no simulator's columns, nothing marked."""
    html = page(view_of(profile(simulated=False)))
    assert "simulator" not in html.split("</style>")[1]
    assert "The call was not simulated." in html


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_in_a_browser_without_scripts(scheme: str) -> None:
    """Marked cells stand out in both colour schemes, and the text of the kernel stays in its columns."""
    from playwright.sync_api import sync_playwright

    html = page(view_of(profile(l28={"sectors": 1000})))
    assert "<script" not in html
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        tab = browser.new_page(color_scheme=scheme, java_script_enabled=False)
        tab.set_content(f"<!doctype html>{html}")
        marked = tab.locator("td.d").first.evaluate("e => getComputedStyle(e).backgroundColor")
        plain = tab.locator("td.q").first.evaluate("e => getComputedStyle(e).backgroundColor")
        assert marked != plain
        assert tab.locator("td.code").last.inner_text() == "}"
        store = tab.locator("tr", has=tab.locator("td.d"))
        assert store.locator("td.code").inner_text().strip().startswith("Y[row")
        assert store.locator("td").first.inner_text() == str(STORE)
        browser.close()
