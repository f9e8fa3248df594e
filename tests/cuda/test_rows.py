"""Every row prints CUDA C++ that NVRTC takes for every target, and every thread-level op has a row."""

from __future__ import annotations

import pytest

from phobos_nb import target
from phobos_nb.cuda import nvrtc
from phobos_nb.cuda.emit import emit
from phobos_nb.cuda.emit.table import ROWS
from phobos_nb.ir.atomic_kinds import AtomicKind
from phobos_nb.ir.context import DIALECTS
from tests.cuda import test_bulk_rows, test_tensor_core_rows

FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("i8", "i32", "i64", "index")
WORKGROUP = "#gpu.address_space<workgroup>"


def _integers(type: str) -> str:
    names = (
        "addi subi muli divsi divui remsi remui floordivsi ceildivsi ceildivui minsi maxsi minui maxui"
    )
    plain = [f"arith.{n} %a, %b : {type}" for n in f"{names} andi ori xori shli shrsi shrui".split()]
    compared = [
        f"arith.cmpi {p}, %a, %b : {type}"
        for p in ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
    ]
    if type != "index" and "xindex" not in type:
        plain += [f"math.{n} %a : {type}" for n in ("absi", "ctpop", "ctlz", "cttz")]
    return "\n".join(f"%x{k} = {line}" for k, line in enumerate([*plain, *compared]))


def _floats(type: str) -> str:
    names = "addf subf mulf divf remf maximumf minimumf maxnumf minnumf"
    lines = [f"arith.{n} %a, %b : {type}" for n in names.split()]
    lines += [f"math.{n} %a, %b : {type}" for n in ("atan2", "copysign", "powf")]
    lines += [f"math.fma %a, %b, %a : {type}", f"arith.negf %a : {type}"]
    unary = (
        "absf acos acosh asin asinh atan atanh cbrt ceil cos cosh erf exp exp2 expm1 floor log log10 "
        "log1p log2 round roundeven rsqrt sin sinh sqrt tan tanh trunc"
    )
    lines += [f"math.{n} %a : {type}" for n in unary.split()]
    predicates = "false oeq ogt oge olt ole one ord ueq ugt uge ult ule une uno true"
    lines += [f"arith.cmpf {p}, %a, %b : {type}" for p in predicates.split()]
    return "\n".join(f"%x{k} = {line}" for k, line in enumerate(lines))


def _casts() -> str:
    lines = [f"arith.extf %{a} : {a} to {b}" for a, b in WIDER]
    lines += [f"arith.truncf %{b} : {b} to {a}" for a, b in WIDER]
    for f in FLOATS:
        for i in ("i8", "i32", "i64"):
            lines += [f"arith.sitofp %{i} : {i} to {f}", f"arith.uitofp %{i} : {i} to {f}"]
            lines += [f"arith.fptosi %{f} : {f} to {i}", f"arith.fptoui %{f} : {f} to {i}"]
        lines += [f"arith.uitofp %flag : i1 to {f}", f"arith.sitofp %flag : i1 to {f}"]
    for a, b in (("i8", "i32"), ("i8", "i64"), ("i32", "i64"), ("i1", "i32")):
        name = "flag" if a == "i1" else a
        lines += [f"arith.extsi %{name} : {a} to {b}", f"arith.extui %{name} : {a} to {b}"]
        lines += [f"arith.trunci %{b} : {b} to {a}"]
    for i in ("i8", "i32", "i64"):
        lines += [f"arith.index_cast %{i} : {i} to index", f"arith.index_cast %index : index to {i}"]
        lines += [f"arith.index_castui %{i} : {i} to index", f"arith.index_castui %index : index to {i}"]
    lines += ["arith.bitcast %f32 : f32 to i32", "arith.bitcast %i32 : i32 to f32"]
    lines += ["arith.bitcast %f64 : f64 to i64", "arith.bitcast %i64 : i64 to f64"]
    lines += ["arith.select %flag, %f16, %f16 : f16"]
    return "\n".join(f"%x{k} = {line}" for k, line in enumerate(lines))


WIDER = (("f16", "f32"), ("f16", "f64"), ("bf16", "f32"), ("bf16", "f64"), ("f32", "f64"))

SCALARS = ", ".join(f"%{t}: {t}" for t in (*FLOATS, *INTEGERS)) + ", %flag: i1"

MEMORY = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %zero = arith.constant 0.0 : f32
  %smem = memref.get_global @smem : memref<4096xi8, {WORKGROUP}>
  %tile = memref.view %smem[%c0][] : memref<4096xi8, {WORKGROUP}> to memref<4x8x16xf32, {WORKGROUP}>
  %one = memref.load %A[%n] : memref<?xf32>
  memref.store %one, %tile[%c0, %c1, %c2] : memref<4x8x16xf32, {WORKGROUP}>
  %four = vector.load %A[%n] {{alignment = 16 : i64}} : memref<?xf32>, vector<4xf32>
  %odd = vector.load %A[%n] : memref<?xf32>, vector<3xf32>
  %pair = vector.load %A[%n] {{alignment = 8 : i64}} : memref<?xf32>, vector<8xf32>
  vector.store %four, %B[%n] {{alignment = 16 : i64}} : memref<?xf32>, vector<4xf32>
  vector.store %pair, %B[%n] {{alignment = 8 : i64}} : memref<?xf32>, vector<8xf32>
  %count = arith.subi %n, %c2 : index
  %mask = vector.create_mask %count : vector<4xi1>
  %other = arith.constant dense<0.0> : vector<4xf32>
  %some = vector.maskedload %A[%n], %mask, %other {{alignment = 16 : i64}}
    : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %B[%n], %mask, %some {{alignment = 16 : i64}}
    : memref<?xf32>, vector<4xi1>, vector<4xf32>
  %flags = vector.create_mask %count : vector<4xi1>
  %no = arith.constant dense<true> : vector<4xi1>
  %mixed = arith.andi %flags, %no : vector<4xi1>
  %few = vector.maskedload %A[%n], %mixed, %other
    : memref<?xf32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  vector.maskedstore %B[%n], %mixed, %few : memref<?xf32>, vector<4xi1>, vector<4xf32>
  %box = vector.create_mask %count, %c2 : vector<4x4xi1>
  %any = vector.extract %box[1, 2] : i1 from vector<4x4xi1>
  %own = memref.alloca() : memref<8xf32>
  memref.store %zero, %own[%c1] : memref<8xf32>
  %again = "memref.cast"(%own) : (memref<8xf32>) -> memref<?xf32>
  %back = memref.load %again[%c1] : memref<?xf32>
  %from = memref.reinterpret_cast %A to offset: [%n], sizes: [1024], strides: [1]
    : memref<?xf32> to memref<1024xf32, strided<[1], offset: ?>>
  %later = memref.subview %from[%c2] [16] [1]
    : memref<1024xf32, strided<[1], offset: ?>> to memref<16xf32, strided<[1], offset: ?>>
  %last = memref.load %later[%c1] : memref<16xf32, strided<[1], offset: ?>>
  %which = arith.select %any, %A, %B : memref<?xf32>
  %read = memref.load %which[%c0] : memref<?xf32>
  %size = memref.dim %tile, %c1 : memref<4x8x16xf32, {WORKGROUP}>
  %dynamic = "gpu.dynamic_shared_memory"() : () -> memref<?xi8, {WORKGROUP}>
  %more = memref.view %dynamic[%c0][] : memref<?xi8, {WORKGROUP}> to memref<16xf32, {WORKGROUP}>
  memref.store %read, %more[%c2] : memref<16xf32, {WORKGROUP}>
"""

VECTORS = """
  %c1 = arith.constant 1 : index
  %v = vector.broadcast %s : f32 to vector<4x4xf32>
  %line = vector.extract %v[1] : vector<4xf32> from vector<4x4xf32>
  %w = vector.broadcast %line : vector<4xf32> to vector<4x4xf32>
  %e = vector.extract %w[1, 2] : f32 from vector<4x4xf32>
  %d = vector.extract %line[%n] : f32 from vector<4xf32>
  %i = vector.insert %e, %w[0, 3] : f32 into vector<4x4xf32>
  %r = vector.insert %line, %i[2] : vector<4xf32> into vector<4x4xf32>
  %part = "vector.extract_strided_slice"(%r) <{offsets = [1 : i64, 2 : i64], sizes = [2 : i64, 2 : i64],
    strides = [1 : i64, 1 : i64]}> : (vector<4x4xf32>) -> vector<2x2xf32>
  %put = "vector.insert_strided_slice"(%part, %w) <{offsets = [0 : i64, 1 : i64],
    strides = [1 : i64, 1 : i64]}> : (vector<2x2xf32>, vector<4x4xf32>) -> vector<4x4xf32>
  %flat = "vector.shape_cast"(%put) : (vector<4x4xf32>) -> vector<16xf32>
  %turned = "vector.transpose"(%put) <{permutation = array<i64: 1, 0>}>
    : (vector<4x4xf32>) -> vector<4x4xf32>
  %made = "vector.from_elements"(%s, %e) : (f32, f32) -> vector<2xf32>
  %m0, %m1 = "vector.to_elements"(%made) : (vector<2xf32>) -> (f32, f32)
  %swapped = vector.shuffle %made, %line [1, 0, 5] : vector<2xf32>, vector<4xf32>
  %bits = vector.bitcast %line : vector<4xf32> to vector<4xi32>
  %halves = vector.bitcast %line : vector<4xf32> to vector<8xf16>
  %f = vector.fma %line, %line, %line : vector<4xf32>
  %o = "vector.outerproduct"(%line, %f, %turned) <{kind = #vector.kind<add>}> {phobos.order = "snake"}
    : (vector<4xf32>, vector<4xf32>, vector<4x4xf32>) -> vector<4x4xf32>
  %p = "vector.outerproduct"(%line, %f) <{kind = #vector.kind<add>}>
    : (vector<4xf32>, vector<4xf32>) -> vector<4x4xf32>
  %sum = vector.reduction <add>, %flat : vector<16xf32> into f32
  %big = vector.reduction <maximumf>, %flat, %s : vector<16xf32> into f32
  %rows = "vector.multi_reduction"(%o, %line) <{kind = #vector.kind<add>,
    reduction_dims = array<i64: 1>}> : (vector<4x4xf32>, vector<4xf32>) -> vector<4xf32>
  %all = "vector.multi_reduction"(%p, %s) <{kind = #vector.kind<minimumf>,
    reduction_dims = array<i64: 0, 1>}> : (vector<4x4xf32>, f32) -> f32
  %ints = arith.constant dense<[1, 2, 3, 4]> : vector<4xi32>
  %total = vector.reduction <add>, %ints : vector<4xi32> into i32
  %places = arith.constant dense<[0, 8, 16, 24]> : vector<4xindex>
  %shift = vector.broadcast %n : index to vector<4xindex>
  %moved = arith.addi %places, %shift : vector<4xindex>
  vector.store %flat, %A[%n] {alignment = 16 : i64} : memref<?xf32>, vector<16xf32>
"""

CONTROL = f"""
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %zero = arith.constant 0.0 : f32
  %go = arith.cmpi slt, %c1, %n : index
  %picked = scf.if %go -> (f32) {{
    %x = memref.load %A[%n] : memref<?xf32>
    scf.yield %x : f32
  }} else {{
    scf.yield %zero : f32
  }}
  scf.if %go {{
    memref.store %picked, %A[%n] : memref<?xf32>
  }}
  %a, %b = scf.for %k = %c0 to %n step %c4 iter_args(%x = %picked, %y = %zero) -> (f32, f32) {{
    "gpu.barrier"() : () -> ()
    scf.yield %y, %x : f32, f32
  }}
  memref.store %a, %A[%c0] : memref<?xf32>
  %w = "scf.while"(%c0) ({{
  ^bb0(%i: index):
    %more = arith.cmpi slt, %i, %n : index
    "scf.condition"(%more, %i) : (i1, index) -> ()
  }}, {{
  ^bb1(%j: index):
    %next = arith.addi %j, %c4 : index
    "scf.yield"(%next) : (index) -> ()
  }}) : (index) -> index
  %smem = memref.get_global @smem : memref<4096xi8, {WORKGROUP}>
  %tile = memref.view %smem[%c0][] : memref<4096xi8, {WORKGROUP}> to memref<32x8xf32, {WORKGROUP}>
  scf.if %go {{
    %at = arith.addi %n, %c1 : index
    %t = "nvgpu.device_async_copy"(%tile, %c1, %c4, %A, %at)
      <{{dstElements = 4 : index, bypassL1, operandSegmentSizes = array<i32: 1, 2, 1, 1, 0>}}>
      : (memref<32x8xf32, {WORKGROUP}>, index, index, memref<?xf32>, index) -> !nvgpu.device.async.token
    %u = "nvgpu.device_async_copy"(%tile, %c1, %c0, %A, %at, %c1)
      <{{dstElements = 1 : index, operandSegmentSizes = array<i32: 1, 2, 1, 1, 1>}}>
      : (memref<32x8xf32, {WORKGROUP}>, index, index, memref<?xf32>, index, index)
        -> !nvgpu.device.async.token
  }}
  %t2 = "nvgpu.device_async_copy"(%tile, %c1, %c4, %A, %n, %c1)
    <{{dstElements = 4 : index, operandSegmentSizes = array<i32: 1, 2, 1, 1, 1>}}>
    : (memref<32x8xf32, {WORKGROUP}>, index, index, memref<?xf32>, index, index)
      -> !nvgpu.device.async.token
  %g = "nvgpu.device_async_create_group"() : () -> !nvgpu.device.async.token
  "nvgpu.device_async_wait"(%g) <{{numGroups = 0 : i32}}> : (!nvgpu.device.async.token) -> ()
"""

GPU = """
  %lane = "gpu.lane_id"() : () -> index
  %warp = "gpu.subgroup_size"() : () -> index
  %t = "gpu.thread_id"() <{dimension = #gpu<dim y>}> : () -> index
  %b = "gpu.block_id"() <{dimension = #gpu<dim z>}> : () -> index
  %d = "gpu.block_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %g = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index
  %o = arith.constant 1 : i32
  %w = arith.constant 32 : i32
  "gpu.printf"(%f32, %i64, %lane, %f16, %flag)
    <{format = "a \\22quoted\\22 %f %lld %lld %f %d 100%%\\0A"}>
    : (f32, i64, index, f16, i1) -> ()
  scf.if %flag {
    "llvm.intr.trap"() : () -> ()
  }
"""

SHUFFLES = "\n".join(
    f'%r{m}{t}, %p{m}{t} = "gpu.shuffle"(%{t}, %o, %w) <{{mode = #gpu<shuffle_mode {m}>}}>'
    f" : ({t}, i32, i32) -> ({t}, i1)\n"
    f"%k{m}{t} = arith.select %p{m}{t}, %r{m}{t}, %{t} : {t}"
    for m in ("xor", "up", "down", "idx")
    for t in ("f16", "bf16", "f32", "f64", "i8", "i32", "i64")
)

KINDS = {
    "float": ("addf", "assign", "maximumf", "minimumf"),
    "integer": ("addi", "assign", "maxs", "maxu", "mins", "minu", "ori", "andi", "xori"),
}


def _atomics(type: str) -> str:
    kinds = KINDS["integer" if type.startswith("i") else "float"]
    lines = ["%c0 = arith.constant 0 : index"]
    for name in kinds:
        number = AtomicKind[name.upper()].value
        if name == "assign" and type in ("f16", "bf16"):
            continue
        call = f'"memref.atomic_rmw"(%v, %A, %c0) <{{kind = {number} : i64}}>'
        lines.append(f"%{name} = {call} : ({type}, memref<?x{type}>, index) -> {type}")
        lines.append(f"memref.store %{name}, %A[%c0] : memref<?x{type}>")
        lines.append(f"%{name}_unused = {call} : ({type}, memref<?x{type}>, index) -> {type}")
    equal = (
        f"arith.cmpi eq, %o, %v : {type}" if type.startswith("i") else f"arith.cmpf oeq, %o, %v : {type}"
    )
    lines.append(
        f'%swap = "memref.generic_atomic_rmw"(%A, %c0) ({{\n^bb0(%o: {type}):\n%q = {equal}\n'
        f"%s = arith.select %q, %v, %o : {type}\n"
        f'"memref.atomic_yield"(%s) : ({type}) -> ()\n}}) : (memref<?x{type}>, index) -> {type}'
    )
    lines.append(f"memref.store %swap, %A[%c0] : memref<?x{type}>")
    return "\n".join(lines)


def _mma(shape: tuple[int, int, int], types: tuple[str, str], lanes: tuple[str, str, str]) -> str:
    a, b, c = lanes
    dims = ", ".join(f"{n} : i64" for n in shape)
    vectors = (f"vector<{a}x{types[0]}>", f"vector<{b}x{types[0]}>", f"vector<{c}x{types[1]}>")
    zero = "0" if types[0].startswith("i") else "0.0"
    acc = "0" if types[1].startswith("i") else "0.0"
    return f"""
      %a = arith.constant dense<{zero}> : {vectors[0]}
      %b = arith.constant dense<{zero}> : {vectors[1]}
      %c = arith.constant dense<{acc}> : {vectors[2]}
      %d = "nvgpu.mma.sync"(%a, %b, %c) <{{mmaShape = [{dims}]}}>
        : ({", ".join(vectors)}) -> {vectors[2]}
    """


LDMATRIX = f"""
  %c0 = arith.constant 0 : index
  %smem = memref.get_global @smem : memref<4096xi8, {WORKGROUP}>
  %tile = memref.view %smem[%c0][] : memref<4096xi8, {WORKGROUP}> to memref<32x64xf16, {WORKGROUP}>
""" + "\n".join(
    f'%x{k} = "nvgpu.ldmatrix"(%tile, %c0, %c0) <{{transpose = {t}, numTiles = {n} : i32}}>'
    f" : (memref<32x64xf16, {WORKGROUP}>, index, index) -> vector<{n}x2xf16>"
    for k, (n, t) in enumerate((n, t) for n in (1, 2, 4) for t in ("true", "false"))
)

BODIES = {
    **{f"integers {t}": (f"%a: {t}, %b: {t}", _integers(t)) for t in INTEGERS},
    **{
        f"vectors of {t}": (f"%a: vector<4x{t}>, %b: vector<4x{t}>", _integers(f"vector<4x{t}>"))
        for t in INTEGERS
    },
    **{
        f"long vectors of {t}": (
            f"%a: vector<4x8x{t}>, %b: vector<4x8x{t}>",
            _floats(f"vector<4x8x{t}>"),
        )
        for t in FLOATS
    },
    **{f"floats {t}": (f"%a: {t}, %b: {t}", _floats(t)) for t in FLOATS},
    "casts": (SCALARS, _casts()),
    "memory": ("%A: memref<?xf32>, %B: memref<?xf32>, %n: index", MEMORY),
    "vectors": ("%A: memref<?xf32>, %s: f32, %n: index", VECTORS),
    "control": ("%A: memref<?xf32>, %n: index", CONTROL),
    "gpu": (SCALARS, GPU + SHUFFLES),
    **{f"atomics {t}": (f"%A: memref<?x{t}>, %v: {t}", _atomics(t)) for t in (*FLOATS, "i32", "i64")},
    "ldmatrix": ("", LDMATRIX),
    "mma f16 k8": ("", _mma((16, 8, 8), ("f16", "f32"), ("2x2", "1x2", "2x2"))),
    "mma f16 k16": ("", _mma((16, 8, 16), ("f16", "f32"), ("4x2", "2x2", "2x2"))),
    "mma f16 sums": ("", _mma((16, 8, 16), ("f16", "f16"), ("4x2", "2x2", "2x2"))),
    "mma bf16": ("", _mma((16, 8, 16), ("bf16", "f32"), ("4x2", "2x2", "2x2"))),
    "mma i8": ("", _mma((16, 8, 32), ("i8", "i32"), ("4x4", "2x4", "2x2"))),
}
"""Small kernels that together use every row: arguments and body."""

AMPERE_ONLY = ("mma f16 k16", "mma f16 sums", "mma bf16", "mma i8")
"""Bodies with instructions that sm_75 has not."""


@pytest.mark.nvrtc
@pytest.mark.parametrize("name", BODIES)
def test_nvrtc_takes_every_row_for_every_target(module, name):
    """The text of each small kernel compiles to a cubin for all seven targets, without a header."""
    arguments, body = BODIES[name]
    made = module(arguments, body)
    made.verify()
    jobs = []
    for chip in target.names():
        if name in AMPERE_ONLY and chip == "sm_75":
            continue
        cuda = emit(made, target.get(chip))
        assert "#include" not in cuda.text
        jobs.append(nvrtc.Job(cuda.text, target.get(chip).nvrtc_arch))
    for result in nvrtc.compile_all(jobs, workers=2):
        assert isinstance(result, nvrtc.NvrtcResult), str(result)


@pytest.mark.parametrize("name", AMPERE_ONLY)
def test_a_target_without_the_instruction_says_so(module, name):
    """The lowering never asks for it; if it does, the fault names the target and the feature."""
    with pytest.raises(TypeError, match=r"sm_75 has no mma"):
        emit(module(*BODIES[name]), target.get("sm_75"))


def test_every_row_is_in_a_body(module):
    """A row that no small kernel uses is a row that nobody has compiled."""
    used = {op.name for arguments, body in BODIES.values() for op in module(arguments, body).walk()}
    used |= test_tensor_core_rows.operations()
    used |= test_bulk_rows.operations()
    assert sorted(set(ROWS) - used) == ["memref.assume_alignment", "memref.memory_space_cast"]


THREAD_DIALECTS = ("arith", "math", "memref", "vector", "gpu", "nvgpu", "scf")

WITHOUT_ROW = {
    # They hide the accumulator: generated code has `phobos.wgmma` instead.
    *("nvgpu.warpgroup.generate.descriptor", "nvgpu.warpgroup.mma", "nvgpu.warpgroup.mma.store"),
    "nvgpu.warpgroup.mma.init.accumulator",
    # No lowering makes them.
    "memref.atomic_yield",  # part of the row of `memref.generic_atomic_rmw`
    *("arith.addui_extended", "arith.mului_extended", "arith.mulsi_extended"),
    *("math.fpowi", "math.ipowi"),
    *("memref.alloc", "memref.dealloc", "memref.alloca_scope", "memref.alloca_scope.return"),
    *("memref.copy", "memref.collapse_shape", "memref.expand_shape", "memref.rank"),
    *("memref.extract_strided_metadata", "memref.extract_aligned_pointer_as_index"),
    *("memref.dma_start", "memref.dma_wait"),
    *("vector.print", "vector.transfer_read", "vector.transfer_write"),
    *("gpu.alloc", "gpu.all_reduce", "gpu.dealloc", "gpu.global_id", "gpu.host_register"),
    *("gpu.host_unregister", "gpu.launch", "gpu.launch_func", "gpu.memcpy", "gpu.num_subgroups"),
    *("gpu.set_default_device", "gpu.subgroup_id", "gpu.terminator", "gpu.wait", "gpu.yield"),
    *("scf.execute_region", "scf.parallel", "scf.reduce", "scf.reduce.return", "scf.index_switch"),
    # Printed by the operation that holds them.
    *("gpu.module", "gpu.func", "gpu.return", "memref.global", "scf.yield", "scf.condition"),
    # What operations of our own become for upstream, and the host's.
    "nvgpu.mbarrier.get",
    "nvgpu.tma.create.descriptor",
}
"""Operations of the thread-level dialects that have no row, and why."""


def test_every_thread_level_operation_has_a_row():
    """The difference between the dialects and the table is exactly the list above."""
    known = {op.name for d in DIALECTS if d.name in THREAD_DIALECTS for op in d.operations}
    missing, unknown = known - set(ROWS) - WITHOUT_ROW, WITHOUT_ROW - known
    assert (sorted(missing), sorted(unknown)) == ([], [])


def test_an_operation_without_a_row_is_named(module):
    """A fault of the lowering, told as such."""
    with pytest.raises(NotImplementedError, match=r"no CUDA row for the operation gpu\.global_id"):
        emit(
            module("", '%x = "gpu.global_id"() <{dimension = #gpu<dim x>}> : () -> index'),
            target.default(),
        )
