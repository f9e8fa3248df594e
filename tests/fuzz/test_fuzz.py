"""A few generated programs and garbled texts in every run of the tests; `make fuzz` takes many."""

from __future__ import annotations

import shutil

import pytest

from tests.fuzz.generate import generate
from tests.fuzz.judge import Paths, judge
from tests.fuzz.text import garbled, outcome

TOOL = shutil.which("mlir-opt-22") is not None


@pytest.mark.parametrize("seed", range(40))
def test_generated_programs_agree(seed: int) -> None:
    """Meaning and simulator agree, without races, faults or traps; every eighth pleases upstream."""
    failure = judge(generate(seed), Paths(upstream=TOOL and seed % 8 == 0))
    assert failure is None, f"{failure.kind}: {failure.where}\n{failure.detail}\n{generate(seed).text}"


def test_a_seed_gives_one_program() -> None:
    """The same text, arrays and grid every time."""
    for seed in range(5):
        one, two = generate(seed), generate(seed)
        assert one == two
        pairs = zip(one.arguments().values(), two.arguments().values(), strict=True)
        assert all(a.tobytes() == b.tobytes() for a, b in pairs)


def test_garbled_texts_give_diagnostics() -> None:
    """Five hundred texts with wrong tokens and bytes: a kernel or a diagnostic each, in time."""
    problems = {seed: found.problem for seed in range(500) if (found := outcome(garbled(seed))).problem}
    assert problems == {}
