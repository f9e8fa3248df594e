"""environment.yml says of packages what pyproject.toml says; conda itself is not run here."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet

ROOT = Path(__file__).parents[2]
PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
EXTRAS: dict[str, list[str]] = PROJECT["optional-dependencies"]
ENVIRONMENT: dict[str, Any] = yaml.safe_load((ROOT / "environment.yml").read_text("utf-8"))
CONDA = [d for d in ENVIRONMENT["dependencies"] if isinstance(d, str) and d != "pip"]


def bounds(lines: list[str]) -> dict[str, SpecifierSet]:
    """Bounds by package."""
    return {r.name: r.specifier for r in map(Requirement, lines)}


def test_conda_packages_have_the_bounds_of_pip():
    """Each is a dependency, or a tool of the tests such as JupyterLab, with the same specifier."""
    known = bounds([*PROJECT["dependencies"], *EXTRAS["test"]])
    listed = bounds([d for d in CONDA if not d.startswith("python=")])
    assert listed
    assert {name: str(found) for name, found in listed.items()} == {
        name: str(known[name]) for name in listed
    }


def test_its_python_is_one_that_the_package_takes():
    """One minor version, inside `requires-python`."""
    (python,) = [d for d in CONDA if d.startswith("python=")]
    version = re.fullmatch(r"python=(3\.\d+)", python)
    assert version
    assert version[1] in SpecifierSet(PROJECT["requires-python"])


def test_pip_installs_this_checkout_with_extras_that_there_are():
    """One line, editable, of extras in pyproject.toml, after conda's own pip."""
    (of_pip,) = [d["pip"] for d in ENVIRONMENT["dependencies"] if isinstance(d, dict)]
    (line,) = of_pip
    found = re.fullmatch(r"-e \.\[([\w,]+)\]", line)
    assert found
    assert set(found[1].split(",")) <= set(EXTRAS)
    assert "pip" in ENVIRONMENT["dependencies"]


def test_what_the_package_needs_comes_from_conda_or_from_pip():
    """Pip resolves all dependencies, so that conda has to list a part of them only, and JupyterLab."""
    needed = set(bounds(PROJECT["dependencies"]))
    assert set(bounds([d for d in CONDA if not d.startswith("python=")])) - needed == {"jupyterlab"}
