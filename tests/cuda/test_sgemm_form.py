"""The fast form of an f32 GEMM compiles as well as hand-written CUDA."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from phobos_nb import target
from phobos_nb.cuda import nvrtc, sass
from phobos_nb.cuda.emit import emit
from phobos_nb.cuda.resources import resources
from tests.cuda.sgemm_form import BYTES, sgemm_form


@pytest.fixture(scope="module")
def form():
    made = sgemm_form()
    made.verify()
    return made


@pytest.mark.nvrtc
@pytest.mark.parametrize("chip", ["sm_75", "sm_80", "sm_90a", "sm_120"])
def test_no_spills_and_no_local_memory(form, chip):
    """All vectors end up in registers: at most 216 of them, nothing on the stack."""
    cuda = emit(form, target.get(chip))
    result = nvrtc.compile(cuda.text, target.get(chip).nvrtc_arch)
    found = resources(result.cubin, result.log, cuda.entry)
    assert (found.spills, found.local_bytes, found.static_shared) == (False, 0, BYTES)
    assert found.registers <= 216


@pytest.mark.nvrtc
@pytest.mark.skipif(sass.find_nvdisasm() is None, reason="no nvdisasm (extra [sass])")
def test_the_loop_is_fused_multiply_adds_and_wide_loads(form):
    """1024 FFMA a round (16 x 8 x 8), 48 LDS.128 and 6 copies, no branch around the copies."""
    cuda = emit(form, target.get("sm_90a"))
    code = sass.instructions(sass.disassemble(nvrtc.compile(cuda.text, "sm_90a").cubin))
    back = max(k for k, i in enumerate(code) if i.family == "BRA" and "FFMA" in _families(code[:k]))
    first = next(k for k, i in enumerate(code) if i.family == "FFMA")
    counted = Counter(i.family for i in code[first:back])
    assert counted["FFMA"] == 1024
    wide = [i for i in code if i.opcode.startswith("LDS.128")]
    assert len(wide) == 6 + 48
    assert Counter(i.family for i in code)["LDGSTS"] == 3 * 6


def _families(code) -> set[str]:
    return {i.family for i in code}


def test_the_text_is_the_recommended_form(form):
    """Carried pointers, predicated copies, in-place accumulators, a two-line product in snake order."""
    text = emit(form, target.get("sm_90a")).readable
    assert re.search(
        r"ph::copy_async_ca_if<4>\(&a_to\[wr \* 8 \* 132 \+ 32\], &ag_\d\[v_\d+\], \w+\);", text
    )
    assert "for (int kt = 0; kt < tiles; kt += 1) {" in text
    assert "acc.e[_i * 8 + _q] = fmaf(fa_" in text
    assert "(_i & 1) ? 7 - _j : _j" in text
    assert "int rd = 0;" in text
    assert "#pragma unroll 1\n" in text


def test_small_extents_need_no_64_bit_arithmetic(form):
    """With extents up to 2^14 every index is an int; up to 2^31 - 1 the products are 64-bit."""
    small = emit(sgemm_form(bound=1 << 14), target.get("sm_90a")).readable
    inside = small[small.index("{\n  __shared__") :]
    assert [line for line in inside.splitlines() if "long long" in line] == []
    large = emit(form, target.get("sm_90a")).readable
    assert "const long long " in large
