"""Which configurations a search visits, and which the hardware's limits rule out before NVRTC."""

from pathlib import Path

import pytest

import phobos_nb as ph
from phobos_nb.target import get
from phobos_nb.tune.limits import broken_promise, refusal
from phobos_nb.tune.space import space_of

EXAMPLES = Path(__file__).parents[2] / "examples"
GEMM = ph.load(EXAMPLES / "gemm_fp32.ph", chip="sm_90a").gemm


def test_the_seed_has_64_configurations():
    """Bounds are searched in doubling steps: 4 x 4 x 4."""
    space = space_of(GEMM)
    assert len(space) == len(list(space)) == len(set(space.labels)) == 64
    assert space.values["TILE_M"] == (32, 64, 128, 256)
    assert space.values["TILE_K"] == (4, 8, 16, 32)


def test_choices_change_and_widen_the_space():
    """A value pins a name; the compiler's own choices join by name; fixed names are no axis."""
    space = space_of(GEMM, {"TILE_M": 128, "STAGES": [2, 3, 4]})
    assert len(space) == 4 * 4 * 3
    assert {c["TILE_M"] for c in space} == {128}
    assert {"STAGES", "TILE_N"} <= set(space.values)
    assert "TILE_K" not in space_of(GEMM.specialize(TILE_K=8)).values


def test_unknown_names_and_empty_lists_are_errors():
    """PH404 names the constants there are; PH405 for no values."""
    with pytest.raises(ph.PhobosError, match="TILE_Q") as caught:
        space_of(GEMM, {"TILE_Q": [1]})
    assert caught.value.diagnostics[0].code == "PH404"
    assert "TILE_M" in caught.value.diagnostics[0].help
    with pytest.raises(ph.PhobosError) as caught:
        space_of(GEMM, {"TILE_M": []})
    assert caught.value.diagnostics[0].code == "PH405"


@pytest.mark.parametrize(
    ("tiles", "words"),
    [
        ((256, 256, 8), ("256 registers", "255", "256 threads")),
        ((256, 256, 32), ("256 registers", "255")),
        ((128, 128, 8), ()),
        ((256, 128, 32), ()),
    ],
)
def test_sums_that_registers_cannot_hold_are_refused_with_numbers(tiles, words):
    """256 x 256 f32 sums over 256 threads are 256 registers each, above 255."""
    m, n, k = tiles
    found = refusal(GEMM.typed({"TILE_M": m, "TILE_N": n, "TILE_K": k}), get("sm_90a"))
    assert bool(found) == bool(words)
    assert all(word in found for word in words)


def test_operands_that_shared_memory_cannot_hold_are_refused_with_numbers():
    """A 128 x 512 and a 512 x 128 panel of f32 take 524288 bytes; sm_90a allows 232448 per CTA."""
    found = refusal(GEMM.typed({"TILE_M": 128, "TILE_N": 128, "TILE_K": 512}), get("sm_90a"))
    assert "524288" in found
    assert "232448" in found


def test_broken_promises_are_refused_with_numbers():
    """@aligned(M = TILE_M) with M = 96 rules out TILE_M = 64, not 32."""
    extents = {"M": 96, "N": 64, "K": 64}
    tiles = {"TILE_N": 32, "TILE_K": 8}
    assert "M = 96" in broken_promise(GEMM.typed({"TILE_M": 64, **tiles}), extents)
    assert broken_promise(GEMM.typed({"TILE_M": 32, **tiles}), extents) == ""
