"""Texts that are run on a GPU by `tests.gpu.documented`: here, that they could be."""

from __future__ import annotations

import ast

import pytest

from phobos_nb.cli import parser
from tests.documented import steps

STEPS = [(name, step) for name in ("tuning", "bench") for step in steps(name)]
SHELL = [(f"{n}:{s.line}", s) for n, s in STEPS if s.language == "shell"]
PYTHON = [(f"{n}:{s.line}", s) for n, s in STEPS if s.language == "python"]


def test_commands_and_blocks_are_found():
    """Nine command lines and five blocks at least: the search for them has not gone blind."""
    assert len(SHELL) >= 9
    assert len(PYTHON) >= 5


@pytest.mark.parametrize("step", [s for _, s in SHELL], ids=[i for i, _ in SHELL])
def test_a_command_line_is_one_that_the_program_takes(step):
    """Every option and value of it is accepted by the parser of the command line."""
    assert parser().parse_args(step.arguments).run


@pytest.mark.parametrize("step", [s for _, s in PYTHON], ids=[i for i, _ in PYTHON])
def test_a_block_is_python_with_names_that_there_are(step):
    """It parses, and what it imports of this package exists."""
    tree = ast.parse(step.code)
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and str(node.module).startswith("phobos_nb"):
            module = __import__(str(node.module), fromlist=[a.name for a in node.names])
            assert all(hasattr(module, alias.name) for alias in node.names)
