"""What every test shares: the markers' conditions, and a run in which no test may be skipped."""

from __future__ import annotations

import importlib.util
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from phobos_nb.options import environment

if TYPE_CHECKING:
    from tools.lab import Lab


def _has_gpu() -> bool:
    return shutil.which("nvidia-smi") is not None and importlib.util.find_spec("cupy") is not None


def _has_mlir() -> bool:
    return shutil.which(environment().mlir_opt or "mlir-opt-22") is not None


def _has_browser() -> bool:
    return shutil.which("chromium") is not None and importlib.util.find_spec("playwright") is not None


def _has_nvrtc() -> bool:
    try:
        from cuda.bindings import nvrtc

        return int(nvrtc.nvrtcVersion()[0]) == 0
    except (ImportError, RuntimeError):
        return False


settings.register_profile("ci", derandomize=True, database=None, deadline=None)
"""Where `CI` is set, generated tests try the same cases every time; elsewhere new ones."""
if os.environ.get("CI"):
    settings.load_profile("ci")


CONDITIONS: dict[str, tuple[Callable[[], bool], str]] = {
    "gpu": (_has_gpu, "no NVIDIA GPU with CuPy"),
    "mlir": (_has_mlir, "no mlir-opt-22 (Debian package mlir-22-tools)"),
    "browser": (_has_browser, "no chromium with playwright"),
    "nvrtc": (_has_nvrtc, "no NVRTC (extra [nvrtc])"),
}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--no-skips-but",
        metavar="MARKERS",
        help="comma-separated markers whose tests may be skipped; any other skip fails",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Give the run a cache of its own: it neither reads nor fills the user's compiled kernels."""
    if not hasattr(config, "workerinput"):
        folder = tempfile.TemporaryDirectory(prefix="phobos-test-")
        os.environ["PHOBOS_CACHE_DIR"] = folder.name
        config.add_cleanup(folder.cleanup)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for name, (holds, reason) in CONDITIONS.items():
        marked = [item for item in items if item.get_closest_marker(name)]
        if marked and not holds():
            for item in marked:
                item.add_marker(pytest.mark.skip(reason=reason))


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab and a browser for the tests of a module, which are marked `browser`."""
    from tools.lab import start_lab

    with start_lab(tmp_path_factory.mktemp("lab")) as started:
        yield started


def _fail_if_skipped(report: pytest.TestReport | pytest.CollectReport) -> None:
    if report.outcome == "skipped" and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"this run allows no skip of {report.nodeid}: {report.longrepr}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    report = yield
    allowed = item.config.getoption("--no-skips-but")
    if allowed is not None and not any(item.get_closest_marker(m) for m in allowed.split(",")):
        _fail_if_skipped(report)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector: pytest.Collector):
    report = yield
    if collector.config.getoption("--no-skips-but") is not None:
        _fail_if_skipped(report)
    return report
