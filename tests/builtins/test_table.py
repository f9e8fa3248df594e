"""The table of built-ins: nothing appears, vanishes or goes undocumented by accident."""

from __future__ import annotations

from phobos_nb.builtins import table

NAMES = [
    "abs",
    "atomic_add",
    "atomic_cas",
    "atomic_max",
    "atomic_min",
    "barrier",
    "bits",
    "block_max",
    "block_min",
    "block_sum",
    "byteperm",
    "ceil",
    "colmax",
    "colmin",
    "colsum",
    "cos",
    "cumsum",
    "dot",
    "dot_t",
    "erf",
    "exp",
    "exp2",
    "flat",
    "floor",
    "fma",
    "from_bits",
    "gather",
    "iota",
    "lane_max",
    "lane_min",
    "lane_sum",
    "log",
    "log2",
    "max",
    "min",
    "popcount",
    "pow",
    "round",
    "rowargmax",
    "rowmax",
    "rowmin",
    "rowsum",
    "rsqrt",
    "shuffle",
    "shuffle_down",
    "shuffle_xor",
    "sigmoid",
    "sin",
    "sqrt",
    "tanh",
    "tmax",
    "tmin",
    "transpose",
    "tril",
    "triu",
    "where",
]


def test_the_table_holds_the_language_s_built_ins() -> None:
    """Section 5 of the language, name by name, sorted."""
    assert list(table()) == NAMES


def test_every_built_in_says_how_it_is_written_and_what_it_does() -> None:
    """The signature starts with the name; the doc is a sentence."""
    for name, spec in table().items():
        assert spec.name == name
        assert spec.signature.startswith(f"{name}(")
        assert spec.doc.endswith(".")
        assert len(spec.doc) > 15
