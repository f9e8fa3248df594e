"""Parameters that nothing uses, kernels without a result, values that no search would try."""

from __future__ import annotations

import pytest

from phobos_nb.language.typed import TypedKernel
from tests.language.programs import FLASH, GEMM, placed, typed


def codes(kernel: TypedKernel) -> list[tuple[str, int, int]]:
    return [placed(d, kernel.source) for d in kernel.findings]


def test_an_unused_parameter_is_named() -> None:
    """PH119 stands at the parameter; one that gives an extent or is used in a decided branch is used."""
    text = "kernel k(A: tensor<f32>[N], s: f32) { A[0 :+ 4] = 1.0 }"
    assert codes(typed(text)) == [("PH119", 1, 29)]
    extent = "kernel k(A: tensor<f32>[N], B: tensor<f32>[M]) { A[0 :+ 4] = f32(M) }"
    assert codes(typed(extent)) == []
    branch = "kernel k<C: bool = false>(A: tensor<f32>[N], s: f32) {\n A[0] = 1.0\n if C { A[1] = s }\n}"
    assert codes(typed(branch)) == []


@pytest.mark.parametrize("last", ["A[0 :+ 4] = t", 'print("{}", A[0])', "atomic_add(A, 0, 1.0)"])
def test_a_kernel_without_a_result_is_named(last: str) -> None:
    """PH213 stands at the kernel's name where it stores and prints nothing."""
    text = "kernel k(A: tensor<f32>[N]) {\n  var t = A[0 :+ 4] * 2.0\n"
    assert codes(typed(text + "}")) == [("PH213", 1, 8)]
    assert "PH213" not in [code for code, _, _ in codes(typed(f"{text}  {last}\n}}"))]


def test_whole_kernels_use_everything() -> None:
    """The GEMM and the attention leave nothing undone."""
    assert codes(typed(GEMM)) == codes(typed(FLASH)) == []


def test_a_value_outside_the_list_is_noted() -> None:
    """PH409 for TILE_N = 48, which is no doubling of 32."""
    assert [code for code, _, _ in codes(typed(GEMM, TILE_N=48))] == ["PH409"]
    assert codes(typed(GEMM, TILE_N=64)) == []


def test_an_uncalled_function_is_named_once() -> None:
    """PH120 stands at the name of a function that no kernel reaches, with the first kernel alone."""
    text = (
        "fn a(x: f32) -> f32 { return b(x) }\nfn b(x: f32) -> f32 { return x }\n"
        "fn c(x: f32) -> f32 { return d(x) }\nfn d(x: f32) -> f32 { return x }\n"
        "kernel k(A: tensor<f32>[N]) { A[0] = a(1.0) }\nkernel l(A: tensor<f32>[N]) { A[0] = 1.0 }"
    )
    assert codes(typed(text, "k")) == [("PH120", 3, 4), ("PH120", 4, 4)]
    assert codes(typed(text, "l")) == []
