"""The meaning of every example against float64, over its shapes, configurations and layouts."""

from __future__ import annotations

import numpy as np
import pytest

from phobos_nb import attributes, builtins
from phobos_nb.language.frontend import check, parse
from phobos_nb.language.meaning import blocks, run
from phobos_nb.language.typed import TypedKernel
from phobos_nb.source import Source
from tests.examples_cases import CASES, LAYOUTS, copied, with_layout

EACH = pytest.mark.parametrize("name", CASES)
RNG = np.random.default_rng(0)


def kernel(name: str, constants: dict[str, int]) -> TypedKernel:
    case = CASES[name]
    source = Source(case.path.read_text("utf-8"), case.path.name)
    tables = builtins.table(), attributes.table()
    return check(parse(source), case.kernel, constants, *tables, dtypes=case.dtypes)


@EACH
def test_every_example_is_right(name: str) -> None:
    """Three configurations, all shapes: every element within the bound of its operation count."""
    case = CASES[name]
    for constants in case.configurations:
        typed = kernel(name, constants)
        for shape in case.shapes(constants):
            arguments = case.arrays(shape, RNG)
            before = copied(arguments)
            run(typed, arguments, case.grid(constants, before), builtins=builtins.table())
            assert max(case.excess(before, arguments).values()) <= 0, (constants, shape)


@EACH
def test_strides_change_nothing(name: str) -> None:
    """Transposed, strided, reversed and shifted arrays give what contiguous ones give."""
    case = CASES[name]
    constants = case.configurations[0]
    typed = kernel(name, constants)
    plain = case.arrays(case.shapes(constants)[1], RNG)
    layouts = {layout: with_layout(plain, layout) for layout in LAYOUTS}
    for arguments in layouts.values():
        run(typed, arguments, case.grid(constants, plain), builtins=builtins.table())
    for out in case.outputs:
        for layout, arguments in layouts.items():
            assert np.array_equal(arguments[out], layouts["contiguous"][out], equal_nan=True), layout


@EACH
def test_the_order_of_ctas_changes_nothing(name: str) -> None:
    """Row-major, reversed and shuffled grids give the same bits: CTAs do not depend on each other."""
    case = CASES[name]
    constants = case.configurations[0]
    typed = kernel(name, constants)
    shape = case.shapes(constants)[0]
    arguments = case.arrays(shape, RNG)
    grid = case.grid(constants, arguments) or typed.grid.shape(shape)
    shuffled = [blocks(grid)[i] for i in RNG.permutation(len(blocks(grid)))]
    results = []
    for order in (None, blocks(grid)[::-1], shuffled):
        own = copied(arguments)
        run(typed, own, grid, ctas=order, builtins=builtins.table())
        results.append(own)
    for own in results[1:]:
        same = [np.array_equal(own[o], results[0][o], equal_nan=True) for o in case.outputs]
        assert all(same)


@EACH
def test_the_first_configuration_is_the_default(name: str) -> None:
    """What a kernel takes when nothing is set is the first configuration of its case, flags aside."""
    case = CASES[name]
    found = kernel(name, {}).constants
    first = {n: v for n, v in case.configurations[0].items() if n != "CAUSAL"}
    assert {n: found[n] for n in first} == first


@EACH
def test_a_wrong_answer_breaks_the_bound(name: str) -> None:
    """One element moved by a thousandth of the largest result, or left out, is found."""
    case = CASES[name]
    constants = case.configurations[0]
    before = case.arrays(case.shapes(constants)[0], RNG)
    right = {**copied(before), **case.reference(before)}
    assert max(case.excess(before, right).values()) <= 0
    out = case.outputs[-1]
    place = np.flatnonzero(np.isfinite(right[out]))[7]
    for wrong in (right[out].flat[place] + 1e-2 * np.nanmax(np.abs(right[out])), np.nan):
        moved = copied(right)
        moved[out].flat[place] = wrong
        assert case.excess(before, moved)[out] > 0


def test_softmax_follows_the_formula_on_special_rows() -> None:
    """NaN, +inf and all -inf give NaN; a first chunk of nothing but -inf does no harm."""
    x = np.zeros((5, 300), np.float32)
    x[0, 7], x[1, 7], x[2] = np.nan, np.inf, -np.inf
    x[3, :256] = -np.inf
    y = np.empty_like(x)
    run(kernel("softmax", {}), {"X": x, "Y": y}, builtins=builtins.table())
    assert np.isnan(y[:3]).all()
    assert np.array_equal(y[3], np.where(np.arange(300) < 256, 0, np.float32(1 / 44)))
    assert np.allclose(y[4], 1 / 300, rtol=1e-6)


def test_flash_attention_ignores_keys_past_the_end() -> None:
    """296 keys of score -8 with V = 1 give exactly 1; scores of -2e9 too (no finite minus infinity)."""
    for score in (-8.0, -2e9):
        q = np.full((1, 64, 64), 0.125, np.float32)
        k = np.full((1, 296, 64), score / 8, np.float32)
        v, o = np.ones_like(k), np.empty_like(q)
        arguments = {"Q": q, "K": k, "V": v, "O": o, "scale": 1.0}
        run(kernel("flash_attention_fp32", {"BC": 64}), arguments, builtins=builtins.table())
        assert np.abs(o - 1.0).max() < 1e-6


def test_gemm_reads_nothing_past_its_operands() -> None:
    """NaN bytes after the last column of A and the last row of B never reach C."""
    a, b = (np.full((64, 64), np.nan, np.float32) for _ in range(2))
    a[:40, :41], b[:41, :40] = 1.0, 1.0
    c = np.zeros((40, 40), np.float32)
    arguments = {"A": a[:40, :41], "B": b[:41, :40], "C": c, "alpha": 1.0, "beta": 0.0}
    run(kernel("gemm_fp32_any", {}), arguments, builtins=builtins.table())
    assert np.array_equal(c, np.full((40, 40), 41.0))


def test_rounding_follows_the_tensor_cores() -> None:
    """With `rounding` the result is that of operands rounded to f16 beforehand."""
    case = CASES["gemm_fp16tc_fp32acc"]
    constants = case.configurations[0]
    arguments = case.arrays(case.shapes(constants)[1], RNG)
    rounded = copied(arguments)
    for name in "AB":
        rounded[name] = rounded[name].astype(np.float16).astype(np.float32)
    exact = copied(arguments)
    typed = kernel(case.name, dict(constants))
    run(typed, exact, builtins=builtins.table())
    run(typed, arguments, builtins=builtins.table(), rounding=True)
    run(typed, rounded, builtins=builtins.table())
    assert np.array_equal(arguments["C"], rounded["C"])
    assert not np.array_equal(arguments["C"], exact["C"])
