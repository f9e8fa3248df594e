"""One thread-level module to one CUDA C++ translation unit."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from xdsl.dialects.builtin import IndexType, ModuleOp
from xdsl.ir import Block, Operation, SSAValue

from phobos_nb.cuda.emit.emitter import Emitter, Memory, Spelled
from phobos_nb.cuda.emit.names import RESERVED, identifier
from phobos_nb.cuda.emit.prelude import prelude
from phobos_nb.cuda.emit.source import CudaSource, Line, with_directives
from phobos_nb.cuda.output_form import HEAD, RECORDS, SYMBOL
from phobos_nb.cuda.ranges import Ranges
from phobos_nb.cuda.reading import bounds, integer, integers, is_memref, text
from phobos_nb.cuda.written import written
from phobos_nb.ir.dialects.nvgpu import TensorMapType
from phobos_nb.target import Target


def emit(module: ModuleOp, target: Target) -> CudaSource:
    """Print the one `gpu.func` of a thread-level module as CUDA C++ for a target.

    Raises NotImplementedError naming the operation where a row is missing, TypeError naming the
    feature where the target cannot do it; both are faults of the lowering, not of the user.
    """
    function = _function(module)
    block = function.regions[0].block
    names = [argument.name_hint or f"arg{k}" for k, argument in enumerate(block.args)]
    ranges = Ranges(
        function.regions[0],
        index_bits=integer(function.attributes.get("phobos.index_bits"), 64),
        threads=integer(function.attributes.get("phobos.threads"), target.threads_per_cta),
        names=names,
        assumes=_assumes(function),
    )
    e = Emitter(target, ranges, written(function.regions[0]))
    e.outputs, e.output_words = _outputs(function)
    head = _signature(e, block)
    e.block(block)
    return _assemble(e, function, head, target)


def entry_name(symbol: str) -> str:
    """The extern "C" name of a kernel: its own, made legal in C++."""
    name = identifier(symbol)
    return f"{name}_kernel" if name in RESERVED else name


def _function(module: ModuleOp) -> Operation:
    found = [op for op in module.walk() if op.name == "gpu.func"]
    if len(found) != 1:
        raise ValueError(f"a thread-level module has one gpu.func, found {len(found)}")
    return found[0]


def _assumes(function: Operation) -> Mapping[str, int]:
    return bounds(function.attributes.get("phobos.assumes"))


def _signature(e: Emitter, block: Block) -> list[tuple[str, str]]:
    """Type and name of every parameter; a proven narrow index is narrowed at once."""
    parameters: list[tuple[str, str]] = []
    for argument in block.args:
        name = e.names.fresh(argument.name_hint)
        ctype = "" if isinstance(argument.type, TensorMapType) else e.ctype(argument)
        if isinstance(argument.type, TensorMapType):
            parameters.append(("const __grid_constant__ tensor_map", name))
            e.bind(argument, Spelled(name, "tensor_map"))
        elif is_memref(argument):
            parameters.append((f"{ctype} __restrict__", name))
            e.bind(argument, Spelled(name, ctype, memory=_argument_memory(argument)))
        elif isinstance(argument.type, IndexType) and ctype != e.element_ctype(argument.type):
            wide = e.element_ctype(argument.type)
            passed = e.names.fresh(f"{name}_wide")
            parameters.append((f"const {wide}", passed))
            e.line(f"const {ctype} {name} = ({ctype}){passed};")
            e.bind(argument, Spelled(name, ctype))
        else:
            parameters.append((f"const {ctype}", name))
            e.bind(argument, Spelled(name, ctype))
    return parameters


def _outputs(function: Operation) -> tuple[dict[Operation, int], int]:
    """The places that write records, numbered in order, and the words of the longest record."""
    places = [op for op in function.walk() if op.name == "gpu.printf" and "phobos.text" in op.attributes]
    words = HEAD + max((len(op.operands) for op in places), default=0)
    return {op: k for k, op in enumerate(places)}, words


def _output_buffer(e: Emitter) -> list[Line]:
    """The module's buffer of records, see Note [Device output]."""
    if not e.outputs:
        return []
    size = 1 + (RECORDS + 1) * e.output_words
    return [Line(f'extern "C" __device__ unsigned long long {SYMBOL}[{size}];')]


def _argument_memory(argument: SSAValue) -> Memory:
    """Tensors come as rank-1 memrefs, addressed by linear element offsets."""
    assert is_memref(argument)
    return Memory((1,))


def _assemble(
    e: Emitter, function: Operation, parameters: list[tuple[str, str]], target: Target
) -> CudaSource:
    entry = entry_name(text(function.attributes.get("sym_name") or function.properties.get("sym_name")))
    threads = integer(function.attributes.get("phobos.threads"), target.threads_per_cta)
    blocks = integer(function.attributes.get("phobos.min_blocks"), 1)
    registers = integer(function.attributes.get("phobos.max_registers"))
    bounded = f"__launch_bounds__({threads}, {max(blocks, 1)})"
    if registers:  # the two cannot stand on one kernel
        bounded = f"__maxnreg__({registers})"
    arguments = ", ".join(f"{ctype} {name}" for ctype, name in parameters)
    shape = integers(function.attributes.get("phobos.cluster"))
    if shape:
        if not target.has("cluster"):
            raise TypeError(f"{target.name} has no cluster")
        bounded = f"__cluster_dims__({', '.join(map(str, shape))}) {bounded}"
    opening = [
        f'extern "C" __global__ void {bounded}',
        f"{entry}({arguments})",
        "{",
        *_shared(e, shared_bytes(function)),
    ]
    code = [*(Line(x) for x in opening), *e.lines, Line("}")]
    body = "\n".join(line.text for line in code)
    above = [*(Line(x) for x in prelude(e.helpers, body, target)), *_output_buffer(e)]
    lines = (*above, *code)
    dynamic = shared_bytes(function) if e.dynamic else 0
    static = sum(size for _, size in e.buffers.values())
    if not e.dynamic:
        static += BARRIER * sum(e.barriers.values())
    return CudaSource(
        text=with_directives(lines),
        lines=lines,
        entry=entry,
        parameters=tuple(ctype for ctype, _ in parameters),
        target=target.name,
        threads=threads,
        min_blocks=blocks,
        registers=registers,
        static_shared=static,
        dynamic_shared=dynamic,
    )


def shared_bytes(function: Operation) -> int:
    """The bytes of shared memory that a kernel was planned with."""
    return integer(function.attributes.get("phobos.shared_bytes"))


def _shared(e: Emitter, planned: int) -> Iterator[str]:
    for name, size in e.buffers.values():
        yield f"  __shared__ __align__({e.shared_alignment}) unsigned char {name}[{size}];"
    if e.dynamic:
        yield f"  extern __shared__ __align__({e.shared_alignment}) unsigned char {e.dynamic}[];"
    at = planned - BARRIER * sum(e.barriers.values())
    for name, number in e.barriers.items():
        if e.dynamic:
            yield f"  {STATE}* const {name} = reinterpret_cast<{STATE}*>({e.dynamic} + {at});"
            at += BARRIER * number
        else:
            yield f"  __shared__ __align__({BARRIER}) {STATE} {name}[{number}];"


BARRIER, STATE = 8, "unsigned long long"
"""Bytes and type of a memory barrier."""
