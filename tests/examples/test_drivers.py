"""The examples' drivers, run as a reader runs them."""

from __future__ import annotations

import runpy
import sys

import pytest

from tests.examples.case import EXAMPLES
from tests.examples_cases import CASES

DRIVERS = sorted({case.path.stem for case in CASES.values()})


@pytest.mark.parametrize("name", DRIVERS)
def test_a_driver_reports_a_right_result(name: str, monkeypatch, capsys) -> None:
    """On NumPy arrays each driver prints its verdict with error and bound, and exits with 0."""
    path = EXAMPLES / f"{name}.py"
    monkeypatch.syspath_prepend(str(EXAMPLES))
    monkeypatch.setattr(sys, "argv", [str(path)])
    with pytest.raises(SystemExit) as end:
        runpy.run_path(str(path), run_name="__main__")
    assert end.value.code == 0
    assert capsys.readouterr().out.startswith(f"{name}: right, error ")
