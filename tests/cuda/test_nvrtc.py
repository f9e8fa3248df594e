"""NVRTC: results, errors at the kernel's lines, a missing library, threads."""

from __future__ import annotations

import subprocess
import sys

import pytest

from phobos_nb.cuda import nvrtc
from phobos_nb.diagnostics import PhobosError
from phobos_nb.source import Source

GOOD = 'extern "C" __global__ void f(float* x) { x[0] = 1.0f; }\n'


@pytest.mark.nvrtc
def test_ptx_and_cubin_come_from_one_compilation():
    """Text for the architecture asked for, an ELF file, ptxas' report in the log."""
    result = nvrtc.compile(GOOD, "sm_90a")
    assert ".target sm_90a" in result.ptx
    assert result.cubin[:4] == b"\x7fELF"
    assert "registers" in result.log
    assert result.version == nvrtc.version() >= (12, 0)


@pytest.mark.nvrtc
def test_an_error_is_at_the_line_that_the_directive_named():
    """`#line` carries the kernel's line into the diagnostic, as the reader numbers it."""
    source = Source("kernel k() {\n  y = 1\n}\n", name="cell", first_line=2)
    text = '#line 3 "cell"\nextern "C" __global__ void f(float* x) { x[0] = y; }\n'
    with pytest.raises(PhobosError) as caught:
        nvrtc.compile(text, "sm_80", source=source)
    (found,) = caught.value.diagnostics
    assert (found.code, found.stage) == ("PH600", "nvrtc")
    assert "sm_80" in found.message
    assert '"y" is undefined' in found.message
    assert found.span is not None
    assert source.position(found.span.start) == (3, 3)


@pytest.mark.nvrtc
def test_a_line_of_the_kernel_is_told_once():
    """Two refused lines of CUDA that come from one line of the kernel are one diagnostic."""
    source = Source("kernel k() {\n  y = 1\n  z = 2\n}\n", name="cell")
    refused = "".join(
        f'#line {n} "cell"\n  x[0] = {name};\n' for n, name in [(2, "y"), (2, "u"), (3, "z")]
    )
    text = f'extern "C" __global__ void f(float* x) {{\n{refused}}}\n'
    with pytest.raises(PhobosError) as caught:
        nvrtc.compile(text, "sm_80", source=source)
    places = [source.position(d.span.start)[0] for d in caught.value.diagnostics if d.span]
    assert places == [2, 3]


@pytest.mark.nvrtc
def test_an_error_of_ptxas_is_told_too():
    """Inline PTX that does not exist has no line of the kernel, but its text is shown."""
    text = 'extern "C" __global__ void f() { asm("no.such;"); }'
    with pytest.raises(PhobosError, match=r"ptxas.*no") as caught:
        nvrtc.compile(text, "sm_80", source=Source("x", name="cell"))
    assert caught.value.diagnostics[0].code == "PH600"
    assert caught.value.diagnostics[0].span is None


@pytest.mark.nvrtc
def test_many_compile_in_threads_and_one_failure_stays_its_own():
    """Results come in the order of the jobs; the failed one is an error among results."""
    jobs = [nvrtc.Job(GOOD.replace("1.0f", f"{k}.0f"), "sm_80") for k in range(4)]
    jobs.insert(2, nvrtc.Job("nonsense", "sm_80"))
    found = nvrtc.compile_all(jobs, workers=3)
    assert [isinstance(x, nvrtc.NvrtcResult) for x in found] == [True, True, False, True, True]
    assert isinstance(found[2], PhobosError)
    ones = [x.ptx for x in found if isinstance(x, nvrtc.NvrtcResult)]
    assert len(set(ones)) == 4


HIDDEN = """
import sys
sys.modules["cuda.bindings.nvrtc"] = None  # as if it were not installed
from phobos_nb import target
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.emit import emit
from phobos_nb.diagnostics import PhobosError
try:
    nvrtc.compile("", "sm_80")
except PhobosError as error:
    print(error.diagnostics[0].code, error)
"""


def test_a_missing_library_says_what_was_looked_for_and_how_to_get_it():
    """Importing and printing work without NVRTC; compiling names the module, the places, the command."""
    done = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("PH601 ")
    assert "cuda.bindings.nvrtc" in done.stdout
    assert "libnvrtc" in done.stdout
    assert (
        "pip install 'phobos_nb[nvrtc]', that is 'cuda-bindings>=13,<14' 'nvidia-cuda-nvrtc>=13,<14'"
        in done.stdout
    )
