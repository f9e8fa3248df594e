"""Compile-time names, attributes and signatures (LANGUAGE sections 1 and 6)."""

from __future__ import annotations

import pytest

from phobos_nb.attributes import table as attributes
from phobos_nb.attributes.tensorcore import Qualified, dots, qualify, qualify_dot
from phobos_nb.builtins import table as builtins
from phobos_nb.compilation.module import compile as compile_text
from phobos_nb.diagnostics import PhobosError
from phobos_nb.dtypes import BF16, F16, F32, F64, I8
from phobos_nb.language.frontend import check, kernel_signature, parse
from phobos_nb.language.space import search_values
from phobos_nb.source import Source
from tests.language.programs import FLASH, GEMM, errors, failure, findings, placed, typed


@pytest.mark.parametrize(
    ("written", "values"),
    [
        ((32, 256), (32, 64, 128, 256)),
        ((64, 200), (64, 128, 200)),
        ((32, 48), (32, 48)),
        ((64, 128), (64, 128)),
        ((256, 16), (256, 16)),
        ((32, 64, 96), (32, 64, 96)),
        ((7,), (7,)),
        ((0, 4), (0, 1, 2, 4)),
        ((0, 1), (0, 1)),
    ],
)
def test_search_values(written: tuple[int, ...], values: tuple[int, ...]):
    """Two ascending values are bounds in doubling steps; any other list is the list itself."""
    assert search_values(written) == values


def test_names_not_given_take_the_first_value():
    """A kernel's constants are what was given, and the first of the space otherwise."""
    kernel = typed(GEMM, TILE_N=48)
    assert kernel.constants == {"TILE_M": 32, "TILE_N": 48, "TILE_K": 4}
    assert kernel.promises == {"M": 32, "N": 48, "K": 4}
    assert kernel.space["TILE_K"] == (4, 8, 16, 32)
    assert (kernel.threads, kernel.min_blocks, kernel.max_registers) == (256, 0, 0)


def test_unknown_constants_are_errors():
    """A constant that the kernel has not is PH404 with a guess, unless it is the compiler's own."""
    error = failure(GEMM, TILE_X=3)
    assert error is not None
    assert error.diagnostics[0].code == "PH404"
    assert "did you mean `TILE_" in error.diagnostics[0].help
    program = parse(Source(GEMM))
    assert check(program, "gemm", {"STAGES": 3}, builtins(), attributes(), choices=("STAGES",))


def test_unknown_kernel():
    """A kernel that is not there is PH108 with a guess."""
    with pytest.raises(PhobosError, match="did you mean `gemm`"):
        check(parse(Source(GEMM)), "gem", {}, builtins(), attributes())


def test_signature():
    """The signature needs no constants and tells symbols from compile-time names."""
    signature = kernel_signature(parse(Source(FLASH)), "flash")
    assert signature.symbols == ("H", "NQ", "NK")
    assert signature.constants == {"BR", "BC", "D", "CAUSAL"}
    assert signature.attributes == ("autotune", "launch", "tensorcore")
    assert signature.dtypes({"K": F32, "Q": BF16}) == {"T": BF16}
    assert str(signature).startswith("kernel flash(Q: tensor<T>[H, NQ, D], ")


def kernel_with(attribute: str) -> str:
    return f"@autotune(T in [16, 64])\n{attribute}\nkernel k(x: tensor<f32>[N, 8]) {{ x[0, 0] = 1.0 }}"


@pytest.mark.parametrize(
    ("attribute", "expected"),
    [
        ("@launch", [("PH402", 2, 1)]),
        ("@launch(100)", [("PH402", 2, 9)]),
        ("@launch(2048)", [("PH402", 2, 9)]),
        ("@launch(0)", [("PH402", 2, 9)]),
        ("@launch(64, 99)", [("PH402", 2, 13)]),
        ("@launch(64, 2, 300)", [("PH402", 2, 16)]),
        ("@launch(64, 2, 32, 1)", [("PH402", 2, 20)]),
        ("@launch(threads = 64)", [("PH402", 2, 9)]),
        ("@launch(1.5)", [("PH402", 2, 9)]),
        ("@launch(X)", [("PH402", 2, 9)]),
        ("@launch(64 + 64)", [("PH402", 2, 9)]),
        ("@launch(64)\n@launch(64)", [("PH403", 3, 1)]),
        ("@aligned", [("PH402", 2, 1)]),
        ("@aligned(16)", [("PH402", 2, 10)]),
        ("@aligned(M = 16)", [("PH402", 2, 10)]),
        ("@aligned(N = 0)", [("PH402", 2, 10)]),
        ("@aligned(N = TT)", [("PH402", 2, 10)]),
        ("@aligned(N = 4, N = 4)", [("PH402", 2, 17)]),
        ("@pipeline(1)", [("PH402", 2, 11)]),
        ("@pipeline(2, 3)", [("PH402", 2, 14)]),
        ("@tensorcore(wma)", [("PH402", 2, 13)]),
        ("@swizzle(3)", [("PH402", 2, 10)]),
        ("@autotune(Y in [4, 8])", [("PH403", 2, 1)]),
        ("@launch(T)\n@aligned(N = T)\n@pipeline(3)", []),
    ],
)
def test_attribute_arguments(attribute: str, expected: list[tuple[str, int, int]]):
    """A wrong argument of an attribute is an error at its place."""
    assert errors(kernel_with(attribute), T=64) == expected


@pytest.mark.parametrize("argument", ["", "()", "(X = 4)", "(X in [])", "(X in [-1, 4])", "(4)"])
def test_autotune_arguments(argument: str):
    """`@autotune` wants names with lists of values that are not negative."""
    found = errors(f"@autotune{argument}\nkernel k(x: tensor<f32>[N]) {{ x[0] = 1.0 }}")
    assert [code for code, _, _ in found] == ["PH402"]


def test_unknown_attribute_warns_with_a_guess():
    """`@autotunne` is a visible warning that asks whether `autotune` was meant."""
    kernel = typed(kernel_with("@pipelin"))
    assert findings(kernel) == [("PH401", 2, 1)]
    assert kernel.findings[0].help == "did you mean `pipeline`?"


INERT = [
    "registers",
    "dynshared",
    "swizzle",
    "padstage",
    "persistent",
    "fast_math",
    "readonly",
    "assert_coalesced",
    "cluster",
]


@pytest.mark.parametrize("name", INERT)
def test_attributes_without_effect_say_so(name: str):
    """An accepted attribute that changes nothing yet leaves a note at its place."""
    assert findings(typed(kernel_with(f"@{name}"))) == [("PH406", 2, 1)]


def test_every_attribute_is_documented():
    """Each attribute has a signature, a doc and an effect, and its file has its name."""
    for name, spec in attributes().items():
        assert spec.name == name
        assert spec.signature.startswith(f"@{name}")
        assert spec.doc.endswith(".")
        assert spec.effect.endswith(".")


@pytest.mark.parametrize(
    ("shape", "operand", "threads", "expected"),
    [
        ((128, 128, 16), F32, 256, Qualified(2, 4, F16)),
        ((64, 64, 32), F16, 128, Qualified(2, 2, F16)),
        ((32, 256, 16), BF16, 256, Qualified(1, 8, BF16)),
        ((16, 16, 16), I8, 32, Qualified(1, 1, I8)),
        ((8, 8, 4), F32, 256, "tile 8x8x4 is not a multiple of 16"),
        ((32, 32, 16), F32, 256, "8 warps do not tile the 2x2 fragments of a 32x32 tile"),
        ((64, 64, 16), F64, 128, "operands of f64 have no tensor-core path"),
    ],
)
def test_tensor_core_qualification(
    shape: tuple[int, int, int], operand: object, threads: int, expected: object
):
    """Sides are multiples of 16 and warps tile the fragments; f32 is rounded to f16."""
    found = qualify(*shape, operand, threads)  # type: ignore[arg-type]
    if isinstance(found, Qualified) and isinstance(expected, Qualified):
        assert found.warps_m * found.warps_n == expected.warps_m * expected.warps_n
        assert found.operand == expected.operand
    else:
        assert found == expected


def test_dots_that_fall_back_leave_a_note():
    """`@tensorcore` with a tile of 8x8x4 says that tensor cores are not used, at the dot."""
    text = GEMM.replace("@pipeline", "@tensorcore").replace("[32, 256]", "[8, 64]")
    kernel = typed(text)
    assert findings(kernel) == [("PH407", 18, 12)]
    assert "tile 8x8x4 is not a multiple of 16: tensor cores not used" in kernel.findings[0].message
    big = typed(text, TILE_M=64, TILE_N=64, TILE_K=16)
    assert big.findings == ()
    (dot,) = dots(big)
    assert isinstance(qualify_dot(dot, big), Qualified)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("kernel k<D: int>(x: tensor<f32>[N])", [("PH111", 1, 10)]),
        ("kernel k<D: int = true>(x: tensor<f32>[N])", [("PH405", 1, 10)]),
        ("kernel k<D: bool = 3>(x: tensor<f32>[N])", [("PH405", 1, 10)]),
        ("kernel k<T: dtype>(x: tensor<T>[N])", [("PH111", 1, 10)]),
        ("kernel k(x: tensor<f23>[N])", [("PH117", 1, 20)]),
        ("kernel k(x: tile<f32>[4])", [("PH104", 1, 13)]),
        ("kernel k(n: i32, x: tensor<f32>[n])", [("PH109", 1, 33)]),
        ("kernel k(x: f32, x: f32)", [("PH102", 1, 18)]),
        ("kernel k(x: tensor<f32>[-1])", [("PH105", 1, 25)]),
    ],
)
def test_headers(header: str, expected: list[tuple[str, int, int]]):
    """Compile-time parameters need values of their kind; parameters need types and distinct names."""
    assert errors(header + " { }") == expected


def test_generics_are_constants_in_types_and_branches():
    """An int parameter is a dim, a bool one decides branches, both can be given."""
    text = (
        "kernel k<D: int = 4, F: bool = false>(x: tensor<f32>[N, D]) {\n"
        "  if F { var t: tile<f32>[D, 2 * D] = 0.0\n } else { nope() }\n}"
    )
    assert errors(text) == [("PH101", 3, 11)]
    kernel = typed(text, F=1, D=8)
    assert kernel.tensor_parameters[0].dims == ("N", 8)


def test_errors_of_all_kernels_come_together():
    """A text with faults in two kernels raises one error that holds both."""
    text = "kernel a(x: f32) { let b = nope }\nkernel c(x: f32) { }\nkernel d(x: f32) { let e = nada }"
    with pytest.raises(PhobosError) as caught:
        compile_text(text)
    assert [placed(d, Source(text)) for d in caught.value.diagnostics] == [
        ("PH101", 1, 28),
        ("PH101", 3, 28),
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "kernel a(x: f32) { let = 1 }\nkernel c(x: f32) { let e = nada }\n",
            [("PH004", 1, 24), ("PH101", 2, 28)],
        ),
        ("kernel a(x: f32) { let e = nada }\nkernel (x: f32) { }\n", [("PH004", 2, 8)]),
        ("fn f(x: f32) { let = 1 }\nkernel a(x: f32) { f(nada) }\n", [("PH004", 1, 20)]),
        ("@launch(\nkernel a(x: f32) { let e = nada }\n", [("PH004", 2, 1)]),
    ],
)
def test_sound_kernels_are_checked_beside_faulty_ones(text: str, expected: list[tuple[str, int, int]]):
    """A syntax error in one kernel does not hide a wrong name in another."""
    with pytest.raises(PhobosError) as caught:
        compile_text(text)
    assert [placed(d, Source(text)) for d in caught.value.diagnostics] == expected


def test_a_near_name_stands_before_the_kernels_own():
    """For `TIL` the help asks for `TILE`, then lists the kernel's names and says where others are."""
    text = "@autotune(TILE in [4, 8])\nkernel k(x: tensor<f32>[N]) { x[0 :+ TILE] = 0.0 }"
    with pytest.raises(PhobosError) as caught:
        check(parse(Source(text)), "k", {"TIL": 3}, builtins(), attributes(), choices=("STAGES",))
    assert caught.value.diagnostics[0].help == (
        "did you mean `TILE`? it has N, TILE; docs/reference/choices.md lists the compiler's own"
    )
