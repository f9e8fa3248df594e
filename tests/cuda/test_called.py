"""The functions that NVIDIA's compiler puts behind a kernel, by name and by the lines that call them."""

from __future__ import annotations

import pytest

import phobos_nb as ph
from phobos_nb.cuda import sass
from phobos_nb.cuda.called import Called, called

WORDS = {
    "__cuda_sm3x_div_rn_noftz_f32_slowpath": "slow path of f32 division",
    "__cuda_sm20_div_rn_f64_full": "f64 division",
    "__cuda_sm20_dblrcp_rn_slowpath_v3": "slow path of f64 reciprocal",
    "__cuda_sm20_rcp_rn_f32_slowpath": "slow path of f32 reciprocal",
    "__cuda_sm20_dsqrt_rn_f64_mediumpath_v1": "medium path of f64 square root",
    "__cuda_sm20_sqrt_rn_f32_slowpath": "slow path of f32 square root",
    "__cuda_sm20_div_s64": "i64 division",
    "__cuda_sm20_rem_u64": "u64 remainder",
    "__internal_trig_reduction_slowpathd": "slow path of f64 argument reduction of sin and cos",
    "__cuda_sm70_votesync": "__cuda_sm70_votesync",
}


@pytest.mark.parametrize("name", WORDS)
def test_a_function_is_told_in_words(name: str) -> None:
    """Operation, type and path are read from the name; an unknown one stays as it is."""
    assert Called(name, (), ()).what == WORDS[name]


TEXT = """\
kernel k(A: tensor<f32>[N], D: tensor<f64>[N], L: tensor<i64>[N]) {
  let t = ctx.block.x * 256 + ctx.thread
  A[t] = A[t] / (A[t] + 3.0)
  L[t] = L[t] / (L[t] + 3)
  D[t] = sin(D[t])
  A[t] = A[t] / (A[t] + 5.0)
}
"""


@pytest.mark.skipif(sass.find_nvdisasm() is None, reason="no nvdisasm (extra [sass])")
@pytest.mark.parametrize("chip", ["sm_75", "sm_90a"])
def test_calls_are_found_in_real_machine_code(chip: str) -> None:
    """Each function has its lines and its instructions, and none of these is of a line of the kernel."""
    compilation = ph.compile(TEXT, chip=chip).k.compile()
    code = sass.instructions(compilation.sass)
    file = compilation.source.table_name
    found = {c.what: c.lines for c in called(code, file)}
    assert found == {
        "slow path of f32 division": (3, 6),
        "i64 division": (4,),
        "slow path of f64 argument reduction of sin and cos": (5,),
    }
    behind = [i for i in code if i.function]
    assert {(i.file, i.line) for i in behind} == {("", 0)}
    assert sum(n for c in called(code, file) for _, n in c.mix) == len(behind)
    assert len([i for i in code if i.file == file and i.line == 7]) < 5


def instruction(address: int, text: str, line: int, function: str) -> sass.Instruction:
    """One instruction of the kernel's text "k", or of a function."""
    file = "" if function else "k"
    return sass.Instruction(address, text.split()[0], text, file, line, function)


def test_a_function_that_a_function_calls_is_of_the_lines_that_lead_there() -> None:
    """Through another one and round in a circle; padding is not counted."""
    code = [
        instruction(0, "CALL.REL.NOINC `($a)", 3, ""),
        instruction(16, "CALL.REL.NOINC `($b)", 5, ""),
        instruction(32, "CALL.REL.NOINC `($b)", 0, "$a"),
        instruction(48, "CALL.REL.NOINC `($a)", 0, "$b"),
        instruction(64, "NOP", 0, "$b"),
    ]
    assert list(called(code, "k", ["NOP"])) == [
        Called("a", (3, 5), (("CALL", 1),)),
        Called("b", (3, 5), (("CALL", 1),)),
    ]
