"""The architecture records."""

from __future__ import annotations

import pytest

from phobos_nb import target
from phobos_nb.diagnostics import PhobosError


def test_names_are_ordered_by_capability():
    """Seven targets, oldest first."""
    assert target.names() == ("sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100", "sm_120")


def test_sm_90_is_sm_90a():
    """The alias gives the target with wgmma."""
    assert target.get("sm_90") is target.get("sm_90a")
    assert target.get("sm_90").has("wgmma")


def test_unknown_target_lists_the_known_ones():
    """A wrong name is a user's mistake with the choices in its help."""
    with pytest.raises(PhobosError) as caught:
        target.get("sm_99")
    (found,) = caught.value.diagnostics
    assert found.code == "PH408"
    assert "sm_99" in found.message
    assert "sm_90a" in found.help


def test_default_follows_the_environment(monkeypatch):
    """PHOBOS_CHIP counts from the next call on; unset or empty means sm_80."""
    monkeypatch.setenv("PHOBOS_CHIP", "sm_120")
    assert target.default().name == "sm_120"
    monkeypatch.setenv("PHOBOS_CHIP", "")
    assert target.default().name == "sm_80"


@pytest.mark.parametrize(
    ("capability", "name"),
    [((8, 0), "sm_80"), ((8, 7), "sm_86"), ((9, 0), "sm_90a"), ((10, 3), "sm_100"), ((12, 1), "sm_120")],
)
def test_capability_finds_a_target_whose_cubin_runs(capability, name):
    """Same major, no later minor; the newest such."""
    found = target.for_capability(*capability)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("capability", [(7, 0), (11, 0), (9, 9)])
def test_capability_without_a_target(capability):
    """A GPU that none of the cubins runs on has no target."""
    assert target.for_capability(*capability) is None


@pytest.mark.parametrize("name", target.names())
def test_limits_agree_with_each_other(name):
    """What one CTA may ask for fits one SM, with the reserve; sm_75 alone defaults to 32-bit sizes."""
    t = target.get(name)
    assert t.shared_per_cta <= t.shared_per_cta_optin <= t.shared_per_sm - t.shared_reserved
    assert t.threads_per_cta <= t.threads_per_sm
    assert t.registers_per_cta <= t.registers_per_sm
    assert (t.default_index_bits == 32) == (name == "sm_75")
    assert t.has("cp.async") == (t.capability >= (8, 0))
