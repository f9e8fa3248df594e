"""The printed text: names, places, bounds, shared memory, in-place updates, loads."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import FileLineColLoc, IntAttr, StringAttr

from phobos_nb import target
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.emit import Place, emit, entry_name
from phobos_nb.cuda.emit.names import Names, identifier

SM_80 = target.get("sm_80")


def lines(module, chip: str = "sm_80") -> list[str]:
    return [line.strip() for line in emit(module, target.get(chip)).readable.splitlines()]


@pytest.mark.parametrize(
    ("text", "name"),
    [("acc", "acc"), ("\u03b1", "u03b1_"), ("x-y", "x_y"), ("7up", "v7up"), ("_x", "v_x"), ("", "v")],
)
def test_identifiers_are_legal_and_readable(text, name):
    """ASCII letters stay, other letters become their code, the start is a letter."""
    assert identifier(text) == name


def test_names_are_unique_and_no_words_of_cpp():
    """A second `acc` is `acc_1`; `class` and `threadIdx` are never handed out as they are."""
    names = Names()
    given = [names.fresh(hint) for hint in ("acc", "acc", "acc_1", "class", "threadIdx", None, None)]
    assert given == ["acc", "acc_1", "acc_2", "class_1", "threadIdx_1", "v_0", "v_1"]


@pytest.mark.nvrtc
def test_a_kernel_and_arguments_named_like_keywords_compile(module):
    """Every C++ keyword is a legal name in the language; the entry's C name is told."""
    body = """
        %s = arith.addf %double, %expf : f32
        %e = math.exp %s : f32
        memref.store %e, %class[%main] : memref<?xf32>
        """
    arguments = "%class: memref<?xf32>, %double: f32, %expf: f32, %main: index"
    cuda = emit(module(arguments, body, name="double"), SM_80)
    assert cuda.entry == entry_name("double") == "double_kernel"
    result = nvrtc.compile(cuda.text, "sm_80")
    assert f".entry {cuda.entry}(" in result.ptx


def test_the_source_says_what_a_launch_must_know(module):
    """Entry, parameter types in order, threads, shared bytes and whether they are given at launch."""
    body = """
        %c0 = arith.constant 0 : index
        %smem = "gpu.dynamic_shared_memory"() : () -> memref<?xi8, #gpu.address_space<workgroup>>
        %x = memref.load %A[%c0] : memref<?xf32>
        memref.store %x, %B[%n] : memref<?xf32>
        """
    arguments = "%A: memref<?xf32>, %B: memref<?xf32>, %n: index, %s: bf16"
    cuda = emit(module(arguments, body, threads=96, assumes="n = 5 : i64"), SM_80)
    assert cuda.parameters == (
        "const float* __restrict__",
        "float* __restrict__",
        "const long long",
        "const bf16",
    )
    assert (cuda.threads, cuda.static_shared, cuda.dynamic_shared) == (96, 0, 4096)
    assert "__launch_bounds__(96, 1)" in cuda.text
    assert "extern __shared__ __align__(128) unsigned char smem[];" in cuda.text


def test_index_arguments_have_the_kernels_index_width(module):
    """A launch passes 64-bit sizes unless the kernel was compiled for 32; narrowing happens inside."""
    cuda = emit(module("%n: index", "", index_bits=32), SM_80)
    assert cuda.parameters == ("const int",)
    cuda = emit(module("%n: index", "", assumes="n = 9 : i64"), SM_80)
    assert cuda.parameters == ("const long long",)
    assert "const int n = (int)n_wide;" in cuda.text


def test_a_register_cap_replaces_the_launch_bounds(module):
    """CUDA takes one of the two on a kernel."""
    cuda = emit(module("", "", registers=96), SM_80)
    assert "__maxnreg__(96)" in cuda.text
    assert "__launch_bounds__" not in cuda.text


def test_line_directives_appear_only_where_the_line_changes(module):
    """An operation's location becomes `#line`; lines that count on by themselves need none."""
    made = module("%a: f32", "%b = arith.addf %a, %a : f32\n%c = arith.addf %b, %b : f32")
    ops = [op for op in made.walk() if op.name == "arith.addf"]
    for op, line in zip(ops, (12, 13), strict=True):
        op.location = FileLineColLoc(StringAttr('In "1"'), IntAttr(line), IntAttr(1))
    cuda = emit(made, SM_80)
    assert [x for x in cuda.text.splitlines() if x.startswith("#line")] == ['#line 12 "In \\"1\\""']
    places = {line.text.strip(): line.place for line in cuda.lines}
    assert places["const float b = a + a;"] == Place('In "1"', 12)
    assert places["const float c = b + b;"] == Place('In "1"', 13)
    assert "#line" not in cuda.readable


def test_an_update_of_a_vector_nobody_else_reads_is_in_place(module):
    """The accumulator of a loop is one variable; a vector that is read again is copied."""
    body = """
        %c0 = arith.constant 0 : index
        %c1 = arith.constant 1 : index
        %v = arith.constant dense<0.0> : vector<4x4xf32>
        %x = vector.broadcast %a : f32 to vector<4xf32>
        %r = scf.for %k = %c0 to %n step %c1 iter_args(%acc = %v) -> (vector<4x4xf32>) {
          %next = "vector.outerproduct"(%x, %x, %acc) <{kind = #vector.kind<add>}>
            : (vector<4xf32>, vector<4xf32>, vector<4x4xf32>) -> vector<4x4xf32>
          scf.yield %next : vector<4x4xf32>
        }
        %once = vector.insert %a, %r[0, 0] : f32 into vector<4x4xf32>
        %twice = vector.insert %a, %r[1, 1] : f32 into vector<4x4xf32>
        %sum = arith.addf %once, %twice : vector<4x4xf32>
        """
    found = lines(module("%a: f32, %n: index", body))
    assert "vec<float, 16> acc = vec<float, 16>{};" in found
    assert any("acc.e[_i * 4 + _q] = fmaf(a, a, acc.e[_i * 4 + _q]);" in line for line in found)
    assert not any(line.startswith("acc = ") for line in found)
    assert "vec<float, 16> once = acc;" in found
    assert "vec<float, 16> twice = acc;" in found


def test_copies_under_a_condition_carry_it(module):
    """A branch with nothing but copies and arithmetic is printed without a branch."""
    body = """
        %c0 = arith.constant 0 : index
        %smem = memref.get_global @smem : memref<4096xi8, #gpu.address_space<workgroup>>
        %tile = memref.view %smem[%c0][] : memref<4096xi8, #gpu.address_space<workgroup>>
          to memref<64xf32, #gpu.address_space<workgroup>>
        scf.if %go {
          %at = arith.addi %n, %n : index
          %t = "nvgpu.device_async_copy"(%tile, %c0, %A, %at)
            <{dstElements = 4 : index, bypassL1, operandSegmentSizes = array<i32: 1, 1, 1, 1, 0>}>
            : (memref<64xf32, #gpu.address_space<workgroup>>, index, memref<?xf32>, index)
              -> !nvgpu.device.async.token
        }
        """
    found = lines(module("%A: memref<?xf32>, %n: index, %go: i1", body))
    assert "ph::copy_async_cg_if<16>(&tile[0], &A[at], go);" in found
    assert not any(line.startswith("if (") for line in found)


@pytest.mark.parametrize(
    ("alignment", "count", "expression"),
    [
        (16, 4, "*reinterpret_cast<const vec<float, 4>*>(&A[n])"),
        (16, 16, "*reinterpret_cast<const vec<float, 16>*>(&A[n])"),
        (8, 4, "ph::load<4, 2>(&A[n])"),
        (4, 4, "ph::load<4, 1>(&A[n])"),
        (0, 2, "ph::load<2, 1>(&A[n])"),
        (16, 3, "*reinterpret_cast<const vec<float, 3>*>(&A[n])"),
        (16, 6, "*reinterpret_cast<const vec<float, 6>*>(&A[n])"),
    ],
)
def test_a_load_is_as_wide_as_its_alignment_allows(module, alignment, count, expression):
    """A vector is read as it stands only where its own C++ alignment is known to hold."""
    mark = f"{{alignment = {alignment} : i64}}" if alignment else ""
    body = f"%v = vector.load %A[%n] {mark} : memref<?xf32>, vector<{count}xf32>"
    assert f"vec<float, {count}> v = {expression};" in lines(
        module("%A: memref<?xf32>, %n: index", body)
    )


def test_floats_are_read_back_to_the_same_bits(module):
    """Literals are the shortest that give the bits; infinities and NaN come from their bits."""
    body = """
        %a = arith.constant 0.1 : f32
        %b = arith.constant 0x7f800000 : f32
        %c = arith.constant -0.0 : f32
        %d = arith.constant 0.1 : f64
        %e = arith.constant 1.5 : f16
        %f = arith.constant 3.0 : bf16
        memref.store %a, %A[%n] : memref<?xf32>
        memref.store %b, %A[%n] : memref<?xf32>
        memref.store %c, %A[%n] : memref<?xf32>
        memref.store %d, %D[%n] : memref<?xf64>
        memref.store %e, %E[%n] : memref<?xf16>
        memref.store %f, %F[%n] : memref<?xbf16>
        """
    arguments = "%A: memref<?xf32>, %D: memref<?xf64>, %E: memref<?xf16>, %F: memref<?xbf16>, %n: index"
    stored = [line.split(" = ")[1] for line in lines(module(arguments, body)) if "[n] = " in line]
    assert stored == [
        "0.1f;",
        "__int_as_float((int)0x7f800000u);",
        "-0.0f;",
        "0.1;",
        "f16{0x3e00};",
        "bf16{0x4040};",
    ]


@pytest.mark.nvrtc
def test_products_and_sums_do_not_fuse(module):
    """`a * b + c` stays a product and a sum in the machine code's source; `math.fma` is one fma."""
    body = """
        %p = arith.mulf %a, %b : f32
        %s = arith.addf %p, %c : f32
        memref.store %s, %A[%n] : memref<?xf32>
        %f = math.fma %a, %b, %c : f32
        memref.store %f, %B[%n] : memref<?xf32>
        """
    arguments = "%A: memref<?xf32>, %B: memref<?xf32>, %a: f32, %b: f32, %c: f32, %n: index"
    ptx = nvrtc.compile(emit(module(arguments, body), SM_80).text, "sm_80").ptx
    assert ptx.count("fma.rn.f32") == 1
    assert ptx.count("mul.rn.f32") == 1
    assert ptx.count("add.rn.f32") == 1


@pytest.mark.nvrtc
@pytest.mark.parametrize(
    ("op", "ptx"),
    [("arith.divf", "div.rn.f32"), ("arith.maximumf", "max.NaN.f32"), ("arith.minimumf", "min.NaN.f32")],
)
def test_exact_and_nan_propagating_instructions(module, op, ptx):
    """Division rounds to nearest; maximum and minimum propagate NaN in the instruction itself."""
    body = f"%r = {op} %a, %b : f32\nmemref.store %r, %A[%n] : memref<?xf32>"
    cuda = emit(module("%A: memref<?xf32>, %a: f32, %b: f32, %n: index", body), SM_80)
    assert ptx in nvrtc.compile(cuda.text, "sm_80").ptx
