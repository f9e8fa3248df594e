"""Rules about the files of the project as a whole."""

from __future__ import annotations

import ast
import json
import re
import subprocess
from functools import cache
from pathlib import Path

import nbformat

from tests.house.rooms import modules

ROOT = Path(__file__).parents[2]
MACHINE_PATH = re.compile(r"(?<![\w.~])/(?:work|root|farm|home)/\w")
BINARY = {".png", ".npz", ".gz"}


@cache
def texts() -> dict[str, str]:
    """The text files that git tracks, by their path below the root."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    kept = [p for p in paths if p.suffix not in BINARY and p.is_file()]
    return {str(p.relative_to(ROOT)): p.read_text("utf-8") for p in kept}


def test_no_file_names_a_path_of_one_machine() -> None:
    """No absolute path of somebody's machine is in the tree, saved notebook outputs included."""
    found = {p: m[0] for p, text in texts().items() if (m := MACHINE_PATH.search(text))}
    assert found == {}


def test_python_files_are_ascii() -> None:
    """Code outside the tests of text is ASCII only, so that it reads the same everywhere."""
    python = {p: t for p, t in texts().items() if p.endswith(".py") and not p.startswith("tests/")}
    assert [p for p, text in python.items() if not text.isascii()] == []


def test_no_module_is_longer_than_500_lines() -> None:
    """A module above 500 lines holds more than one idea."""
    lengths = {name: len(path.read_text("utf-8").splitlines()) for name, path in modules()}
    assert {name: n for name, n in lengths.items() if n > 500} == {}


def test_every_module_says_what_it_is() -> None:
    """Each module that holds code starts with a docstring."""
    trees = {name: ast.parse(path.read_text("utf-8")) for name, path in modules()}
    assert [name for name, tree in trees.items() if tree.body and not ast.get_docstring(tree)] == []


def test_every_test_states_its_claim() -> None:
    """A test's docstring says what it claims."""
    trees = {p: ast.parse(t) for p, t in texts().items() if p.startswith("tests/") and p.endswith(".py")}
    silent = [
        f"{path}:{node.lineno} {node.name}"
        for path, tree in trees.items()
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef)
        if node.name.startswith("test_") and not ast.get_docstring(node)
    ]
    assert silent == []


def notebooks() -> dict[str, nbformat.NotebookNode]:
    """The committed notebooks, by path."""
    found = {p: text for p, text in texts().items() if p.endswith(".ipynb")}
    return {p: nbformat.reads(text, as_version=4) for p, text in found.items()}


def test_committed_notebooks_can_be_read_anywhere() -> None:
    """Valid, no widget state (GitHub refuses it), a kernelspec that every Jupyter has."""
    for path, notebook in notebooks().items():
        nbformat.validate(notebook)
        assert "widgets" not in notebook.metadata, path
        assert notebook.metadata.kernelspec.name == "python3", path


def test_no_saved_cell_is_larger_than_150_kb() -> None:
    """GitHub and nbviewer show the whole notebook."""
    sizes = {(p, c.id): len(json.dumps(c)) for p, n in notebooks().items() for c in n.cells}
    assert {key: size for key, size in sizes.items() if size > 150_000} == {}


def test_nothing_stands_above_a_cell_magic() -> None:
    """A comment above %%phobos would make IPython take it for a line magic."""
    sources = [c.source.lstrip("\n") for n in notebooks().values() for c in n.cells]
    assert [s for s in sources if "\n%%" in s] == []
