"""The dispatch table: what it chooses, its file, and what calls take from it."""

import json
import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.arguments.array import describe_numpy
from phobos_nb.compilation import remembered
from phobos_nb.compilation.call import solve
from phobos_nb.compilation.configuration import resolve
from phobos_nb.compilation.dispatch import Dispatch, closest, read_table, table_path
from phobos_nb.compilation.dispatch_table import DispatchTable, Member, Point, TableError
from phobos_nb.contract import GridRule, GridTerm, Variant
from phobos_nb.diagnostics import Diagnostic, PhobosError
from phobos_nb.tune.files import write_table
from phobos_nb.tune.records import Store
from tests.tune.recorded import identity, record

EXAMPLES = Path(__file__).parents[2] / "examples"


def tile(m, n, **more):
    """A configuration of a GEMM that promises nothing."""
    rule = GridRule(((GridTerm("M", m),), (GridTerm("N", n),), ()))
    return Member({"TILE_M": m, "TILE_N": n, **more}, {}, rule)


def table(**changed):
    """Small tiles win at 512, large ones at 4096."""
    fields = {
        "identity": identity(extents={}),
        "members": (tile(64, 64), tile(128, 256)),
        "points": (
            Point({"M": 512, "N": 512, "K": 512}, (0.02, 0.03), 0.02),
            Point({"M": 4096, "N": 4096, "K": 4096}, (3.4, 2.6), 2.6, weight=2.0),
        ),
        "sms": 132,
        "variants": (Variant(), Variant(aligned=False, bounded=False)),
        "date": "2026-11-30 00:00:00 UTC",
        "settings": {"max_configs": 4},
    }
    return DispatchTable(**{**fields, **changed})


def cube(n):
    return {"M": n, "N": n, "K": n}


def test_measured_shapes_take_their_fastest_member():
    """Exactly as measured, whatever the grid says."""
    assert table().choose(cube(512)) == {"TILE_M": 64, "TILE_N": 64}
    assert table().choose(cube(4096)) == {"TILE_M": 128, "TILE_N": 256}


def test_other_shapes_take_after_their_neighbours():
    """Close to a measured shape in doublings, its winner; far beyond the largest, the largest's."""
    assert table().choose(cube(600)) == {"TILE_M": 64, "TILE_N": 64}
    assert table().choose(cube(3500)) == {"TILE_M": 128, "TILE_N": 256}
    assert table().choose(cube(20000)) == {"TILE_M": 128, "TILE_N": 256}
    assert table().choose(cube(0)) is not None


def test_whole_waves_count():
    """Just above one wave of large tiles, the smaller ones with fewer idle SMs are taken."""
    points = (Point({"M": 1408, "N": 3072, "K": 1024}, (1.1, 1.0), 1.0),)
    found = table(points=points)  # 11 x 12 large tiles fill 132 SMs once
    assert found.choose({"M": 1408, "N": 3072, "K": 1024}) == {"TILE_M": 128, "TILE_N": 256}
    assert found.choose({"M": 1408, "N": 3073, "K": 1024}) == {"TILE_M": 64, "TILE_N": 64}


def test_members_that_cannot_run_a_shape_are_out():
    """A broken promise rules a member out; where all are ruled out there is no choice."""
    large = replace(tile(128, 256), promises={"M": 128, "N": 256})
    found = table(members=(tile(64, 64), large))
    assert found.choose(cube(4000)) == {"TILE_M": 64, "TILE_N": 64}
    assert table(members=(large,), points=()).choose(cube(4000)) is None


def test_a_member_without_a_time_at_the_nearest_shape_is_judged_by_the_others():
    """None is no time; it neither wins nor crashes."""
    points = (Point(cube(512), (None, 0.03), 0.02), Point(cube(4096), (3.4, 2.6), 2.6))
    assert table(points=points).choose(cube(512)) == {"TILE_M": 128, "TILE_N": 256}


def test_the_text_holds_everything():
    """There and back; equal tables give equal text; it is plain JSON."""
    text = table().to_json()
    assert DispatchTable.from_json(text) == table()
    assert DispatchTable.from_json(text).to_json() == text
    assert json.loads(text)["members"][1]["constants"] == {"TILE_M": 128, "TILE_N": 256}


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda t: "", "empty"),
        (lambda t: t[:200], "cut short"),
        (lambda t: "[1]", "not a dispatch table"),
        (lambda t: '{"what": "phobos_nb tuning record"}', "not a dispatch table"),
        (lambda t: t.replace('"format": 1', '"format": 7'), "format 7"),
        (lambda t: t.replace('"members"', '"numbers"'), "damaged"),
        (lambda t: t.replace("0.02,\n    0.03", "0.02"), "1 times for 2 members"),
    ],
)
def test_foreign_and_damaged_files_are_absent_with_a_message(
    tmp_path, monkeypatch, caplog, change, reason
):
    """No traceback; calls go on without; a writer keeps the unknown file under another name."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    text = change(table().to_json())
    with pytest.raises(TableError, match=reason):
        DispatchTable.from_json(text)
    path = table_path(identity())
    path.parent.mkdir(parents=True)
    path.write_text(text)
    remembered.warn_once.cache_clear()
    with caplog.at_level(logging.WARNING, "phobos_nb"):
        assert Dispatch(identity(), None).choose(identity()) is None
    assert reason in caplog.text
    write_table(table(), path)
    assert read_table(identity()) == table()
    assert [p.read_text() for p in path.parent.glob("*.kept-*")] == [text]


def test_the_newer_of_record_and_table_counts(tmp_path, monkeypatch):
    """A shape tuned alone after the table was made keeps its own winner."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    write_table(table(), table_path(identity()))
    assert Dispatch(identity(), None).choose(identity()) == {"TILE_M": 64, "TILE_N": 64}
    older = replace(record(), date="2026-11-29 12:00:00 UTC")
    Store().put(older)
    assert Dispatch(identity(), None).choose(identity()) == {"TILE_M": 64, "TILE_N": 64}
    Store().put(replace(older, date="2026-12-01 12:00:00 UTC"))
    assert Dispatch(identity(), None).choose(identity()) == {"M": 128, "N": 256, "K": 8}


def test_every_member_is_compiled_for_every_variant_when_the_table_is_loaded(tmp_path, monkeypatch):
    """Two members, two variants: four compilations, none later."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    write_table(table(), table_path(identity()))
    compiled = []
    found = Dispatch(identity(), lambda constants, variant: compiled.append((dict(constants), variant)))
    assert len(compiled) == 4
    odd = Variant(aligned=False)
    assert found.variant({"TILE_M": 64, "TILE_N": 64, "OTHER": 1}, odd) == table().variants[1]
    assert found.variant({"TILE_M": 64, "TILE_N": 64}, Variant()) == Variant()
    assert found.variant({"TILE_M": 32, "TILE_N": 64}, odd) == odd


def test_code_that_takes_too_much_for_granted_is_never_taken():
    """Strided arrays, for which nothing is compiled, get code of their own."""
    strided = Variant(unit_stride=False, aligned=False)
    assert closest(table().variants, strided) == strided
    assert closest(table().variants, Variant(bounded=False)) == Variant(aligned=False, bounded=False)
    narrow = Variant(index_bits=32)
    assert closest([narrow], Variant(index_bits=64)) == Variant(index_bits=64)
    assert closest([Variant(index_bits=64)], narrow) == Variant(index_bits=64)
    column = Variant(thin=("B",))
    assert closest([Variant()], column) == column
    assert closest([Variant(thin=("B", "C"))], column) == Variant(thin=("B", "C"))


@pytest.mark.nvrtc
def test_a_kernel_compiles_its_table_once_and_unseen_extents_nothing(tmp_path, monkeypatch):
    """The path of GPU calls without the GPU: constants, variant and compilation are looked up."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    gemm = ph.load(EXAMPLES / "gemm_fp32_any.ph", chip="sm_80").gemm
    target = resolve(gemm.options).target
    mine = gemm.identity({}, target, "a card")
    members = tuple(
        Member({"TILE_M": m, "TILE_N": n}, {}, gemm.typed({"TILE_M": m, "TILE_N": n}).grid)
        for m, n in ((32, 32), (64, 32))
    )
    points = (Point(cube(64), (1.0, 2.0), 1.0), Point(cube(1024), (2.0, 1.0), 1.0))
    write_table(table(identity=mine, members=members, points=points), table_path(mine))
    seen = []
    for n in (64, 1024, 37, 900):
        a = np.zeros((n, n), np.float32)
        values = {"A": a, "B": a.copy(), "C": a.copy(), "alpha": 1.0, "beta": 0.0}
        describe = lambda v: describe_numpy(v) if isinstance(v, np.ndarray) else None  # noqa: E731
        call = solve(gemm, values, describe, None, target, "a card")
        before = len(gemm._compilations)
        found = gemm._compiled_for(call, resolve(gemm.options), gemm.remembered(mine))
        seen.append((found.contract.constants["TILE_M"], len(gemm._compilations) - before))
    assert len(gemm._compilations) == 4
    assert seen == [(32, 0), (64, 0), (32, 0), (64, 0)]


def test_a_member_that_cannot_be_compiled_ahead_is_said_and_left_to_the_call(
    tmp_path, monkeypatch, caplog
):
    """Loading a table never fails; the other members are ready."""
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))
    write_table(table(), table_path(identity()))

    def refuse_general(constants, variant):
        if not variant.aligned:
            raise PhobosError([Diagnostic("PH600", "no registers left", stage="nvrtc")])

    with caplog.at_level(logging.WARNING, "phobos_nb"):
        found = Dispatch(identity(), refuse_general)
    assert "no registers left" in caplog.text
    odd = Variant(aligned=False)
    small = {"TILE_M": 64, "TILE_N": 64}
    assert found.variant(small, odd) == odd
    assert found.variant(small, Variant()) == Variant()
    assert found.choose(identity()) == small
