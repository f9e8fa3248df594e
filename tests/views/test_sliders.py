"""Sliders without a browser: values, refusals, compiling, buttons, text and html."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.contract import Variant
from phobos_nb.diagnostics import PhobosError
from phobos_nb.lower.choices import BY_EXTENTS, CHOICES
from phobos_nb.options import CompileOptions
from phobos_nb.target import get
from phobos_nb.tune.compile_job import CompileJob, KernelText, compile_job
from phobos_nb.tune.outcome import Failed, Kind
from phobos_nb.tune.space import space_of
from phobos_nb.views.roofline_arguments import call_values
from phobos_nb.views.sliders import status, text
from phobos_nb.views.sliders_html import page
from phobos_nb.views.sliders_session import Sliders
from phobos_nb.views.sliders_space import parameters, why_not
from tests.views.sliders_made import EXAMPLES, LONG, SIZE, gemm, sliders_of

pytestmark = pytest.mark.usefixtures("made_arrays_on_the_cpu")


# What they slide over -----------------------------------------------------------------------------


def test_values_are_those_that_a_search_would_visit() -> None:
    """Names, values and their order are the space's; the compiler's own choices follow, first auto.

    What follows from the call's extents is no choice.
    """
    kernel = gemm()
    found = parameters(kernel, {}, {})
    searched = {p.name: p.values for p in found if not p.own}
    assert searched == dict(space_of(kernel).values)
    own = [p for p in found if p.own]
    assert {p.name for p in own} == set(CHOICES) - set(BY_EXTENTS)
    assert all(p.values[0] is None and p.label(None) == "auto" for p in own)
    assert next(p for p in own if p.name == "ORDER").label(0) == "snake"


def test_given_choices_are_the_sliders_values() -> None:
    """As in a search: values replaced, a name pinned, and only the named choices of the compiler."""
    kernel, choices = gemm(), {"TILE_M": [64, 128], "TILE_K": 8, "STAGES": [2, 3]}
    found = {p.name: p.values for p in parameters(kernel, choices, {})}
    assert found == {"TILE_M": (64, 128), "TILE_N": (32, 64, 128, 256), "TILE_K": (8,),
                     "STAGES": (None, 2, 3)}  # fmt: skip
    with pytest.raises(PhobosError, match="no constant TILE_Q"):
        parameters(kernel, {"TILE_Q": 3}, {})


def test_a_fixed_name_has_no_slider() -> None:
    """What the kernel was specialised for is not slid."""
    found = parameters(gemm().specialize(TILE_M=64, STAGES=2), {}, {})
    assert not {"TILE_M", "STAGES"} & {p.name for p in found}


def test_a_kernel_without_dots_has_no_choices_of_the_compilers() -> None:
    """The compiler's own choices are about dots."""
    kernel = ph.load(EXAMPLES / "softmax.ph", chip="sm_80").softmax
    assert {p.name for p in parameters(kernel, {}, {})} == {"ROWS", "COLS"}


def test_refusals_are_those_of_a_search() -> None:
    """For every configuration of the space, on a small target, the reason is that of tune's job."""
    text_of = (EXAMPLES / "gemm_fp32.ph").read_text("utf-8")
    kernel = ph.compile(text_of, name="gemm_fp32.ph", chip="sm_75").gemm
    target, extents = get("sm_75"), {"M": 256, "N": 256, "K": 256}
    options = replace(CompileOptions(), chip="sm_75")
    refused = 0
    for constants in space_of(kernel, {"TILE_M": [32, 256], "TILE_K": [8, 32]}):
        reason = why_not(kernel, constants, extents, target)
        if not reason:
            continue
        refused += 1
        job = CompileJob(KernelText(kernel.source, "gemm", options), Variant(), constants)
        outcome = compile_job(job)
        assert isinstance(outcome, Failed)
        assert (outcome.kind, outcome.reason) == (Kind.CONSTRAINT, reason)
    assert refused


def test_a_broken_promise_refuses_a_place() -> None:
    """K = 24 is no multiple of 48 where TILE_K offers it: greyed with tune's words, and why."""
    kernel = gemm()
    _, values, made = call_values(kernel, (), SIZE)
    found = Sliders(kernel, values, made=made, choices={"TILE_K": [8, 48]})
    places = next(s for s in found.view.sliders if s.name == "TILE_K").places
    assert [p.reason for p in places] == [
        "", "K = 24 is not a multiple of 48, which @aligned promises",
    ]  # fmt: skip
    found.close()


# Moving -------------------------------------------------------------------------------------------


@pytest.mark.nvrtc
def test_the_first_view_has_what_the_call_compiles_to(sliders: Sliders) -> None:
    """At rest: the call's own constants, figures, ruler, notes and a roofline point, no GPU, no time."""
    view = sliders.view
    assert view.state == "ready"
    assert view.compiled == view.label == "TILE_K=8 TILE_M=32 TILE_N=32"
    assert view.shown is not None
    named = {f.name: f.value for f in view.shown.facts}
    assert {"registers", "spills", "CTAs per SM", "shared memory"} <= set(named)
    assert view.shown.memory is not None
    assert any("pipelined" in n.text for n in view.shown.notes)
    assert view.roofline is not None
    assert view.roofline.points[-1].flops["f32 fma"] == 2 * 256 * 256 * 24
    assert view.timing.ms is None
    assert "not on a GPU" in view.timing.missing


@pytest.mark.nvrtc
def test_a_move_compiles_and_says_what_changed(sliders: Sliders) -> None:
    """The figures are those of `compile` with the same constants; the old ones stand beside them."""
    before = sliders.view
    sliders.move({"TILE_M": 128})
    assert sliders.view.state == "compiling"
    assert sliders.view.stale
    view = sliders.wait(LONG)
    assert view.state == "ready"
    assert view.shown is not None
    assert before.shown is not None
    known = gemm().compile(TILE_M=128, TILE_N=32, TILE_K=8)
    facts = {f.name: f.value for f in view.shown.facts}
    assert facts["registers"] == str(known.resources.registers)
    assert facts["shared memory"] == f"{known.contract.shared_bytes:,} bytes"
    assert view.before["shared memory"] == {f.name: f.value for f in before.shown.facts}["shared memory"]
    assert view.roofline is not None
    assert [p.label for p in view.roofline.points] == [before.label, view.label]


@pytest.mark.nvrtc
def test_a_choice_of_the_compilers_takes_part(sliders: Sliders) -> None:
    """STAGES moved from auto to 2 halves the buffers; back to auto takes the name away."""
    sliders.move({"STAGES": 2})
    view = sliders.wait(LONG)
    assert view.constants["STAGES"] == 2
    assert view.shown is not None
    assert view.shown.memory is not None
    assert len(view.shown.memory.buffers) == 4
    sliders.move({"STAGES": None})
    assert "STAGES" not in sliders.wait(LONG).constants


def test_a_place_that_cannot_work_is_reached_but_not_compiled(sliders: Sliders) -> None:
    """Its reason is the message at once; figures stay those of the last that compiled; Use refuses."""
    before = sliders.view
    sliders.move({"TILE_M": 256, "TILE_N": 256})
    view = sliders.view
    assert view.state == "refused"
    assert "the sums of dot, 256 x 256 f32" in view.message
    assert view.compiled == before.compiled
    assert sliders.wait(LONG).state == "refused"
    with pytest.raises(PhobosError, match="the sums of dot"):
        sliders.use()
    row = next(s for s in view.sliders if s.name == "TILE_M")
    assert [bool(p.reason) for p in row.places] == [False, False, False, True]


def test_a_failure_of_the_compiler_is_shown_and_remembered(sliders: Sliders) -> None:
    """One stage, where the kernel says @pipeline: the reason is shown and greys the place later."""
    sliders.move({"STAGES": 1})
    view = sliders.wait(LONG)
    assert view.state == "failed"
    assert "STAGES is 1" in view.message
    assert view.message in status(view)
    sliders.move({"STAGES": None})
    row = next(s for s in sliders.view.sliders if s.name == "STAGES")
    assert {p.label: p.reason for p in row.places if p.reason} == {"1": view.message}


def test_wrong_moves_are_refused(sliders: Sliders) -> None:
    """A name without a slider and a value that it does not have are the user's mistakes."""
    with pytest.raises(PhobosError, match="no slider TILE_Q"):
        sliders.move({"TILE_Q": 3})
    with pytest.raises(PhobosError, match="TILE_M: wanted one of 32, 64, 128, 256, got 48"):
        sliders.move({"TILE_M": 48})


# Buttons ------------------------------------------------------------------------------------------


def test_use_changes_what_calls_take(sliders: Sliders) -> None:
    """The kernel's constants for a call are the sliders' from then on."""
    sliders.move({"TILE_M": 64, "STAGES": 2})
    used = sliders.use()
    taken = sliders.kernel.constants_for(SIZE, get("sm_90a"))
    assert {n: taken[n] for n in used} == used == sliders.constants
    assert sliders.view.used == sliders.view.label


def test_an_exported_configuration_can_be_read_back(sliders: Sliders) -> None:
    """JSON with kernel, constants, extents, dtypes and target; the line is Python that sets the same."""
    sliders.move({"TILE_M": 64})
    data = json.loads(sliders.export())
    assert data["constants"] == sliders.constants
    assert data["extents"] == SIZE
    assert (data["kernel"], data["target"], data["dtypes"]["A"]) == ("gemm", "sm_90a", "f32")
    names: dict[str, Any] = {"gemm": gemm()}
    exec(sliders.line(), names)
    assert names["gemm"].options.constants == sliders.constants


def test_a_search_begins_from_the_sliders() -> None:
    """All values of the searched names, the compiler's choices as they stand, on the same arrays."""
    (kernel,) = ph.compile("""
@autotune(T in [32, 64])
kernel twice(X: tensor<f32>[N], Y: tensor<f32>[N]) {
  let i = ctx.block.x
  Y[i * T :+ T] = X[i * T :+ T] * 2.0
}
""")
    x = np.ones(256, np.float32)
    found = sliders_of(kernel, x, np.zeros_like(x))
    live = found.tune(remember=False, samples=1, rounds=1)
    tuning = live.result(LONG)
    assert {o.constants["T"] for o in tuning.measured} == {32, 64}
    found.close()


def test_arrays_count_as_they_lie() -> None:
    """Sent to the process they keep strides and alignment: requested bytes are those of `roofline`."""
    whole = np.ones((64, 96), np.float32)
    a, b, c = whole[:, 32:], np.ones((64, 64), np.float32), np.ones((64, 65), np.float32)[:, 1:]
    kernel = gemm()
    found = sliders_of(kernel, a, b, c, 1.0, 0.0)
    view = found.wait(LONG)
    assert view.roofline is not None
    slid = view.roofline.points[-1].requested_bytes
    alone = kernel.roofline(a, b, c, 1.0, 0.0, configurations=[view.constants])
    assert slid == alone.points[0].requested_bytes
    found.close()


def test_the_callers_arrays_stay_as_they_are() -> None:
    """C is written by the kernel, not by its sliders."""
    a, b, c = (np.ones((64, 64), np.float32) for _ in range(3))
    found = sliders_of(gemm(), a, b, c, 1.0, 0.0)
    found.wait(LONG)
    assert (c == 1).all()
    found.close()


# Forms --------------------------------------------------------------------------------------------


@pytest.mark.nvrtc
def test_text_and_html_show_the_same(sliders: Sliders) -> None:
    """Values with the present one marked, refusals with their reasons, figures, ruler and roofline."""
    sliders.move({"TILE_M": 256})
    view = sliders.wait(LONG)
    shown, html = text(view), page(view)
    assert "[256]" in shown
    assert "TILE_N = 256: the sums of dot" in shown
    assert "<script" not in html
    assert "<s class='value refused' title='the sums of dot" in html
    for word in ("registers", "CTAs per SM", "pipelined", "Roofline", "Shared memory"):
        assert word in html
    assert all(w in shown for w in ("registers", "Bound by", "Shared memory"))
    json.dumps(view.to_plain())


def test_the_text_is_the_same_twice() -> None:
    """Two sessions at the same places give the same text."""
    found = [sliders_of(gemm()) for _ in range(2)]
    first, second = (text(s.wait(LONG)) for s in found)
    assert first == second
    for s in found:
        s.close()


def test_without_arguments_extents_are_assumed() -> None:
    """A GEMM gets 1024 for each extent, a batch 4, an elementwise kernel 2^20; 64 MiB at most."""
    kernel, values, made = call_values(gemm(), (), {})
    assert made
    assert values["A"].shape == (1024, 1024)
    saxpy = ph.load(EXAMPLES / "saxpy_fp32.ph").saxpy
    assert call_values(saxpy, (), {})[1]["X"].shape == (1 << 20,)
    assert call_values(gemm(), (), {"K": 64})[1]["A"].shape == (1024, 64)
    batched = ph.load(EXAMPLES / "batched_gemm.ph").batched_gemm
    assert call_values(batched, (), {})[1]["A"].shape == (4, 1024, 1024)
    rotary = call_values(ph.load(EXAMPLES / "rotary.ph").rotary, (), {})[1]
    assert 1 << 24 < sum(getattr(v, "nbytes", 0) for v in rotary.values()) <= 1 << 26
    assert kernel.name == "gemm"
