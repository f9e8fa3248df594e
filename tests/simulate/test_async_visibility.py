"""Synchronisation that bulk copies need: left out, it is reported."""

import pytest

from tests.async_visibility import EXPERIMENTS

WAITS = {
    "mbarrier wait": "copy in flight",
    "expect_tx": "copy in flight",
    "proxy fence before a load": "missing proxy fence",
    "proxy fence before a store": "missing proxy fence",
    "barrier before a store": "read after write",
    "proxy fence of global memory": "missing proxy fence",
    "wait_group.read": "read in flight",
    "commit_group": "read in flight",
    "wait_group": "copy in flight",
    "cluster barrier": "read after write",
    "cluster barrier for an arrival": "read after write",
    "cluster barrier at the end": "write after read",
    "fence.mbarrier_init": "missing proxy fence",
    "mbarrier wait of threads": "read after write",
    "named barrier": "read after write",
    "proxy fence of one thread": "missing proxy fence",
    "wait_group for a load": "copy in flight",
    "wait_group, one place": "copy in flight",
    "wait_group.read at the end": "bulk_copy",
    "mbarrier wait before a load": "write after read",
}


def made(name, *, whole):
    """An experiment on a few CTAs."""
    x = EXPERIMENTS[name]
    return x.make(whole=whole, ctas=4, rounds=x.rounds or 3)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_whole_is_clean_and_right(name):
    """With everything in place no access races and no thread finds a wrong word."""
    result = made(name, whole=True).run(banks=False)
    assert not result.races
    assert not result.faults
    assert not result.outputs["out"].any()


@pytest.mark.parametrize("name", EXPERIMENTS)
@pytest.mark.parametrize("seed", [0, 5])
def test_cut_is_reported(name, seed):
    """Without the synchronisation the race is named, in step and in a random order of warps."""
    result = made(name, whole=False).run(banks=False, seed=seed)
    kinds = {str(f.kind) for f in [*result.races, *result.faults]}
    if seed == 0:
        assert WAITS[name] in kinds
    assert kinds
