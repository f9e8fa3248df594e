"""What tests of views share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from phobos_nb.views.sliders_session import Sliders
from tests.views.sliders_made import LONG, gemm, sliders_of


@pytest.fixture
def made_arrays_on_the_cpu(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a machine without a GPU; tests/gpu looks at the other case."""
    monkeypatch.setattr("phobos_nb.cuda.driver.native_chip", lambda: None)


@pytest.fixture
def sliders() -> Iterator[Sliders]:
    """Sliders over a small GEMM, at rest."""
    found = sliders_of(gemm())
    found.wait(LONG)
    yield found
    found.close()
