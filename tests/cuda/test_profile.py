"""Profiling without a GPU: stored calls, and what is said when ncu cannot run."""

import numpy as np
import pytest

from phobos_nb.arguments.match import name_arguments
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.profile import snapshot
from phobos_nb.cuda import ncu
from phobos_nb.cuda.profile import compile_with_files, write_source
from phobos_nb.cuda.sass import disassemble, instructions
from phobos_nb.cuda.stored_call import read_call
from phobos_nb.diagnostics import PhobosError
from phobos_nb.options import CompileOptions
from phobos_nb.simulate.launch import simulate
from phobos_nb.target import get
from tests.examples_cases import CASES
from tests.gpu.source_page import source_pages, without_quotes


def taken(**arguments):
    kernel = CASES["saxpy_fp32"].load(CompileOptions("sm_80"))
    values = name_arguments(kernel.name, kernel.parameters, (), arguments)
    return snapshot(kernel, values, None, resolve(kernel.options))


def test_a_stored_call_keeps_layout_and_bytes(tmp_path):
    """A strided array and an offset one come back with their strides, alignment and elements."""
    x = np.arange(20, dtype=np.float32)[::2]
    y = np.arange(11, dtype=np.float32)[1:]
    call = taken(X=x, Y=y, a=2.0)
    call.stored(b"code").save(tmp_path / "call")
    stored = read_call(tmp_path / "call")
    assert stored.scalars == (2.0,)
    assert stored.arrays["X"].strides == (8,)
    back = call.arguments()
    assert np.array_equal(back["X"], x)
    assert np.array_equal(back["Y"], y)
    for name, array in (("X", x), ("Y", y)):
        ours, theirs = (a.__array_interface__["data"][0] for a in (back[name], array))
        assert ours % 256 == theirs % 256
        assert back[name].strides == array.strides


@pytest.mark.parametrize("shift", [0, 1, 8])
def test_simulated_sectors_are_those_of_the_calls_addresses(shift):
    """An access of 128 bytes touches four sectors where its array begins at a sector, five otherwise."""
    room = np.zeros(1024 + 128, np.float32)
    first = -room.__array_interface__["data"][0] % 256 // 4 + shift
    x = room[first : first + 1024]
    call = taken(X=x, Y=np.zeros(1024, np.float32), a=1.0)
    result = simulate(
        call.compilation.thread_module, call.compilation.contract, call.arguments(), grid=call.call.grid
    )
    loads = [a for a in result.accesses if a.kind == "load" and a.tensor == "X"]
    each = sum(a.sectors for a in loads) * 128 / (4096 * 1)
    assert each == (5 if shift == 1 else 4)


def test_arrays_that_share_memory_share_it_again():
    """Interleaved views of one buffer become one region, so that a write through one shows in both."""
    buffer = np.arange(20, dtype=np.float32)
    call = taken(X=buffer[::2], Y=buffer[1::2], a=2.0)
    assert len(call.memory) == 1
    back = call.arguments()
    assert back["Y"].__array_interface__["data"][0] - back["X"].__array_interface__["data"][0] == 4


def test_line_tables_name_the_file():
    """The printed CUDA can name a file in `#line` where the kernel came from none."""
    compilation = taken(X=np.zeros(8, np.float32), Y=np.zeros(8, np.float32), a=1.0).compilation
    named = compilation.cuda_source.naming(compilation.source.name, "/there/saxpy.ph")
    assert '"/there/saxpy.ph"' in named
    assert compilation.source.name not in named


@pytest.mark.nvrtc
def test_every_instruction_comes_from_a_file_that_is_there(tmp_path):
    """Line tables name the kernel's text and the CUDA that was printed, both written out."""
    compilation = CASES["softmax"].load(CompileOptions("sm_90a")).compile()
    text, printed = tmp_path / "softmax.ph", tmp_path / "softmax.cu"
    write_source(compilation.source, text)
    code = compile_with_files(compilation.cuda_source, get("sm_90a"), compilation.source, text, printed)
    found = [i for i in instructions(disassemble(code)) if i.line]
    assert {i.file for i in found} <= {str(text), str(printed)}
    lines = text.read_text("utf-8").splitlines()
    stores = {i.line for i in found if i.family == "STG"}
    assert [lines[n - 1].strip() for n in stores] == [
        "Y[row :+ ROWS, col :+ COLS] = exp(x - base) / total"
    ]
    helpers = printed.read_text("utf-8")
    assert helpers.splitlines()[0].startswith("template")
    assert f'"{text}"' in helpers


REFUSED = {
    "2024 and later": """==PROF== Connected to process 9012 (/usr/bin/python3.12)
==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance \
Counters on the target device 0. For instructions on enabling permissions and to get more information \
see https://developer.nvidia.com/ERR_NVGPUCTRPERM
==PROF== Disconnected from process 9012
""",
    "without a prefix": """ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU \
Performance Counters on the target device 0.
""",
    "2020": """==708142== Warning: ERR_NVGPUCTRPERM - The user does not have permission to profile on \
the target device. See the following link for instructions to enable permissions and get more \
information: https://developer.nvidia.com/ERR_NVGPUCTRPERM
""",
}
"""What NVIDIA's tools print where a driver keeps the counters for administrators, as users report it."""


@pytest.mark.parametrize("said", REFUSED.values(), ids=REFUSED)
@pytest.mark.parametrize("status", [0, 1])
def test_a_missing_permission_prints_the_fix(tmp_path, said, status):
    """PH609 with what allows it, whether or not the tool ends with an error: it leaves no report."""
    tool = tmp_path / "ncu"
    tool.write_text(f"#!/bin/sh\ncat <<'END'\n{said}END\nexit {status}\n", "utf-8")
    tool.chmod(0o755)
    with pytest.raises(PhobosError) as caught:
        ncu.record(tool, tmp_path / "none.ncu-rep", ["true"], {})
    assert [d.code for d in caught.value.diagnostics] == ["PH609"]
    for help_ in ("NVreg_RestrictProfilingToAdminUsers=0", "--cap-add=SYS_ADMIN", "`.simulate(...)`"):
        assert help_ in str(caught.value)


def test_other_failures_keep_the_last_words():
    """What ncu or the launch said last is in the message of PH610."""
    error = ncu.failure("==PROF== Connected\nRuntimeError: no GPU\n==ERROR== The application returned 1")
    assert [d.code for d in error.diagnostics] == ["PH610"]
    assert "RuntimeError: no GPU" in str(error)


def test_without_ncu_the_error_says_what_to_install(monkeypatch, tmp_path):
    """PH608 where ncu is on no path."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_PATH", str(tmp_path))
    monkeypatch.setenv("CUDA_HOME", str(tmp_path))
    monkeypatch.setattr(ncu, "PLACES", ())
    with pytest.raises(PhobosError) as caught:
        ncu.find_ncu()
    assert [d.code for d in caught.value.diagnostics] == ["PH608"]


LINES = (
    '"@p cp.async.ca.shared.global [%0], [%1], %2; }"',
    ':: "r"(shared_address(d)), "l"(s), "n"(B), "r"((int)go) : "memory");',
    'print("x","y", ",");',
)
HEADER = '"Line No","Source","Address","Source","# Samples","Instructions Executed","Access Size"'


@pytest.mark.parametrize("quote", ['"', '""'], ids=["as ncu prints it", "doubled"])
def test_lines_with_quotes_are_read_from_nsights_page(quote):
    """Text and counts of lines that hold quotes, and what looks like the end of a cell."""
    shown = ['"File Path","/there/gemm.cu"', '"Function Name","gemm",', HEADER]
    for number, line in enumerate(LINES, 1):
        text = line.replace('"', quote)
        shown.append(f'"{number}","{text}","-","-","3","{100 * number}",""')
        shown.append(f'"","","0x7efc2f7ce60{number}","      LDGSTS.E [R3], [R4.64]","3","4096","64"')
    shown += ['"File Path","/there/gemm.ph"', '"Function Name","gemm",', HEADER]
    shown += ['"25","acc += dot(a, b)","-","-","7","99328",""']
    pages = source_pages("\n".join(shown) + "\n")
    assert list(pages) == ["/there/gemm.cu", "/there/gemm.ph"]
    assert pages["/there/gemm.ph"] == {25: ("acc += dot(a, b)", 99328)}
    helpers = pages["/there/gemm.cu"]
    for number, line in enumerate(LINES, 1):
        text, executed = helpers.pop(number)
        assert executed == 100 * number
        assert without_quotes(text) == without_quotes(line)
    assert not helpers
