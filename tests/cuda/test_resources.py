"""Registers, spills, shared memory, occupancy and machine code, all without a GPU."""

from __future__ import annotations

import pytest

from phobos_nb import target
from phobos_nb.cuda import elf, nvrtc, sass
from phobos_nb.cuda.resources import Resources, occupancy, resources

SHARED = """
#line 5 "cell"
extern "C" __global__ void __launch_bounds__(64) k(float* x) {
#line 6 "cell"
  __shared__ float s[100];
#line 7 "cell"
  s[threadIdx.x] = x[threadIdx.x];
#line 8 "cell"
  __syncthreads();
#line 9 "cell"
  x[threadIdx.x] = s[99 - threadIdx.x];
}
"""

SPILLING = """
extern "C" __global__ void __launch_bounds__(1024, 2) k(float* x) {
  float a[64];
  for (int i = 0; i < 64; ++i) a[i] = x[i * 1024 + threadIdx.x];
  __syncthreads();
  for (int i = 0; i < 64; ++i) x[i * 1024 + threadIdx.x] = a[i] * a[63 - i];
}
"""


@pytest.mark.nvrtc
@pytest.mark.parametrize("chip", target.names())
def test_static_shared_memory_is_what_was_declared(chip):
    """400 bytes on every target, whatever the system adds to them; registers are counted."""
    result = nvrtc.compile(SHARED, target.get(chip).nvrtc_arch)
    found = resources(result.cubin, result.log, "k")
    assert found.static_shared == 400
    assert 0 < found.registers <= 32
    assert not found.spills


@pytest.mark.nvrtc
def test_spills_and_local_memory_are_seen():
    """64 live floats do not fit in the 32 registers that two CTAs of 1024 threads leave."""
    result = nvrtc.compile(SPILLING, "sm_90a")
    found = resources(result.cubin, result.log, "k")
    assert found.registers <= 32
    assert found.spills
    assert found.local_bytes > 0


@pytest.mark.nvrtc
def test_an_unknown_entry_is_refused():
    """A name that is not in the cubin is a fault of the caller."""
    result = nvrtc.compile(SHARED, "sm_80")
    with pytest.raises(ValueError, match="no kernel 'other'"):
        resources(result.cubin, result.log, "other")


@pytest.mark.parametrize(
    "data",
    [b"", b"\x7fELF\x02", b"\x7fELF\x02" + b"\xff" * 80, b"x" * 200],
    ids=["empty", "short", "wild", "other"],
)
def test_what_is_no_cubin_is_refused(data):
    """Damaged files end in an error that says so, not in a struct error."""
    with pytest.raises(ValueError, match=r"ELF-64|cut short"):
        elf.sections(data)


@pytest.mark.parametrize(
    ("chip", "registers", "shared", "threads", "ctas", "limits"),
    [
        # Worked with NVIDIA's occupancy calculator's rules.
        ("sm_80", 32, 0, 256, 8, ("warps", "registers")),
        ("sm_80", 33, 0, 256, 6, ("registers",)),
        ("sm_80", 210, 37248, 256, 1, ("registers",)),
        ("sm_80", 16, 0, 32, 32, ("CTAs per SM",)),
        ("sm_80", 32, 48 * 1024, 128, 3, ("shared memory",)),
        ("sm_75", 32, 48 * 1024, 128, 1, ("shared memory",)),
        ("sm_86", 32, 0, 1024, 1, ("warps",)),
        ("sm_90a", 168, 198 * 1024, 384, 1, ("registers", "shared memory")),
        ("sm_80", 32, 164 * 1024, 128, 0, ("shared memory",)),
        ("sm_80", 32, 0, 2048, 0, ("warps",)),
    ],
)
def test_occupancy(chip, registers, shared, threads, ctas, limits):
    """CTAs per SM and every limit that stops one more."""
    found = occupancy(target.get(chip), registers=registers, shared_bytes=shared, threads=threads)
    assert (found.ctas, found.limits) == (ctas, limits)


def test_occupancy_as_a_fraction():
    """Eight CTAs of eight warps fill sm_80's 64."""
    assert occupancy(target.get("sm_80"), registers=32, shared_bytes=0, threads=256).fraction == 1.0


def test_resources_know_whether_registers_ran_out():
    """Either direction of spilling counts."""
    assert not Resources(32, 0, 0, 0, 0).spills
    assert Resources(32, 8, 0, 4, 0).spills


@pytest.mark.nvrtc
@pytest.mark.skipif(sass.find_nvdisasm() is None, reason="no nvdisasm (extra [sass])")
def test_machine_code_names_the_kernels_lines():
    """The store to shared memory is of line 7, the barrier of line 8, the load of line 9."""
    code = sass.instructions(sass.disassemble(nvrtc.compile(SHARED, "sm_90a").cubin))
    lines = {i.family: i.line for i in code if i.family in ("STS", "BAR", "LDS", "STG")}
    assert lines == {"STS": 7, "BAR": 8, "LDS": 9, "STG": 9}
    assert {i.file for i in code if i.family == "STS"} == {"cell"}
    assert sass.mix(code)[8]["BAR"] == 1
    assert [i.address for i in code] == sorted(i.address for i in code)


LISTING = """
	//## File "/x/helpers.cu", line 5 inlined at "/x/cell", line 9
	//## File "/x/cell", line 9
        /*0010*/              @!P0 LDGSTS.E.BYPASS.128 [R3], desc[UR4][R2.64] ;
        /*0020*/                   EXIT ;
"""


def test_inlined_helpers_belong_to_the_line_that_called_them():
    """The last place named above an instruction counts; a predicate is not the opcode."""
    first, second = sass.instructions(LISTING)
    assert (first.line, first.file, first.opcode, first.family) == (
        9,
        "/x/cell",
        "LDGSTS.E.BYPASS.128",
        "LDGSTS",
    )
    assert (second.opcode, second.line) == ("EXIT", 9)
