"""The command line: what it prints, where it writes, how it ends."""

from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.cli import main

EXAMPLES = Path(__file__).parents[2] / "examples"
GEMM = str(EXAMPLES / "gemm_fp32.ph")


@pytest.fixture(autouse=True)
def _own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path / "cache"))


def run(*arguments, capsys):
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def test_emit_prints_thread_mlir_by_default(capsys):
    """The default stage is thread MLIR in the form upstream reads."""
    code, out, err = run("emit", GEMM, "--chip", "sm_75", capsys=capsys)
    assert (code, err) == (0, "")
    assert out.startswith('"builtin.module"()')
    assert '"gpu.func"' in out


@pytest.mark.nvrtc
def test_emit_honours_the_environment_and_constants(capsys, monkeypatch):
    """PHOBOS_CHIP and PHOBOS_INDEX_BITS choose; -D takes several values."""
    monkeypatch.setenv("PHOBOS_CHIP", "sm_86")
    monkeypatch.setenv("PHOBOS_INDEX_BITS", "32")
    code, out, _ = run("emit", GEMM, "--stage", "ptx", "-D", "TILE_M=64", "TILE_N=64", capsys=capsys)
    assert code == 0
    assert ".target sm_86" in out
    assert "gemm_param_3" in out


def test_emit_prints_every_launch(capsys):
    """A kernel in two launches is two modules, each under its name; tile MLIR is one for both."""
    split = (GEMM, "--chip", "sm_90a", "-D", "SPLIT_K=4")
    _, out, _ = run("emit", *split, "--stage", "thread", capsys=capsys)
    assert out.count("// launch ") == out.count('"gpu.func"') == 2
    assert out.startswith("// launch 1 of 2: gemm\n")
    assert "// -----\n// launch 2 of 2: gemm_finish\n" in out
    _, out, _ = run("emit", *split, "--stage", "cuda", capsys=capsys)
    assert out.count('extern "C" __global__') == 2
    _, out, _ = run("emit", *split, "--stage", "tile", capsys=capsys)
    assert out.count("tile.kernel") == 1


def test_emit_says_what_became_of_the_choices(capsys):
    """A loop that is split and a choice that no product can follow are noted on standard error."""
    choices = ("-D", "SPLIT_K=4", "LANES_M=64")
    code, out, err = run("emit", GEMM, "--chip", "sm_90a", *choices, capsys=capsys)
    assert code == 0
    assert "note[PH514]: SPLIT_K: 4 CTAs share the k loop" in err
    assert "note[PH517]: LANES_M = 64 fits no product here" in err
    assert "note[" not in out


def test_emit_shows_shared_memory_as_a_ruler(capsys):
    """--stage smem prints the plan."""
    code, out, _ = run("emit", GEMM, "--stage", "smem", "--chip", "sm_80", capsys=capsys)
    assert code == 0
    assert out.startswith("Shared memory: ")
    assert "a for dot" in out
    assert "a CTA on sm_80 may have 166,912" in out


def test_emit_writes_all_or_nothing(capsys, tmp_path):
    """-o replaces a file in one step; after an error the old one stands and no other file is left."""
    target = tmp_path / "out.mlir"
    target.write_text("old")
    code, _, err = run("emit", GEMM, "-D", "TILE_X=1", "-o", str(target), capsys=capsys)
    assert code == 1
    assert "TILE_X" in err
    assert target.read_text() == "old"
    assert run("emit", GEMM, "-o", str(target), capsys=capsys)[0] == 0
    assert target.read_text().startswith('"builtin.module"')
    assert [p.name for p in tmp_path.iterdir() if p.is_file()] == ["out.mlir"]


def test_faults_of_a_program_end_with_code_1_and_no_traceback(capsys, tmp_path):
    """The diagnostic goes to standard error with its line and column."""
    file = tmp_path / "bad.ph"
    file.write_text("kernel k(A: tensor<f32>[N]) {\n  A[0] = missing\n}\n")
    code, out, err = run("emit", str(file), capsys=capsys)
    assert (code, out) == (1, "")
    assert "bad.ph:2:10" in err
    assert "Traceback" not in err


def test_faults_of_the_command_line_end_with_code_2(capsys):
    """A missing file, an unknown kernel, a malformed constant."""
    assert run("emit", "missing.ph", capsys=capsys)[0] == 2
    for arguments in (["emit", GEMM, "--kernel", "nope"], ["emit", GEMM, "-D", "TILE_M"], ["emit"]):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2


def test_run_makes_arrays_or_loads_them(capsys, tmp_path):
    """Extents and scalars by value, arrays from .npy files, outputs saved."""
    a = np.ones((32, 8), np.float32)
    np.save(tmp_path / "a.npy", a)
    prefix = str(tmp_path / "out_")
    values = [f"A={tmp_path / 'a.npy'}", "N=32", "alpha=2", "beta=0"]
    code, out, _ = run("run", GEMM, *values, "--save", prefix, capsys=capsys)
    assert code == 0
    assert "C: float32[32, 32]" in out
    assert np.load(f"{prefix}C.npy").shape == (32, 32)


def test_run_names_what_is_missing(capsys):
    """An extent that nothing fixes is named with its tensor."""
    code, _, err = run("run", GEMM, "M=32", "N=32", capsys=capsys)
    assert code == 1
    assert "A: extent K is not given" in err


def test_simulate_compares_with_the_meaning(capsys):
    """The report ends with the largest difference; a clean run ends with 0."""
    code, out, _ = run("simulate", GEMM, "M=32", "N=32", "K=8", capsys=capsys)
    assert code == 0
    assert "largest difference from the NumPy meaning" in out


@pytest.mark.nvrtc
def test_cache_lists_and_clears(capsys, tmp_path):
    """One compilation is one entry; after clear there is none."""
    fresh = tmp_path / "fresh.ph"  # a text that this process has not compiled into another cache
    fresh.write_text(Path(GEMM).read_text("utf-8"), "utf-8")
    assert run("emit", str(fresh), "--stage", "ptx", capsys=capsys)[0] == 0
    assert run("cache", "list", capsys=capsys)[1].splitlines()[-1].startswith("1 entry,")
    assert "removed 1 entry" in run("cache", "clear", capsys=capsys)[1]
    assert run("cache", "list", capsys=capsys)[1].startswith("0 entries")


def test_doctor_reports_without_a_gpu(capsys):
    """It says what is installed and which target is the default, and why."""
    code, out, _ = run("doctor", capsys=capsys)
    assert code == 0
    assert "numpy" in out
    assert "target" in out


def test_a_file_that_is_not_there_is_named_with_its_neighbour(tmp_path, capsys):
    """PH008 and exit code 2; `load` raises a FileNotFoundError that IPython shows without our frames."""
    (tmp_path / "softmax.ph").write_text("// nothing\n", "utf-8")
    assert main(["emit", str(tmp_path / "sofmax.ph")]) == 2
    assert "PH008" in capsys.readouterr().err
    with pytest.raises(FileNotFoundError, match=r"did you mean `softmax.ph`") as caught:
        ph.load(tmp_path / "sofmax.ph")
    assert isinstance(caught.value, ph.PhobosError)
    assert not [line for line in caught.value._render_traceback_() if "module.py" in line]


def test_a_text_without_a_kernel_says_so(tmp_path, capsys):
    """A command fails with code 2; `load` and `compile` warn at the caller's line."""
    path = tmp_path / "empty.ph"
    path.write_text("// nothing\n", "utf-8")
    with pytest.raises(SystemExit) as stopped:
        main(["emit", str(path)])
    assert stopped.value.code == 2
    assert "no kernel in this text" in capsys.readouterr().err
    with pytest.warns(UserWarning, match="no kernel in this text") as warned:
        ph.load(path)
    assert warned[0].filename == __file__
    with pytest.warns(UserWarning, match="its functions are checked where a kernel calls them"):
        ph.compile("fn f(x: f32) -> f32 { return x }")


@pytest.mark.parametrize("command", ["simulate", "run"])
def test_a_constant_among_the_values_is_told_to_d(command, capsys):
    """An extent that the text fixes by a constant is set with -D, before the call."""
    text = str(EXAMPLES / "histogram.ph")
    code, _, err = run(command, text, "N=1000", "BINS=16", "--grid", "2", capsys=capsys)
    assert code == 1
    assert "has no parameter or extent BINS\n  help: BINS is a constant" in err
    assert "`-D BINS=16`" in err
    code, out, _ = run(command, text, "N=100", "-D", "BINS=16", "--grid", "2", capsys=capsys)
    assert code == 0
    assert "H: int32[16]" in out
