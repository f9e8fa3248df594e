"""The package's modules, their rooms and what they import, read from the source text."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

PACKAGE = Path(__file__).parents[2] / "phobos_nb"

ROW = re.compile(r"^\| \d+ \| (.+) \|$", re.MULTILINE)


def floors() -> list[list[str]]:
    """The rooms of docs/architecture.md's table, lowest floor first; "then" starts a floor."""
    table = (PACKAGE.parent / "docs" / "architecture.md").read_text("utf-8")
    rows = [re.sub(r"\(.*?\)", "", row) for row in ROW.findall(table)]
    names = [re.findall(r"`([^`]+)`", part) for row in rows for part in row.split(" then ")]
    return [" ".join(found).split() for found in names]


FLOOR_OF = {room: floor for floor, rooms in enumerate(floors()) for room in rooms}
"""`__init__` is not among them: it stands above all and imports lazily."""


@dataclass(frozen=True)
class Import:
    """One import: the module that has it, what it names, and whether it runs when loaded."""

    module: str
    line: int
    target: str
    at_load: bool

    @property
    def room(self) -> str:
        """The room that imports."""
        return room_of(self.module)

    @property
    def package(self) -> str:
        """The top-level package that is imported."""
        return self.target.partition(".")[0]

    def __str__(self) -> str:
        return f"{self.module}:{self.line} imports {self.target}"


def room_of(module: str) -> str:
    """The room of a dotted name below phobos_nb; `__init__` for the package itself."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "__init__"


def modules() -> Iterator[tuple[str, Path]]:
    """Every module of the package with its dotted name."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


def imports(name: str, tree: ast.Module) -> Iterator[Import]:
    """Every import of a module, those inside functions too; type-checking blocks do not count."""
    yield from _walk(name, tree, at_load=True)


def _walk(name: str, node: ast.AST, at_load: bool) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.Import):
            yield from (Import(name, child.lineno, alias.name, at_load) for alias in child.names)
        elif isinstance(child, ast.ImportFrom):
            yield from _names(name, child, at_load)
        inside = isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
        yield from _walk(name, child, at_load and not inside)


def _names(name: str, node: ast.ImportFrom, at_load: bool) -> Iterator[Import]:
    base = node.module or ""
    if base == "phobos_nb":
        yield from (Import(name, node.lineno, f"{base}.{a.name}", at_load) for a in node.names)
    else:
        yield Import(name, node.lineno, "." * node.level + base, at_load)


def all_imports() -> list[Import]:
    """Every import of every module of the package."""
    return [i for name, path in modules() for i in imports(name, ast.parse(path.read_text("utf-8")))]
