"""`phobos-nb tune` on the CPU."""

import csv
import json
import sys
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


def test_a_name_that_the_kernel_lacks_is_exit_code_2(capsys):
    """An option that cannot be used, as the help says; the diagnostic is on standard error."""
    assert main(["tune", SAXPY, "N=64", "--cpu", "--try", "TILE_Q=1,2"]) == 2
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


def test_shapes_have_weights(capsys):
    """One configuration for both, where it is asked for; weights are taken."""
    shapes = ["--shape", "N=1000", "--shape", "N=5000", "--weights", "1", "3", "--max-configs", "1"]
    options = ["--cpu", "--rounds", "9", "--try", "TILE=256,512"]
    assert main(["tune", SAXPY, *shapes, *options]) == 0
    shown = capsys.readouterr().out
    assert "saxpy, 2 shapes on cpu" in shown
    assert "1 configuration, mean regret" in shown


def test_a_record_is_searched_again_without_a_gpu(tmp_path, capsys):
    """Its summary says that it is recorded; a budget of trials holds."""
    record = tmp_path / "saxpy.json"
    options = ["--cpu", "--rounds", "9", "--record", str(record)]
    assert main(["tune", SAXPY, "N=2048", *options]) == 0
    capsys.readouterr()
    assert main(["tune", str(record), "--strategy", "random", "--trials", "2"]) == 0
    shown = capsys.readouterr().out
    assert "(recorded: cpu" in shown
    assert "2 configurations" in shown
    assert "stopped: budget" in shown
    record.write_text(record.read_text()[:100])
    assert main(["tune", str(record)]) == 2
    assert "saxpy.json" in capsys.readouterr().err


def test_settings_reach_the_search(tmp_path, capsys):
    """Samples, finalists, the timeout: where nothing gave an answer in time, the exit code is 1."""
    record = tmp_path / "saxpy.json"
    options = ["--cpu", "--rounds", "9", "--samples", "3", "--finalists", "2", "--record", str(record)]
    assert main(["tune", SAXPY, "N=2048", *options]) == 0
    outcomes = read(record).outcomes.values()
    assert {len(o.times) for o in outcomes} == {3}
    assert sum(bool(o.rounds) for o in outcomes) == 2
    capsys.readouterr()
    assert main(["tune", SAXPY, "N=2048", "--cpu", "--timeout", "1e-6", "--fresh"]) == 1
    assert "timeout" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--devices", "cluster"], "--dask"),
        (["--shape", "N=1", "--t4", "x"], "one shape"),
        (["--weights", "1"], "--shape"),
        (["--shape", "N=1"], "N: given beside --shape"),
        (["--csv", "no/such/folder.csv"], "there is no folder no/such"),
        (["--plot", "figure.xyz"], ".png, "),
        (["--trials", "0"], "trials: wanted at least 1"),
        (["--seconds", "nan"], "more than 0"),
    ],
)
def test_options_that_contradict_each_other_are_exit_code_2(capsys, options, said):
    """Said before anything runs."""
    assert main(["tune", SAXPY, "N=64", "--cpu", *options]) == 2
    assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("extents", "said"),
    [
        (["N=-5"], "N: wanted a size of at least 0, got -5"),
        (["N=64", "M=3"], "has no parameter or extent M"),
        ([], "extent N is not given"),
    ],
)
def test_extents_that_cannot_be_are_exit_code_2(capsys, extents, said):
    """A name that is no extent is said, not passed over: it may be a typing error."""
    assert main(["tune", SAXPY, *extents, "--cpu"]) == 2
    assert said in capsys.readouterr().err


def test_devices_are_all_or_ordinals(capsys):
    """Anything else is argparse's error; on the CPU there are none."""
    with pytest.raises(SystemExit):
        main(["tune", SAXPY, "N=64", "--devices", "both"])
    assert "0,1" in capsys.readouterr().err
    assert main(["tune", SAXPY, "N=64", "--cpu", "--devices", "0,1"]) == 2
    assert "arrays on a GPU" in capsys.readouterr().err


def test_without_a_gpu_it_says_what_can_be_done(capsys):
    """Exit code 3; no trace."""
    from phobos_nb.cuda.driver import first_capability

    if first_capability() is not None:
        pytest.skip("there is a GPU here")
    assert main(["tune", SAXPY, "N=64"]) == 3
    said = capsys.readouterr().err
    assert "--cpu" in said
    assert ".json" in said


@pytest.mark.slow
def test_a_dask_cluster_compiles_and_measures(capsys):
    """--dask and --devices cluster, on two workers that are a device each."""
    distributed = pytest.importorskip("distributed")
    if not hasattr(sys.modules["__main__"], "__spec__"):
        sys.modules["__main__"].__spec__ = None
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
        dask = ["--dask", cluster.scheduler_address, "--devices", "cluster"]
        assert main(["tune", SAXPY, "N=2048", "--cpu", "--rounds", "10", *dask]) == 0
    assert "4 configurations: 4 measured" in capsys.readouterr().out
