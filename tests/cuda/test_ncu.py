"""Reading Nsight Compute's pages, as ncu printed them for two kernels on an H200 (data/).

The raw page is cut to the columns that are read and what tells launches apart; the source page is whole.
"""

from pathlib import Path

import pytest

from phobos_nb.cuda import ncu
from phobos_nb.cuda.profile import by_line, opcode
from phobos_nb.cuda.sass import Instruction

DATA = Path(__file__).parent / "data"


@pytest.fixture(scope="module")
def kernels():
    raw, source = ((DATA / f"ncu_{n}.csv").read_text("utf-8") for n in ("raw", "source"))
    return {k.name: k for k in ncu.read_pages(raw, source)}


def total(kernel, name, opcode=""):
    return sum(row.counts.get(name, 0) for row in kernel.sass if opcode in row.text)


def test_counters_of_each_launch(kernels):
    """Numbers with thousands separators are whole; a kernel without shared memory has zeros."""
    assert list(kernels) == ["reduce_shared", "stencil"]
    counts = kernels["reduce_shared"].counts
    assert counts["instructions"] == 9210
    assert (counts["shared_load_wavefronts"], counts["shared_store_wavefronts"]) == (250, 200)
    assert (counts["global_load_sectors"], counts["global_store_sectors"]) == (625, 10)
    assert kernels["stencil"].counts["shared_load_wavefronts"] == 0


def test_instructions_add_up_to_the_counters(kernels):
    """Per kernel, the page of machine instructions and the counters tell the same."""
    for kernel in kernels.values():
        counts = kernel.counts
        assert total(kernel, "instructions") == counts["instructions"]
        assert total(kernel, "shared_wavefronts", "LDS") == counts["shared_load_wavefronts"]
        assert total(kernel, "shared_wavefronts", "STS") == counts["shared_store_wavefronts"]
        assert total(kernel, "sectors", "LDG") == counts["global_load_sectors"]
        assert total(kernel, "sectors", "STG") == counts["global_store_sectors"]


def test_columns_differ_between_kernels(kernels):
    """Nsight leaves the columns of shared memory out of a kernel that has none."""
    assert "shared_wavefronts" in kernels["reduce_shared"].sass[0].counts
    assert "shared_wavefronts" not in kernels["stencil"].sass[0].counts


def test_barriers_are_found_by_their_opcode(kernels):
    """Nine barriers in each of 10 CTAs of 8 warps."""
    rows = [row for row in kernels["reduce_shared"].sass if opcode(row.text).startswith("BAR.")]
    assert sum(row.counts["instructions"] for row in rows) == 10 * 8 * 9


def test_addresses_count_from_the_kernels_start(kernels):
    """Instructions are 16 bytes apart, from 0 on in each kernel, whatever address it was loaded at."""
    for kernel in kernels.values():
        assert [row.address for row in kernel.sass] == [16 * n for n in range(len(kernel.sass))]


def test_pages_of_different_reports_are_refused(kernels):
    """Two launches on one page and one on the other cannot be paired."""
    raw, source = ((DATA / f"ncu_{n}.csv").read_text("utf-8") for n in ("raw", "source"))
    with pytest.raises(ValueError, match="2 launches on the raw page, 1 on the source page"):
        ncu.read_pages(raw, source[: source.index('"Kernel Name","stencil"')])


def test_counts_by_kind_of_instruction():
    """Loads, stores and barriers of a line; of an instruction that never runs nothing; blank sectors."""
    rows = [
        ("LDS.128 R4, [R27]", {"instructions": 96, "shared_wavefronts": 192}),
        ("@!PT LDS RZ, [RZ]", {"instructions": 96, "shared_wavefronts": 0}),
        ("@P0 LDGSTS.E.BYPASS.128 [R5], [R6]", {"instructions": 32, "sectors": 0, "requests": 160}),
        ("LDG.E R2, [R2.64]", {"instructions": 8, "sectors": 32, "requests": 8}),
        ("BAR.SYNC.DEFER_BLOCKING 0x0", {"instructions": 16}),
    ]
    sass = tuple(ncu.SassCounts(16 * n, *row) for n, row in enumerate(rows))
    code = [Instruction(16 * n, "", text, "k.ph", 7) for n, (text, _) in enumerate(rows)]
    measured = by_line(ncu.KernelCounts("k", {"shared_load_wavefronts": 200}, sass), code, "k.cu")
    line = measured.lines[7]
    assert (line["shared_loads"], line["shared_loads_cost"], line["barriers"]) == (96, 192, 16)
    assert (line["global_loads"], line["global_loads_cost"], line["blank_requests"]) == (40, 32, 160)
    assert measured.counts["shared_loads_cost"] == 192
