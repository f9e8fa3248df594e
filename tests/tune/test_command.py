"""`phobos-nb tune` on the CPU."""

import csv
import json
from pathlib import Path

import pytest

from phobos_nb.cli import main
from phobos_nb.compilation.dispatch_table import DispatchTable
from phobos_nb.tune.records import read

SAXPY = str(Path(__file__).parents[2] / "examples" / "saxpy_fp32.ph")


@pytest.fixture(autouse=True)
def own_records(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path / "cache"))


def test_a_search_prints_its_winner_and_writes_its_files(tmp_path, capsys):
    """CSV with one row per configuration, the record, T4 and a figure; the next run measures nothing."""
    files = {name: tmp_path / f"out.{name}" for name in ("csv", "record", "t4", "png")}
    options = ["--cpu", "--rounds", "9", "--try", "TILE=256,512"]
    written = [
        *("--csv", str(files["csv"]), "--record", str(files["record"])),
        *("--t4", str(files["t4"]), "--plot", str(files["png"])),
    ]
    assert main(["tune", SAXPY, "N=2048", *options, *written]) == 0
    shown = capsys.readouterr().out
    assert "best TILE=" in shown
    assert "1/2  TILE=" in shown
    with files["csv"].open() as file:
        assert {row["TILE"] for row in csv.DictReader(file)} == {"256", "512"}
    assert len(read(files["record"]).outcomes) == 2
    assert len(json.loads(files["t4"].read_text())["results"]) == 2
    assert files["png"].read_bytes().startswith(b"\x89PNG")
    assert main(["tune", SAXPY, "N=2048", *options]) == 0
    assert "1/2" not in capsys.readouterr().out


def test_a_name_that_the_kernel_lacks_is_exit_code_1(capsys):
    """The diagnostic is on standard error."""
    assert main(["tune", SAXPY, "N=64", "--cpu", "--try", "TILE_Q=1,2"]) == 1
    assert "TILE_Q" in capsys.readouterr().err


def test_malformed_choices_are_exit_code_2(capsys):
    """NAME=V1,V2 is what is wanted."""
    with pytest.raises(SystemExit) as caught:
        main(["tune", SAXPY, "N=64", "--try", "TILE"])
    assert caught.value.code == 2
    assert "NAME=V1,V2" in capsys.readouterr().err


def test_several_shapes_share_a_table(tmp_path, capsys):
    """--shape more than once: the set, CSV with extents, a table that reads back, a figure."""
    table, rows, figure = (tmp_path / name for name in ("table.json", "rows.csv", "figure.svg"))
    written = ["--table", str(table), "--csv", str(rows), "--plot", str(figure)]
    shapes = ["--shape", "N=1000", "--shape", "N=4096", "--max-configs", "2"]
    assert main(["tune", SAXPY, "a=0.5", "--cpu", "--rounds", "3", *shapes, *written]) == 0
    assert "saxpy, 2 shapes on cpu" in capsys.readouterr().out
    found = DispatchTable.from_json(table.read_text())
    assert 1 <= len(found.members) <= 2
    assert [p.extents for p in found.points] == [{"N": 1000}, {"N": 4096}]
    with rows.open() as file:
        assert [row["N"] for row in csv.DictReader(file)] == ["1000"] * 4 + ["4096"] * 4
    assert "<svg" in figure.read_text()
