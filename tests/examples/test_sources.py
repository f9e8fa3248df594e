"""The bundled kernels are documented, and every one is a case."""

from __future__ import annotations

import re

import pytest

from tests.examples.case import EXAMPLES
from tests.examples_cases import CASES

SOURCES = sorted(EXAMPLES.glob("*.ph"))
HEADINGS = ["Shapes", "Launch", "Numerics", "Work", "Errors"]


def test_every_example_is_a_case_with_a_driver() -> None:
    """The folder, the table of cases and the drivers name the same kernels."""
    names = [p.stem for p in SOURCES]
    drivers = [p.stem for p in sorted(EXAMPLES.glob("*.py")) if p.stem != "driver"]
    assert names == drivers == sorted({case.path.stem for case in CASES.values()})


@pytest.mark.parametrize("path", SOURCES, ids=lambda p: p.stem)
def test_every_kernel_says_what_it_does(path) -> None:
    """A comment block of the six lines stands above the kernel; each name in it is in the code."""
    text = path.read_text("utf-8")
    header, code = text.split("\n\n", 1)
    lines = header.splitlines()
    assert all(line.startswith("// ") for line in lines)
    (kernel,) = {case.kernel for case in CASES.values() if case.path == path}
    assert lines[0].startswith(f"// {kernel}: ")
    assert re.findall(r"^// (\w+): ", "\n".join(lines[1:]), re.M) == HEADINGS
    shapes = next(line for line in lines if line.startswith("// Shapes:"))
    for name, dims in re.findall(r"(\w+) \[([\w, ]+)\]", shapes):
        assert re.search(rf"\b{name}: tensor<\w+>\[{re.escape(dims)}\]", code), name


@pytest.mark.parametrize("case", CASES.values(), ids=list(CASES))
def test_every_case_is_wide_enough(case) -> None:
    """Three configurations (one for kernels without tuning names) of six shapes or more.

    One of them has an extent of one, one is empty, some are ragged.
    """
    assert len(case.configurations) >= (3 if case.load().typed({}).space else 1)
    for constants in case.configurations:
        shapes = case.shapes(constants)
        assert len(shapes) >= 6
        assert any(0 in s.values() for s in shapes)
        ragged = [*shapes, *case.refused(constants)]
        assert any(1 in s.values() for s in ragged)
        assert any(v % 2 for s in ragged for v in s.values() if v > 1)
