"""The rooms of docs/architecture.md and the direction of imports between them."""

from __future__ import annotations

import ast
import sys

import pytest

from tests.house.rooms import FLOOR_OF, Import, all_imports, imports, modules, room_of

ALL = all_imports()
OWN = [i for i in ALL if i.package == "phobos_nb"]
OUTSIDE = [i for i in ALL if i.package not in sys.stdlib_module_names and i.package != "phobos_nb"]

# Only these rooms may import these packages, at load or in a function.
KEEPERS = {
    "xdsl": {"ir", "builtins", "attributes", "lower", "cuda", "simulate", "compilation"},
    "cupy": {"cuda"},
    "cuda": {"cuda"},
    "torch": {"cuda"},
    "IPython": {"views", "magic", "__init__"},
    "ipywidgets": {"views", "tune"},
    "anywidget": {"views"},
    "pandas": {"tune", "bench", "simulate", "compilation"},
    "matplotlib": {"views", "tune"},
}


def is_allowed(found: Import) -> bool:
    """Whether an import stays in its room, goes down a floor, or is the public face's lazy one."""
    room, target = found.room, room_of(found.target)
    if room == "__init__":
        return not found.at_load
    if target == room or target in ("__init__", "__version__"):
        return True
    ground = FLOOR_OF[room] == FLOOR_OF[target] == 0
    return ground or FLOOR_OF[target] < FLOOR_OF[room]


def test_the_table_of_rooms_is_read() -> None:
    """The floors come from the document: the ground floor, back ends side by side, the magic above."""
    assert FLOOR_OF["source"] == FLOOR_OF["contract"] == 0
    assert FLOOR_OF["builtins"] < FLOOR_OF["lower"] < FLOOR_OF["cuda"] == FLOOR_OF["simulate"]
    assert FLOOR_OF["compilation"] < FLOOR_OF["views"] < FLOOR_OF["magic"] == FLOOR_OF["cli"]


def test_every_module_is_in_a_room_of_the_architecture() -> None:
    """No module stands outside the rooms that docs/architecture.md lists."""
    rooms = {room_of(name) for name, _ in modules()} - {"__init__"}
    assert rooms <= set(FLOOR_OF)


def test_imports_go_strictly_downward() -> None:
    """No room imports a room beside or above it, not even inside a function."""
    assert [str(i) for i in OWN if not is_allowed(i)] == []


def test_imports_inside_the_package_are_absolute() -> None:
    """Relative imports would hide a module's room."""
    assert [str(i) for i in ALL if i.target.startswith(".")] == []


def test_the_ground_floor_needs_only_the_standard_library() -> None:
    """Ground floor and targets import no third-party package."""
    assert [str(i) for i in OUTSIDE if FLOOR_OF.get(i.room) == 0 or i.room == "target"] == []


@pytest.mark.parametrize("package", KEEPERS)
def test_a_third_party_package_stays_in_its_rooms(package: str) -> None:
    """xDSL, CuPy and the notebook packages are imported only by the rooms that own them."""
    strays = [str(i) for i in OUTSIDE if i.package == package and i.room not in KEEPERS[package]]
    assert strays == []


def test_builtins_and_attributes_import_xdsl_only_inside_functions() -> None:
    """The language can read the tables of built-ins without loading xDSL."""
    tables = [i for i in OUTSIDE if i.room in ("builtins", "attributes") and i.package == "xdsl"]
    lower = [i for i in OWN if i.room in ("builtins", "attributes") and room_of(i.target) == "ir"]
    assert [str(i) for i in (*tables, *lower) if i.at_load] == []


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("phobos_nb.language.parser", "from phobos_nb.lower import pipeline"),
        ("phobos_nb.cuda.print", "def f():\n    from phobos_nb.simulate import run"),
        ("phobos_nb.source", "import phobos_nb.language"),
        ("phobos_nb", "from phobos_nb import compilation"),
    ],
)
def test_an_upward_import_is_found(module: str, text: str) -> None:
    """The rule itself works: an upward, a sideways, and an eager public import are each reported."""
    (found,) = imports(module, ast.parse(text))
    assert not is_allowed(found)
