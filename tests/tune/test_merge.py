"""Searches of parts of a space share one record, and the compiler's sources decide which."""

import numpy as np
import pytest

import phobos_nb as ph
from phobos_nb.compilation import compiler_hash, remembered
from phobos_nb.compilation.configuration import resolve
from phobos_nb.tune.merge import champions, merged, restricted
from phobos_nb.tune.outcome import Measured, label
from phobos_nb.tune.records import Store
from phobos_nb.tune.space import Space
from tests.tune.recorded import record

SAXPY = """
@autotune(TILE in [16, 128])
kernel saxpy(X: tensor<f32>[N], Y: tensor<f32>[N], a: f32) {
  let i = ctx.block.x
  Y[i * TILE :+ TILE] = a * X[i * TILE :+ TILE] + Y[i * TILE :+ TILE]
}
"""
QUICK = {"rounds": 7, "samples": 2, "isolate": False}


@pytest.fixture(autouse=True)
def own_records(tmp_path, monkeypatch):
    monkeypatch.setenv("PHOBOS_CACHE_DIR", str(tmp_path))


def call(n=4096):
    return np.ones(n, np.float32), np.ones(n, np.float32), 0.5


def kernel():
    (found,) = ph.compile(SAXPY)
    return found


def stored(saxpy, n=4096):
    target = resolve(saxpy.options).target
    return Store().get(saxpy.identity({"N": n}, target, remembered.CPU))


def test_a_restricted_search_leaves_the_fuller_record_whole():
    """All four values, then one: the record keeps four and its winner; the answer is about one."""
    saxpy = kernel()
    full = saxpy.tune(*call(), **QUICK)
    part = saxpy.tune(*call(), choices={"TILE": 16}, **QUICK)
    assert (part.best, len(part.record.outcomes)) == ({"TILE": 16}, 1)
    kept = stored(saxpy)
    assert len(kept.outcomes) == 4
    assert kept.best == full.best  # 16 is several times slower than the widest tile on a CPU
    assert kept.space == {"TILE": (16, 32, 64, 128)}
    target = resolve(saxpy.options).target
    assert saxpy.constants_for({"N": 4096}, target, remembered.CPU) == full.best


def test_parts_add_up_to_the_whole():
    """Two halves, then everything: nothing is measured twice, and finals decide among all."""
    saxpy = kernel()
    saxpy.tune(*call(), choices={"TILE": [16, 32]}, **QUICK)
    saxpy.tune(*call(), choices={"TILE": [64, 128]}, **QUICK)
    whole = saxpy.tune(*call(), **QUICK)
    assert whole.fresh == 0
    assert len(whole.record.outcomes) == 4
    assert whole.winner.rounds


def test_the_winner_of_a_part_must_beat_the_earlier_winner_in_the_same_rounds():
    """The earlier winner takes part in the finals, so that rounds can be paired."""
    saxpy = kernel()
    saxpy.tune(*call(), choices={"TILE": [64, 128]}, **QUICK)
    before = stored(saxpy).best
    saxpy.tune(*call(), choices={"TILE": [16, 32]}, **QUICK)
    kept = stored(saxpy)
    rounds = len(kept.outcomes[label(before)].rounds)
    assert rounds in (7, 14, 21, 28)  # more while it is open which is faster
    assert len(kept.outcomes["TILE=32"].rounds) == rounds
    assert kept.best == before


def test_a_name_that_joins_later_is_another_axis():
    """Records hold configurations with and without it."""
    new = record()
    old = restricted(record(seed=3), Space({"M": (32,), "N": (32,), "K": (4,)}))
    both = merged(new, old)
    assert both.space == new.space
    assert len(both.outcomes) == 64
    widened = merged(old, new)
    assert len(widened.outcomes) == 64
    kept = widened.outcomes["K=8 M=128 N=256"]
    assert isinstance(kept, Measured)
    assert (len(kept.times), kept.rounds) == (30, ())  # its rounds were others


def test_an_earlier_winner_within_the_space_needs_no_place():
    """Only one that the search would not meet is a champion."""
    whole = Space(record().space)
    assert champions(record(), whole) == {}
    assert champions(None, whole) == {}
    part = Space({"M": (32,), "N": (32,), "K": (4,)})
    assert list(champions(record(), part)) == ["K=8 M=128 N=256"]


def test_a_changed_compiler_is_another_identity(tmp_path):
    """One byte of the lowering's sources makes another hash; the rest of the package does not count."""
    for folder in ("lower", "views"):
        (tmp_path / folder).mkdir()
    (tmp_path / "lower" / "gemm.py").write_text("A = 1\n")
    (tmp_path / "views" / "html.py").write_text("B = 1\n")
    first = compiler_hash.compiler_hash(tmp_path)
    (tmp_path / "views" / "html.py").write_text("B = 2\n")
    assert compiler_hash.compiler_hash(tmp_path) == first
    (tmp_path / "lower" / "gemm.py").write_text("A = 2\n")
    assert compiler_hash.compiler_hash(tmp_path) != first
    (tmp_path / "lower" / "gemm.py").rename(tmp_path / "lower" / "other.py")
    assert compiler_hash.compiler_hash(tmp_path) != first


def test_records_name_version_and_hash():
    """What a record holds for can be read in it."""
    saxpy = kernel()
    tuning = saxpy.tune(*call(64), **QUICK)
    assert tuning.record.identity.compiler == compiler_hash.compiler_identity()
    assert tuning.record.identity.compiler.startswith(f"{ph.__version__}+")


def test_warm_and_cold_measurements_do_not_replace_each_other():
    """Two records; calls take the warm one, and the cold one where there is no other."""
    saxpy = kernel()
    cold = saxpy.tune(*call(), cache="cold", choices={"TILE": 16}, **QUICK)
    target = resolve(saxpy.options).target
    assert saxpy.constants_for({"N": 4096}, target, remembered.CPU) == cold.best
    warm = saxpy.tune(*call(), cache="warm", choices={"TILE": 128}, **QUICK)
    assert saxpy.constants_for({"N": 4096}, target, remembered.CPU) == warm.best
    assert saxpy.tune(*call(), cache="cold", choices={"TILE": 16}, **QUICK).fresh == 0
