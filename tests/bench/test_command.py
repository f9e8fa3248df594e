"""`phobos-nb bench` from end to end, on NumPy's meaning where there is no GPU."""

import csv
import json
from pathlib import Path

import pytest

from phobos_nb.bench.measure import resize
from phobos_nb.bench.offline import why_not
from phobos_nb.bench.table import WORKLOADS
from phobos_nb.cli import main
from phobos_nb.diagnostics import Diagnostic, PhobosError

EXAMPLES = str(Path(__file__).parents[2] / "examples")
SMALL = ["--examples", EXAMPLES, "--cpu", "--rounds", "9", "--inner", "1", "--sizes", "64"]


@pytest.fixture(autouse=True)
def own_records(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path / "cache"))


def scaled(path: Path, factor: float) -> None:
    """Make every time of a baseline so much longer."""
    data = json.loads(path.read_text())
    for row in data["rows"]:
        row["times"] = [factor * t for t in row["times"]]
    path.write_text(json.dumps(data))


def test_original_names_and_files(tmp_path, capsys):
    """flash_fp32 is flash_attention_fp32; CSV and JSON hold the rows of both benchmarks."""
    files = ["--csv", str(tmp_path / "a.csv"), "--json", str(tmp_path / "a.json")]
    assert main(["bench", "--bench", "flash_fp32", "saxpy_fp32", *SMALL, *files]) == 0
    shown = capsys.readouterr().out
    assert "flash_attention_fp32 16x64x64" in shown
    with (tmp_path / "a.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [row["workload"] for row in rows] == ["flash_attention_fp32", "saxpy_fp32"]
    assert all(row["passed"] == "True" for row in rows)
    times = [row["times"] for row in json.loads((tmp_path / "a.json").read_text())["rows"]]
    assert all(len(t) >= 9 for t in times)


def test_pins_set_only_the_kernels_that_have_them(capsys):
    """TILE_M is the GEMM's and TILE saxpy's; each row says its constants and that they are pinned."""
    pins = ["--autotune", "TILE_M=64 TILE_N=32 TILE_K=8 TILE=512"]
    assert main(["bench", "--bench", "gemm_fp32", "saxpy_fp32", *SMALL, *pins]) == 0
    shown = capsys.readouterr().out
    assert "TILE_M=64 TILE_N=32 TILE_K=8 (pinned)" in shown
    assert "TILE=512 (pinned)" in shown


def test_autotune_without_values_searches(capsys):
    """The winner is timed and remembered: the next run takes it from the record."""
    softmax = ["bench", "--bench", "saxpy_fp32", *SMALL]
    assert main([*softmax, "--autotune"]) == 0
    assert "(searched)" in capsys.readouterr().out
    assert main(softmax) == 0
    assert "(recorded)" in capsys.readouterr().out


def test_a_pin_of_no_kernel_is_exit_code_2(capsys):
    """The message says which names there are."""
    assert main(["bench", "--bench", "saxpy_fp32", *SMALL, "--autotune", "TILE_M=64"]) == 2
    said = capsys.readouterr().err
    assert "no chosen benchmark has TILE_M" in said
    assert "TILE" in said


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--bench", "sgemm"], "no benchmark 'sgemm'"),
        (["--autotune", "TILE_M"], "NAME=VALUE"),
        (["--autotune", "TILE_M=big"], "NAME=VALUE"),
        (["--rounds", "0"], "at least 1"),
    ],
)
def test_malformed_options_are_exit_code_2(capsys, options, said):
    """The code of argparse, with what was wanted."""
    with pytest.raises(SystemExit) as caught:
        main(["bench", *options])
    assert caught.value.code == 2
    assert said in capsys.readouterr().err


def test_a_slower_kernel_is_exit_code_1_and_a_faster_one_0(tmp_path, capsys):
    """Against a baseline whose times were a hundredth, and one whose times were a hundredfold."""
    baseline = tmp_path / "base.json"
    saxpy = ["bench", "--bench", "softmax", *SMALL]
    assert main([*saxpy, "--json", str(baseline)]) == 0
    scaled(baseline, 0.01)
    assert main([*saxpy, "--against", str(baseline)]) == 1
    assert "slower" in capsys.readouterr().out
    scaled(baseline, 1e4)
    assert main([*saxpy, "--against", str(baseline)]) == 0
    assert "faster" in capsys.readouterr().out


def test_another_machine_is_refused_unless_across(tmp_path, capsys):
    """Before anything is timed, with what differs."""
    baseline = tmp_path / "base.json"
    saxpy = ["bench", "--bench", "saxpy_fp32", *SMALL]
    assert main([*saxpy, "--json", str(baseline)]) == 0
    data = json.loads(baseline.read_text())
    data["conditions"]["device"] = "NVIDIA H200"
    baseline.write_text(json.dumps(data))
    capsys.readouterr()
    assert main([*saxpy, "--against", str(baseline)]) == 2
    refused = capsys.readouterr()
    assert "NVIDIA H200 then" in refused.err
    assert "--across" in refused.err
    assert refused.out == ""
    assert main([*saxpy, "--against", str(baseline), "--across", "--margin", "1e9"]) == 0
    compared = capsys.readouterr()
    assert "NVIDIA H200 then" in compared.err
    assert "x the time" in compared.out


def test_a_baseline_without_these_kernels_is_exit_code_2(tmp_path, capsys):
    """Nothing compared is no success."""
    baseline = tmp_path / "base.json"
    assert main(["bench", "--bench", "saxpy_fp32", *SMALL, "--json", str(baseline)]) == 0
    assert main(["bench", "--bench", "softmax", *SMALL, "--against", str(baseline)]) == 2
    shown = capsys.readouterr()
    assert "has none of these" in shown.err
    assert "not in the baseline" in shown.out
    assert "not run now" in shown.out


def test_a_baseline_that_is_not_there_is_exit_code_2(tmp_path, capsys):
    """Nor one that is damaged."""
    saxpy = ["bench", "--bench", "saxpy_fp32", *SMALL, "--against"]
    assert main([*saxpy, str(tmp_path / "none.json")]) == 2
    (tmp_path / "cut.json").write_text("{")
    assert main([*saxpy, str(tmp_path / "cut.json")]) == 2
    assert "cut short" in capsys.readouterr().err


@pytest.mark.nvrtc
def test_without_a_gpu_it_says_so_and_compiles(capsys):
    """Exit code 3; resources of the kernel for the default target."""
    from phobos_nb.cuda.driver import first_capability

    if first_capability() is not None:
        pytest.skip("there is a GPU here")
    assert main(["bench", "--bench", "saxpy_fp32", "--examples", EXAMPLES]) == 3
    shown = capsys.readouterr()
    assert "no GPU to time on" in shown.err
    assert "registers" in shown.out
    assert "saxpy_fp32" in shown.out
    assert "TILE=256" in shown.out


def test_what_is_missing_is_said_before_its_remedy():
    """Of an error of ours the message, then the help; of another library's the last line."""
    ours = PhobosError([Diagnostic("PH604", "CuPy is missing", stage="driver", help="install it")])
    assert why_not(ours).startswith("no GPU to time on: CuPy is missing\n  help: install it\nTimes")
    theirs = RuntimeError("while starting:\nno device\n")
    assert why_not(theirs).startswith("no GPU to time on: no device\nTimes")


def test_sizes():
    """One number stands for the largest extents, "x" gives all."""
    assert resize(WORKLOADS["gemm_fp32"], "512") == {"M": 512, "N": 512, "K": 512}
    assert resize(WORKLOADS["gemm_fp32"], "1x2x3") == {"M": 1, "N": 2, "K": 3}
    assert resize(WORKLOADS["flash_attention_fp32"], 64) == {"H": 16, "NQ": 64, "NK": 64}
    assert resize(WORKLOADS["saxpy_fp32"], {"N": 5}) == {"N": 5}
    for wrong in ("1x2", "big", "0"):
        with pytest.raises(PhobosError, match="no size"):
            resize(WORKLOADS["gemm_fp32"], wrong)


def test_a_kernel_that_cannot_run_does_not_stop_the_others(capsys):
    """50 is no multiple of gemm_fp16tc_fp32acc's tile: said, exit code 1, and softmax is timed."""
    names = ["gemm_fp16tc_fp32acc", "softmax"]
    sizes = [s if s != "64" else "50" for s in SMALL]
    assert main(["bench", "--bench", *names, *sizes, "--autotune", "TILE_M=64"]) == 1
    shown = capsys.readouterr()
    assert "PH705" in shown.err
    assert "softmax              50x50" in shown.out


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--sizes", "64", "64x64"], "'64x64' is no size"),
        (["--json", "no/such/folder.json"], "there is no folder no/such"),
        (["--csv", "/"], "cannot be written"),
        (["--examples", "nowhere"], "--examples nowhere: no folder"),
    ],
)
def test_what_cannot_be_is_said_before_anything_is_timed(capsys, options, said):
    """Exit code 2, nothing on standard output: hours of a long run are not lost to a typing error."""
    assert main(["bench", "--bench", "gemm_fp32", *SMALL, *options]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert not shown.out


@pytest.mark.parametrize("options", [["--margin", "-3"], ["--peak-fp32", "0"], ["--peak-fp16tc", "nan"]])
def test_numbers_that_make_no_sense_are_exit_code_2(options):
    """A margin below 0 would call every kernel slower; a peak is above 0."""
    with pytest.raises(SystemExit) as stopped:
        main(["bench", "--bench", "saxpy_fp32", *SMALL, *options])
    assert stopped.value.code == 2


def test_the_bundled_kernels_are_found_from_anywhere(tmp_path, monkeypatch, capsys):
    """In a checkout without --examples, whatever the current folder."""
    monkeypatch.chdir(tmp_path)
    assert main(["bench", "--bench", "saxpy_fp32", *SMALL[2:]]) == 0
    assert "saxpy_fp32" in capsys.readouterr().out
